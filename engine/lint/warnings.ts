/** Collects the warnings of lint, each with its place, in the order of the files. */

import type { MappingEntry } from '../config/configuration.ts'
import type { Diagnostic } from '../config/file/diagnostic.ts'
import { inFileOrder } from '../config/file/diagnostics.ts'
import type { lintCodes } from './codes.ts'

export interface Warning {
  readonly code: keyof typeof lintCodes
  /** A sentence without its full stop. */
  readonly message: string
  readonly hint: string
  /** The path in the entry. Absent: the warning is about the entry. */
  readonly path?: readonly (string | number)[]
  /** The offset in the field's text, from 0 in UTF-16 units. */
  readonly offset?: number
}

export interface Warnings {
  add(entry: MappingEntry, warning: Warning): void
  /** Returns them by file in the order of the mappings, each file from top to bottom. */
  diagnostics(): readonly Diagnostic[]
}

export function createWarnings(entries: readonly MappingEntry[]): Warnings {
  const all: Diagnostic[] = []
  const files = entries.map((entry) => entry.locate([]).file)
  return {
    add(entry, { code, message, hint, path = [], offset }) {
      all.push({ severity: 'warning', code, message, place: entry.locate(path, offset), hint })
    },
    diagnostics: () => inFileOrder(all, files),
  }
}
