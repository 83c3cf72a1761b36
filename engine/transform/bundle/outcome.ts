/** Owns what is asked of the bundling of one module, and what comes of it; plain data, since it crosses a thread. */

import type { Diagnostic } from '../../config/diagnostic/diagnostic.ts'

export interface BundleOrder {
  /** As the configuration names it. */
  readonly module: string
  /** Its file, links resolved; absolute. */
  readonly entry: string
  /** The exports that mappings name; a CommonJS module must be asked for them one by one. */
  readonly exports: readonly string[]
  /** `transformsDir`, links resolved. */
  readonly root: string
  /** The configuration's folder, that hints name folders from. */
  readonly shownFrom: string
  /** Where bundles go; exists. */
  readonly folder: string
}

export type BundleOutcome = BundledModule | FailedModule

export interface BundledModule {
  readonly ok: true
  /** As of a `Bundle`. */
  readonly digest: string
  /** Half-done files, to be renamed to what the digest calls them. */
  readonly code: WrittenFile
  readonly map: WrittenFile
  /** SHA-256 in hex of each file that had a say, by its absolute path. */
  readonly files: Readonly<Record<string, string>>
  readonly places: Places
  readonly isCommonJs: boolean
  readonly warnings: readonly Diagnostic[]
}

export interface WrittenFile {
  readonly file: string
  /** SHA-256 in hex of its content. */
  readonly hash: string
}

export interface FailedModule {
  readonly ok: false
  readonly diagnostics: readonly Diagnostic[]
  /** Whose change may mend it, existing or not. */
  readonly watched: readonly string[]
}

/**
 * Paths that were asked on the way to an import, and where each leads: to a file or folder with its links resolved, or
 * to nothing. Whatever of it changes may lead the import somewhere else.
 */
export type Places = Readonly<Record<string, string | null>>
