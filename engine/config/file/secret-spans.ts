/** This file finds the parts of a YAML document that hold secrets. */

import { type Document, isMap, isPair, isScalar, isSeq, type Node, type Pair, visit } from 'yaml'
import type { Path } from '../path.ts'
import { isCalledSecret, isSecretKey, type Span } from '../secret.ts'

/** `holdsSecrets`: whether secrets may stand under a path; where not, nothing deeper is looked at. */
export function secretSpansIn(document: Document, holdsSecrets: (path: Path) => boolean): Span[] {
  const spans: Span[] = []
  visit(document, {
    Pair(_, pair, ancestors) {
      if (!holdsSecrets(pathOf([...ancestors, pair]))) return visit.SKIP
      if (!isScalar(pair.key) || typeof pair.key.value !== 'string') return
      if (isAllowance(pair.key.value, ancestors) || isDemand(pair)) return
      const isSecret = isNamedMap(pair, ancestors) ? isCalledSecret : isSecretKey
      if (!isSecret(pair.key.value) && !isInPlaceOfMap(pair, ancestors)) return
      // A list keeps its dashes; in a map even the keys may be parts of a secret that lacks its quotes.
      for (const node of isSeq(pair.value) ? pair.value.items : [pair.value]) {
        const range = (node as Node | null)?.range
        if (range) spans.push({ start: range[0], end: range[1] })
      }
    },
  })
  return spans
}

/** `endpoints: { open: { … } }`: a name is like any word, and what a map of ours holds is looked at by itself. */
function isNamedMap({ value }: Pair, ancestors: readonly unknown[]): boolean {
  return isMap(value) && namedMaps.has(String(pathOf(ancestors).at(-1)))
}
const namedMaps = new Set(['channels', 'endpoints', 'providers', 'runners', 'sources'])

/** `budget: { tokens: 5000 }`: those are counted, not kept. */
function isAllowance(key: string, ancestors: readonly unknown[]): boolean {
  return key === 'tokens' && pathOf(ancestors).at(-1) === 'budget'
}

/** `auth: both` of an endpoint: what is asked for, and not with what. */
function isDemand({ key, value }: Pair): boolean {
  return isScalar(key) && key.value === 'auth' && isScalar(value) && demands.has(String(value.value))
}
const demands = new Set(['token', 'signature', 'both', 'none'])

/**
 * `telegram: 123:abc`, `verify: whsec_abc`: the one text that an operator would write where a channel's map or that of a policy
 * belongs is its token or secret.
 */
function isInPlaceOfMap({ key, value }: Pair, ancestors: readonly unknown[]): boolean {
  if (!isScalar(value) && !isSeq(value)) return false
  const isOfSender = isScalar(key) && /^(verify|hmac)$/.test(String(key.value))
  return isOfSender || /^(channels|providers|endpoints)$/.test(String(pathOf(ancestors).at(-1)))
}

function pathOf(nodes: readonly unknown[]): Path {
  const path: (string | number)[] = []
  nodes.forEach((node, index) => {
    if (isPair(node) && isScalar(node.key)) path.push(String(node.key.value))
    else if (isSeq(node)) path.push(node.items.indexOf(nodes[index + 1]))
  })
  return path
}
