/** Owns finding what makes a document unreadable. */

import { type Document, isAlias, isCollection, isMap, isPair, isScalar, isSeq, type Pair, Scalar } from 'yaml'
import type { Aliases } from './aliases.ts'
import type { Fault } from './syntax.ts'

/** What the parser found, or else what it would stumble over later. */
export function faultsOf(document: Document, text: string, aliases?: Aliases): Fault[] {
  const found = [...document.errors, ...document.warnings]
  if (found.length === 0) return text.includes('<<') ? badMerges(document, aliases) : []
  return found.map(({ code, pos }) => ({ code, offset: pos[0] }))
}

function badMerges(document: Document, aliases: Aliases | undefined): Fault[] {
  return Array.from(pairsIn(document.contents))
    .filter((pair) => isMerge(pair) && !takes(pair.value))
    .map(({ key }) => ({ code: 'BAD_MERGE', offset: (key as Scalar).range?.[0] ?? 0 }))

  /** An alias that stands for nothing is told by whoever looks for those. */
  function takes(value: unknown): boolean {
    const source = resolved(value)
    return isSeq(source) ? source.items.every((item) => isMapOrLost(resolved(item))) : isMapOrLost(source)
  }

  function resolved(value: unknown): unknown {
    return isAlias(value) ? aliases?.targetOf(value) : value
  }
}

function* pairsIn(node: unknown): Iterable<Pair> {
  if (isPair(node)) {
    yield node
    yield* pairsIn(node.key)
    yield* pairsIn(node.value)
  } else if (isCollection(node)) for (const item of node.items) yield* pairsIn(item)
}

function isMapOrLost(source: unknown): boolean {
  return source === undefined || isMap(source)
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === '<<' && (!key.type || key.type === Scalar.PLAIN)
}
