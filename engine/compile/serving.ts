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
  readonly program: Program
  readonly summary: MappingSummary
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
  const found: Found[] = []
  const report = createReport(found)
  for (const entry of entries) {
    const { value } = entry
    const before = memory.get(value) ?? parts.memory.get(value)
    const compiled = before?.compiled ?? compileMapping(value, shared)
    checkMapping(value, compiled, surroundings, report)
    const transform = bindTransform(value.transform, transforms, report)
    for (const each of compiled.found) diagnostics.push(placeFinding(entry, each))
    for (const each of found.splice(0)) diagnostics.push(placeFinding(entry, each))
    const one = before && fits(before, entry, transform) ? before : serve(entry, compiled, transform)
    memory.set(value, one)
    serving.push(one)
    yield
  }
  return { serving, memory }
}

function fits({ program }: Serving, { id, label }: MappingEntry, transform: Program['transform']): boolean {
  return program.id === id && program.place === label && program.transform?.call === transform?.call
}

function serve(
  { id, label, value }: MappingEntry,
  compiled: CompiledMapping,
  transform: Program['transform'],
): Serving {
  const { description, match, action } = value
  const summary = { id, description, path: match?.path, action, place: label }
  return {
    compiled,
    program: Object.freeze({ id, place: label, transform, ...compiled.parts }),
    summary: Object.freeze(summary),
  }
}
