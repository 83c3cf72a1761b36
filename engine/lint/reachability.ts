/** Warns of mappings that no request ever reaches. */

import type { Pattern } from '../compile/match/pattern.ts'
import type { MappingEntry } from '../config/configuration.ts'
import { type Clauses, impliesMatch } from './implication.ts'
import type { Warnings } from './warnings.ts'

export interface ReadMapping {
  readonly entry: MappingEntry
  readonly clauses: Clauses
}

/** `mappings` are in matching order. A mapping that several earlier ones cover only together is not found. */
export function lintReachability(mappings: readonly ReadMapping[], warnings: Warnings): void {
  for (const [later, earlier] of findShadows(mappings)) reportShadow(later, earlier, warnings)
}

/**
 * Pairs each mapping that is never reached with the first earlier one that matches whenever it does. An earlier mapping with
 * an equality can only hide mappings that have that equality too, so it is filed under one and compared with those alone.
 */
function* findShadows(mappings: readonly ReadMapping[]): Iterable<readonly [ReadMapping, ReadMapping]> {
  const filed = new Map<string | undefined, { readonly mapping: ReadMapping; readonly position: number }[]>()
  for (const [position, mapping] of mappings.entries()) {
    const own = equalitiesOf(mapping.clauses)
    const [shadow] = [undefined, ...own]
      .flatMap((equality) => {
        const candidates = filed.get(equality) ?? []
        return candidates.find((each) => impliesMatch(mapping.clauses, each.mapping.clauses)) ?? []
      })
      .sort((one, other) => one.position - other.position)
    if (shadow !== undefined) yield [mapping, shadow.mapping]
    if (mapping.entry.value.continue === true) continue
    // The last equality is the most particular one in practice: the event is in a header, its action in the body.
    const equality = own.at(-1)
    const others = filed.get(equality)
    if (others === undefined) filed.set(equality, [{ mapping, position }])
    else others.push({ mapping, position })
  }
}

/** `match.source` is the same clause as an equality of the key `source` in the body. */
function equalitiesOf({ source, headers, body }: Clauses): readonly string[] {
  const ofSource = source === undefined ? [] : [JSON.stringify(['body', 'source', source])]
  return [...ofSource, ...equalitiesIn(headers, ['headers']), ...equalitiesIn(body, ['body'])]
}

function equalitiesIn(
  patterns: Iterable<readonly [string, Pattern]>,
  above: readonly string[],
): readonly string[] {
  return [...patterns].flatMap(([key, pattern]) => {
    const at = [...above, key]
    if (pattern.kind === 'keys') return equalitiesIn(pattern.keys, at)
    const [value, ...others] = pattern.kind === 'values' ? pattern.values : []
    return value === undefined || others.length > 0 ? [] : [JSON.stringify([...at, value])]
  })
}

/** A preset is not the author's to edit, so the warning is reported at the mapping that hides it. */
function reportShadow(later: ReadMapping, earlier: ReadMapping, warnings: Warnings): void {
  const isSame = impliesMatch(earlier.clauses, later.clauses)
  const isPreset = later.entry.origin.kind === 'preset'
  const name = `mapping "${later.entry.id}"${isPreset ? ` of the preset ${later.entry.origin.name}` : ''}`
  const { id, label } = earlier.entry
  const why = isSame ? 'has the same match and comes first' : 'comes first and matches whenever it does'
  warnings.add(isPreset ? earlier.entry : later.entry, {
    code: isSame ? 'DUPLICATE_MATCH' : 'SHADOWED_MAPPING',
    path: ['match'],
    message: `The ${name} is never reached: "${id}" (${label}) ${why}`,
    hint: `Put it first, let "${id}" match less, or write \`continue: true\` there to run both.`,
  })
}
