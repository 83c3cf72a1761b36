/** Owns which mappings no request ever reaches, and which go on to none. */

import type { MappingEntry } from '../config/configuration.ts'
import { covers, overlap } from './implication/endpoints.ts'
import { type Clauses, impliesMatch } from './implication/match.ts'
import { createShadowFinder } from './shadow-finder.ts'
import type { Warnings } from './warnings.ts'

export interface ReadMapping {
  readonly entry: MappingEntry
  readonly clauses: Clauses
}

/** `mappings` in matching order. What several earlier mappings cover only together is not seen. */
export function lintReachability(mappings: readonly ReadMapping[], warnings: Warnings): void {
  const all = mappings.map(({ clauses }) => clauses)
  const shadowOf = createShadowFinder(all, (position) => mappings[position]?.entry.value.continue === true)
  for (const [position, mapping] of mappings.entries()) {
    const earlier = mappings[shadowOf(position) ?? -1]
    if (earlier !== undefined) reportShadow(mapping, earlier, warnings)
    lintContinue(mapping, position, mappings, warnings)
  }
  lintCase(mappings, warnings)
}

/** A preset is not the author's to edit, so the warning stands at the mapping that hides it. */
function reportShadow(later: ReadMapping, earlier: ReadMapping, warnings: Warnings): void {
  const same = impliesMatch(earlier.clauses, later.clauses)
  const isPreset = later.entry.origin.kind === 'preset'
  const name = `mapping "${later.entry.id}"${isPreset ? ` of the preset ${later.entry.origin.name}` : ''}`
  const { id, label } = earlier.entry
  const why = same ? 'has the same match and comes first' : 'comes first and matches whenever it does'
  warnings.add(isPreset ? earlier.entry : later.entry, {
    code: same ? 'DUPLICATE_MATCH' : 'SHADOWED_MAPPING',
    path: ['match'],
    message: `The ${name} is never reached: "${id}" (${label}) ${why}`,
    hint: `Put it first, let "${id}" match less, or write \`continue: true\` there to run both.`,
  })
}

function lintContinue(
  { entry, clauses }: ReadMapping,
  position: number,
  mappings: readonly ReadMapping[],
  warnings: Warnings,
): void {
  if (entry.value.continue !== true) return
  const isLater = (each: ReadMapping, index: number) =>
    index > position && overlap(each.clauses.path, clauses.path)
  if (mappings.some(isLater)) return
  warnings.add(entry, {
    code: 'POINTLESS_CONTINUE',
    path: ['continue'],
    message: `\`continue\` of mapping "${entry.id}" has no effect: no later mapping is for its endpoint`,
    hint: 'Leave it out, or move the mapping before those that are to run as well.',
  })
}

/** Names are case-sensitive, which nobody expects of an address. */
function lintCase(mappings: readonly ReadMapping[], warnings: Warnings): void {
  const first = new Map<string, ReadMapping>()
  for (const mapping of mappings) {
    const { path } = mapping.clauses
    if (path === undefined) continue
    const folded = path.toLowerCase()
    const other = first.get(folded)
    if (other === undefined) first.set(folded, mapping)
    else if (other.clauses.path !== path && !covers(other.clauses.path, path)) {
      warnings.add(mapping.entry, {
        code: 'PATH_CASE',
        path: ['match', 'path'],
        message: `The endpoint "${path}" differs from "${other.clauses.path}" (${other.entry.label}) in case only`,
        hint: 'Names are case-sensitive: these are two endpoints. Write them alike if they are meant to be one.',
      })
    }
  }
}
