/**
 * Compiles the mappings of a configuration in matching order, and reuses those of the last compilation that have not
 * changed.
 */

import type { MappingEntry, MappingSource } from '../config/configuration.ts'
import type { Diagnostic } from '../config/file/diagnostic.ts'
import type { Program } from '../resolve/model/program.ts'
import type { Transforms } from '../transform/port.ts'
import type { Work } from '../yield.ts'
import { createReport, placeFinding, type ReportedFinding } from './fields/report.ts'
import { createSharedParts } from './fields/shared-parts.ts'
import { bindTransform, type CompiledMapping, compileMapping } from './mapping.ts'
import { type CompileContext, checkMapping } from './mapping-check.ts'
import type { MappingSummary } from './snapshot.ts'

/** A compiled mapping, with the id and the place that its entry had last. */
export interface ReadyMapping {
  readonly compiled: CompiledMapping
  readonly checked: Checked
  readonly program: Program
  readonly summary: MappingSummary
}

/** The findings about a mapping under these settings. */
interface Checked {
  readonly context: CompileContext
  readonly findings: readonly ReportedFinding[]
}

/** Mappings by their source object, which is the same as before if the file's text has not changed. */
export type MappingCache = ReadonlyMap<MappingSource, ReadyMapping>

interface CompileMappingsOptions {
  readonly context: CompileContext
  readonly transforms: Transforms
  /** The mappings of the last compilation. */
  readonly cache: MappingCache
  /** Receives the findings about all mappings, cached or not. */
  readonly diagnostics: Diagnostic[]
}

/** The new cache holds the mappings of this compilation alone. */
export interface CompiledMappings {
  readonly mappings: readonly ReadyMapping[]
  readonly cache: MappingCache
}

/**
 * How many templates of a reload get their code before it is swapped in, so that the first request after it takes no
 * longer than others. Each takes about 2 ms.
 */
const maxWarmTemplates = 20

/** Pauses after each mapping. */
export function* compileMappings(
  entries: readonly MappingEntry[],
  parts: CompileMappingsOptions,
): Work<CompiledMappings> {
  const { context, transforms, diagnostics } = parts
  let warmLeft = parts.cache.size > 0 ? maxWarmTemplates : 0
  const shared = createSharedParts({ isWarm: () => warmLeft-- > 0 })
  const cache = new Map<MappingSource, ReadyMapping>()
  const mappings: ReadyMapping[] = []
  for (const entry of entries) {
    const { value } = entry
    const before = cache.get(value) ?? parts.cache.get(value)
    const compiled = before?.compiled ?? compileMapping(value, shared)
    const checked = before?.checked.context === context ? before.checked : check(value, compiled, context)
    const { transform, findings } = bind(entry, transforms)
    for (const list of [compiled.findings, checked.findings, findings])
      for (const each of list) diagnostics.push(placeFinding(entry, each))
    const isAsBefore = before?.checked === checked && isSameEntry(before, entry, transform)
    const one = isAsBefore ? before : createReady(entry, { compiled, checked, transform })
    cache.set(value, one)
    mappings.push(one)
    yield
  }
  return { mappings, cache }
}

function isSameEntry(
  { program }: ReadyMapping,
  { id, label }: MappingEntry,
  transform: Program['transform'],
): boolean {
  return program.id === id && program.place === label && program.transform?.call === transform?.call
}

function check(value: MappingSource, compiled: CompiledMapping, context: CompileContext): Checked {
  const findings: ReportedFinding[] = []
  checkMapping(value, compiled, context, createReport(findings))
  return { context, findings }
}

function bind(entry: MappingEntry, transforms: Transforms) {
  if (entry.value.transform === undefined) return unbound
  const findings: ReportedFinding[] = []
  return { transform: bindTransform(entry, transforms, createReport(findings)), findings }
}

const unbound: { readonly transform: undefined; readonly findings: readonly ReportedFinding[] } = {
  transform: undefined,
  findings: [],
}

let lastNumber = 0

function createReady(
  { id, label, value }: MappingEntry,
  parts: Pick<ReadyMapping, 'compiled' | 'checked'> & Pick<Program, 'transform'>,
): ReadyMapping {
  const { compiled, checked, transform } = parts
  const { description, match, action } = value
  const summary = { id, description, path: match?.path, action, place: label }
  return {
    compiled,
    checked,
    program: Object.freeze({ number: ++lastNumber, id, place: label, transform, ...compiled.parts }),
    summary: Object.freeze(summary),
  }
}
