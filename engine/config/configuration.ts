/** Owns the loaded configuration: valid, with every entry's place, ready to compile. */

import type { Diagnostic, Place } from './diagnostic.ts'
import type { Settings } from './settings.ts'

export interface Configuration {
  readonly settings: Settings
  /** In matching order: the configuration's own, then the files of `mappingsDir` by relative path. */
  readonly mappings: readonly MappingEntry[]
  /** Policies by endpoint name, as the texts of `match.path`. */
  readonly endpoints: Readonly<Record<string, EndpointPolicy>>
  /** SHA-256 in hex over the content of every file and environment value that had a say. */
  readonly digest: string
  /** Files and folders whose change may change the configuration; absolute. */
  readonly watched: readonly string[]
  readonly warnings: readonly Diagnostic[]
  /** The place of a key of the configuration file by its path (`['channels', 'slack']`), or of the nearest above it. */
  locate(path: readonly (string | number)[]): Place
}

export interface EndpointPolicy {
  readonly maxBodyBytes?: number
}

/** A mapping as written, its shape checked, its places known. */
export interface MappingEntry {
  readonly id: string
  readonly value: MappingSource
  /**
   * The place of a field by its path from the entry (`['match', 'when']`); of the entry for `[]`. With `offset`,
   * the place of that character of the field's text, from 0 in UTF-16 units.
   */
  locate(path: readonly (string | number)[], offset?: number): Place
  /** Relative to the configuration's folder, `file:line:column` of the entry. */
  readonly label: string
}

/** The fields of design 4.1 that this version knows. Aliases (`messageTemplate`, `textTemplate`) are already folded. */
export interface MappingSource {
  readonly description?: string
  readonly match?: {
    readonly path?: string
    readonly source?: string
    readonly headers?: Readonly<Record<string, string | readonly string[]>>
    readonly when?: string
  }
  readonly action: 'wake' | 'agent'
  readonly text?: string
  readonly mode?: string
  readonly message?: string
  readonly name?: string
  readonly sessionKey?: string
  readonly wakeMode?: string
  readonly deliver?: boolean | string
  readonly channel?: string
  readonly to?: string
  readonly model?: string
  readonly thinking?: string
  readonly timeoutSeconds?: number | string
  readonly runner?: string
  readonly allowPayloadRouting?: boolean
  readonly allowUnsafeExternalContent?: boolean
}

/** What loading answers: a configuration, or why there is none. */
export type Loaded =
  | { readonly ok: true; readonly configuration: Configuration }
  | {
      readonly ok: false
      /** Errors first, then warnings. */
      readonly diagnostics: readonly Diagnostic[]
      readonly watched: readonly string[]
      /** Over what could be read. */
      readonly digest: string
    }
