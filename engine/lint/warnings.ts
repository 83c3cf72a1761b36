/** Collects the warnings of lint, each with its place, in the order of the files. */

import type { MappingEntry } from '../config/configuration.ts'
import type { Diagnostic } from '../config/file/diagnostic.ts'
import { inFileOrder } from '../config/file/diagnostics.ts'

/** The codes are API, because a comment in a mapping file may name one. `UNSAFE_CONTENT` comes from compiling. */
export type LintCode =
  | 'SHADOWED_MAPPING'
  | 'DUPLICATE_MATCH'
  | 'UNKNOWN_FIELD'
  | 'LIST_FIELD'
  | 'OTHER_PAYLOAD'
  | 'CONDITION_VALUE'
  | 'LITERAL_REFERENCE'
  | 'LITERAL_TEXT'
  | 'LITERAL_KEY'
  | 'MISSING_TESTS'
  | 'UNSAFE_CONTENT'
  | 'SHARED_SESSION'
  | 'SHARED_DEDUPE_KEY'
  | 'DEAD_COALESCE'
  | 'UNUSED_ELEMENT'
  | 'UNFILTERED_ELEMENTS'

interface Warning {
  readonly code: LintCode
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
