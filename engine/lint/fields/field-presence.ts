/** Finds the fields of a payload that mappings read, and which of them a payload has. */

import { anyStep } from '../../compile/template/reference.ts'
import type { MappingEntry } from '../../config/configuration.ts'
import { yieldToEventLoop } from '../../yield.ts'
import { readClauses } from '../implication.ts'
import { follow } from './known-fields.ts'
import { mappingReferences } from './mapping-references.ts'

export interface FieldPresence {
  /** The fields that mappings name, each once. `mapping` is the first one that reads it, and `path` is as an author writes it. */
  readonly fields: readonly { readonly mapping: string; readonly path: string }[]
  /** Returns for each field whether the payload has it. `undefined`: it ends before the field, at a null or something empty. */
  presentIn(payload: unknown): readonly (boolean | undefined)[]
}

/** Maximum number of fields searched for per endpoint. */
const maxFields = 50
/** Maximum number of elements inspected per list, and of values visited per step. */
const limits = { maxElements: 20, maxVisited: 200 }

/**
 * Reads the mappings once, one in each iteration of the event loop, because a request is under way. Asking for a payload then takes
 * bounded time, whatever the payload holds.
 */
export async function compileFieldPresence(entries: readonly MappingEntry[]): Promise<FieldPresence> {
  const fields = new Map<string, { mapping: string; path: string; steps: readonly string[] }>()
  for (const entry of entries) {
    if (fields.size >= maxFields) break
    await yieldToEventLoop()
    for (const { root, steps } of mappingReferences(entry, readClauses(entry.value.match))) {
      const own = steps.at(-1) === 'length' ? steps.slice(0, -1) : steps
      const path = own.filter((step) => step !== anyStep).join('.')
      if (root !== 'payload' || path === '' || fields.has(path) || fields.size >= maxFields) continue
      fields.set(path, { mapping: entry.id, path, steps: own })
    }
  }
  const all = [...fields.values()]
  return {
    fields: all.map(({ mapping, path }) => ({ mapping, path })),
    presentIn: (payload) => all.map(({ steps }) => isPresent(payload, steps)),
  }
}

function isPresent(payload: unknown, steps: readonly string[]): boolean | undefined {
  const { values, isUnsure } = follow([payload], steps, limits)
  return values.length > 0 || (isUnsure ? undefined : false)
}
