/** Owns mappings whose own clauses rule each other out, where loading did not see it. */

import { findImpossible, satisfies } from './implication/body.ts'
import type { ReadMapping } from './reachability.ts'
import type { Warnings } from './warnings.ts'

export function lintContradictions({ entry, clauses }: ReadMapping, warnings: Warnings): void {
  const found = findContradiction(clauses)
  if (found === undefined) return
  warnings.add(entry, {
    code: 'IMPOSSIBLE_MATCH',
    path: ['match', ...found.path],
    message: `The mapping "${entry.id}" can never match: ${found.why}`,
    hint: 'Mend the clause, or give each case a mapping of its own.',
  })
}

function findContradiction({
  source,
  body,
}: ReadMapping['clauses']):
  | { readonly path: readonly (string | number)[]; readonly why: string }
  | undefined {
  for (const [key, pattern] of body) {
    const path = findImpossible(pattern, ['body', key])
    if (path !== undefined) return { path, why: 'no value passes all these tests' }
  }
  const pattern = body.get('source')
  if (source === undefined || pattern === undefined || satisfies(source, pattern)) return undefined
  return { path: ['body', 'source'], why: '`match.source` asks for another value of the same field' }
}
