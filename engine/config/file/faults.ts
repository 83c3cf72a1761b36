/** Owns finding what makes a document unreadable. */

import { type Document, isAlias, isMap, isScalar, isSeq, type Pair, Scalar, visit } from 'yaml'
import type { Fault } from './syntax.ts'

/** What the parser found, or else what it would stumble over later. */
export function faultsOf(document: Document, text: string): Fault[] {
  const found = [...document.errors, ...document.warnings]
  if (found.length === 0) return text.includes('<<') ? badMerges(document) : []
  return found.map(({ code, pos }) => ({ code, offset: pos[0] }))
}

function badMerges(document: Document): Fault[] {
  const faults: Fault[] = []
  visit(document, {
    Pair(_, pair) {
      if (!isMerge(pair) || takes(pair.value)) return
      faults.push({ code: 'BAD_MERGE', offset: (pair.key as Scalar).range?.[0] ?? 0 })
    },
  })
  return faults

  /** An alias that stands for nothing is told by whoever looks for those. */
  function takes(value: unknown): boolean {
    const source = resolved(value)
    return isSeq(source) ? source.items.every((item) => isMapOrLost(resolved(item))) : isMapOrLost(source)
  }

  function resolved(value: unknown): unknown {
    return isAlias(value) ? value.resolve(document) : value
  }
}

function isMapOrLost(source: unknown): boolean {
  return source === undefined || isMap(source)
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && key.value === '<<' && (!key.type || key.type === Scalar.PLAIN)
}
