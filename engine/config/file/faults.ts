/** Owns finding what makes a document unreadable. */

import { type Document, isAlias, isCollection, isMap, isPair, isScalar, isSeq, type Pair, Scalar } from 'yaml'
import type { Aliases } from './aliases.ts'
import type { Fault } from './syntax.ts'

/** What the parser found, or else what it would stumble over later. */
export function faultsOf(document: Document, text: string, aliases?: Aliases): Fault[] {
  const found = [...document.errors, ...document.warnings]
  if (found.length > 0) return found.map(({ code, pos }) => ({ code, offset: pos[0] }))
  const comments = mayHoldComment.test(text) ? foreignComments(document, text) : []
  return text.includes('<<') ? [...comments, ...badMerges(document, aliases)] : comments
}

const mayHoldComment = /(?:^|\s)\/[/*]/

/** Texts and keys without quotes that begin as a comment of JSON5 does; those between brackets are blank by now. */
function foreignComments(document: Document, text: string): Fault[] {
  return Array.from(scalarsIn(document.contents)).flatMap(({ type, range }) =>
    type === Scalar.PLAIN && range && /^\/[/*]/.test(text.slice(range[0], range[0] + 2))
      ? { code: 'FOREIGN_COMMENT', offset: range[0] }
      : [],
  )
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

/** The library's own `visit` takes several times as long, because it keeps the way to each node. */
export function* scalarsIn(node: unknown): Iterable<Scalar> {
  if (isScalar(node)) yield node
  else if (isCollection(node)) for (const item of node.items) yield* scalarsIn(item)
  else if (isPair(node)) {
    yield* scalarsIn(node.key)
    yield* scalarsIn(node.value)
  }
}
