/**
 * Compiles the mappings of a configuration in matching order, and reuses those of the last compilation that have not
 * changed.
 */

import type { MappingEntry, MappingSource } from '../config/configuration.ts'
import type { Diagnostic } from '../config/file/diagnostic.ts'
import type { Program } from '../resolve/model/program.ts'
import type { Transforms } from '../transform/port.ts'
import { backgroundMs, yieldIfDue } from '../yield.ts'
import { createReport, placeFinding, type ReportedFinding } from './fields/report.ts'
import type { CompileContext } from './fields/settings-check.ts'
import { createSharedTexts } from './fields/texts.ts'
import { bindTransform, type CompiledMapping, compileMapping } from './mapping.ts'
import type { MappingSummary } from './snapshot.ts'

/** A compiled mapping, with the id and the place that its entry had last. */
export interface ReadyMapping {
  readonly compiled: CompiledMapping
  readonly program: Program
  readonly summary: MappingSummary
}

/** Mappings by their source object, which is the same as before if the file's text has not changed. */
export type MappingCache = ReadonlyMap<MappingSource, ReadyMapping>

interface CompileMappingsOptions {
  readonly context: CompileContext
  readonly transforms: Transforms
  /** The mappings of the last compilation, which had the same context. */
  readonly cache: MappingCache
  /** Receives the findings about all mappings, cached or not. */
  readonly diagnostics: Diagnostic[]
}

/** The new cache holds the mappings of this compilation alone. */
export interface CompiledMappings {
  readonly mappings: readonly ReadyMapping[]
  readonly cache: MappingCache
}

/** Gives way to requests between two mappings. */
export async function compileMappings(
  entries: readonly MappingEntry[],
  parts: CompileMappingsOptions,
): Promise<CompiledMappings> {
  const { context, transforms, diagnostics } = parts
  const shared = { ...createSharedTexts(), schemas: new Map(), context }
  const cache = new Map<MappingSource, ReadyMapping>()
  const mappings: ReadyMapping[] = []
  for (const entry of entries) {
    await yieldIfDue(backgroundMs)
    const { value, id, label } = entry
    const before = cache.get(value) ?? parts.cache.get(value)
    const compiled = before?.compiled ?? compileMapping(value, shared)
    const findings: ReportedFinding[] = []
    const transform = bindTransform(entry, transforms, createReport(findings))
    for (const each of [...compiled.findings, ...findings]) diagnostics.push(placeFinding(entry, each))
    const isAsBefore =
      before?.program.id === id &&
      before.program.place === label &&
      before.program.transform?.call === transform?.call
    const ready = isAsBefore ? before : createReady(entry, compiled, transform)
    cache.set(value, ready)
    mappings.push(ready)
  }
  return { mappings, cache }
}

let lastNumber = 0

function createReady(
  { id, label, value }: MappingEntry,
  compiled: CompiledMapping,
  transform: Program['transform'],
): ReadyMapping {
  const { description, match, action } = value
  return {
    compiled,
    program: Object.freeze({ number: ++lastNumber, id, place: label, transform, ...compiled.parts }),
    summary: Object.freeze({ id, description, path: match?.path, action, place: label }),
  }
}
