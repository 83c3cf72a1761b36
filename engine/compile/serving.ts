/** Owns the mappings that serve, in matching order; of those that served before as they are written now, nothing is compiled. */

import type { MappingEntry, MappingSource } from '../config/configuration.ts'
import type { Diagnostic } from '../config/diagnostic/diagnostic.ts'
import type { Program } from '../resolve/program.ts'
import type { Transforms } from '../transform/port.ts'
import { bindTransform, type CompiledMapping, compileMapping } from './mapping.ts'
import { checkMapping, type Surroundings } from './mapping-check.ts'
import { createReport, type Found, placeFinding } from './report.ts'
import { createSharedParts } from './shared-parts.ts'
import type { Work } from './slices.ts'
import type { MappingSummary } from './snapshot.ts'

/** A mapping, compiled, as it stood when it was asked for last. */
export interface Serving {
  readonly compiled: CompiledMapping
  readonly checked: Checked
  readonly program: Program
  readonly summary: MappingSummary
}

/** What was wrong by these settings. */
interface Checked {
  readonly by: Surroundings
  readonly found: readonly Found[]
}

/** By what was written, which is the same object where nothing was written anew. */
export type ServingMemory = ReadonlyMap<MappingSource, Serving>

interface ServeParts {
  readonly surroundings: Surroundings
  readonly transforms: Transforms
  /** Of the last compilation. */
  readonly memory: ServingMemory
  /** Takes what is wrong with them, remembered or not. */
  readonly diagnostics: Diagnostic[]
}

/** The memory holds what was asked for now, and nothing else. */
export interface Served {
  readonly serving: readonly Serving[]
  readonly memory: ServingMemory
}

/** A pause after each mapping. */
export function* serveMappings(entries: readonly MappingEntry[], parts: ServeParts): Work<Served> {
  const { surroundings, transforms, diagnostics } = parts
  const shared = createSharedParts()
  const memory = new Map<MappingSource, Serving>()
  const serving: Serving[] = []
  for (const entry of entries) {
    const { value } = entry
    const before = memory.get(value) ?? parts.memory.get(value)
    const compiled = before?.compiled ?? compileMapping(value, shared)
    const checked =
      before?.checked.by === surroundings ? before.checked : check(value, compiled, surroundings)
    const { transform, found } = bind(entry, transforms)
    for (const list of [compiled.found, checked.found, found])
      for (const each of list) diagnostics.push(placeFinding(entry, each))
    const isAsBefore = before?.checked === checked && fits(before, entry, transform)
    const one = isAsBefore ? before : serve(entry, { compiled, checked, transform })
    memory.set(value, one)
    serving.push(one)
    yield
  }
  return { serving, memory }
}

function fits({ program }: Serving, { id, label }: MappingEntry, transform: Program['transform']): boolean {
  return program.id === id && program.place === label && program.transform?.call === transform?.call
}

function check(value: MappingSource, compiled: CompiledMapping, by: Surroundings): Checked {
  const found: Found[] = []
  checkMapping(value, compiled, by, createReport(found))
  return { by, found }
}

function bind(entry: MappingEntry, transforms: Transforms) {
  if (entry.value.transform === undefined) return unbound
  const found: Found[] = []
  return { transform: bindTransform(entry, transforms, createReport(found)), found }
}

const unbound: { readonly transform: undefined; readonly found: readonly Found[] } = {
  transform: undefined,
  found: [],
}

function serve(
  { id, label, value }: MappingEntry,
  parts: Pick<Serving, 'compiled' | 'checked'> & Pick<Program, 'transform'>,
): Serving {
  const { compiled, checked, transform } = parts
  const { description, match, action } = value
  const summary = { id, description, path: match?.path, action, place: label }
  return {
    compiled,
    checked,
    program: Object.freeze({ id, place: label, transform, ...compiled.parts }),
    summary: Object.freeze(summary),
  }
}
