/** Owns the findings of one lint: told at their place, in the order of the files. */

import type { MappingEntry } from '../config/configuration.ts'
import type { Diagnostic } from '../config/diagnostic/diagnostic.ts'
import { inFileOrder } from '../config/diagnostic/diagnostic-order.ts'
import type { LintCode } from './codes.ts'

interface Warning {
  readonly code: LintCode
  /** A sentence without its full stop. */
  readonly message: string
  readonly hint: string
  /** Where in the entry; absent: the entry. */
  readonly path?: readonly (string | number)[]
  /** Where in the field's text, from 0 in UTF-16 units. */
  readonly offset?: number
}

export interface Warnings {
  add(entry: MappingEntry, warning: Warning): void
  /** By file in the order of their mappings, each from top to bottom. */
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
