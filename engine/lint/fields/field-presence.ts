/** Finds the fields of a payload that mappings read, and which of them a payload has. */

import { anyStep } from '../../compile/template/reference.ts'
import type { MappingEntry } from '../../config/configuration.ts'
import { readClauses } from '../implication.ts'
import { mappingReferences } from './mapping-references.ts'

export interface FieldPresence {
  /** The fields that mappings name, each once. `mapping` is the first one that reads it, and `path` is as an author writes it. */
  readonly fields: readonly { readonly mapping: string; readonly path: string }[]
  /** Returns for each field whether the payload has it. `undefined`: it ends before the field, at a null or something empty. */
  of(payload: unknown): readonly (boolean | undefined)[]
}

/** The most fields of one endpoint that are looked for. */
const maxFields = 50
/** The most values of one payload that are visited for one field, and the most elements of one list. */
const maxVisited = 200
const maxElements = 20

/** Reads the mappings once; asking for a payload then takes bounded time, whatever the payload holds. */
export function compileFieldPresence(entries: readonly MappingEntry[]): FieldPresence {
  const fields = new Map<string, { mapping: string; path: string; steps: readonly string[] }>()
  for (const entry of entries) {
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
    of: (payload) => all.map(({ steps }) => isPresent(payload, steps, { left: maxVisited })),
  }
}

function isPresent(
  value: unknown,
  [step, ...rest]: readonly string[],
  visits: { left: number },
): boolean | undefined {
  if (step === undefined) return value !== undefined
  visits.left -= 1
  if (value === null || visits.left < 0) return undefined
  // `name[0]` is an initial.
  if (typeof value === 'string' && /^\d+$/.test(step)) return true
  if (typeof value !== 'object') return false
  if (Array.isArray(value)) {
    const below = step === anyStep || /^\d+$/.test(step) ? rest : [step, ...rest]
    return inAny(value.slice(0, maxElements), below, visits)
  }
  if (step === anyStep) return inAny(someValues(value), rest, visits)
  if (Object.hasOwn(value, step))
    return isPresent((value as Readonly<Record<string, unknown>>)[step], rest, visits)
  return someValues(value).length === 0 ? undefined : false
}

function inAny(
  values: readonly unknown[],
  steps: readonly string[],
  visits: { left: number },
): boolean | undefined {
  let result: boolean | undefined = values.length === 0 ? undefined : false
  for (const value of values) {
    const isThere = isPresent(value, steps, visits)
    if (isThere) return true
    if (isThere === undefined) result = undefined
  }
  return result
}

function someValues(value: object): readonly unknown[] {
  const values: unknown[] = []
  for (const key in value) {
    if (values.push((value as Readonly<Record<string, unknown>>)[key]) === maxElements) break
  }
  return values
}
