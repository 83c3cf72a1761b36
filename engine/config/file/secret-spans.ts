/** Finds the parts of a YAML document that hold secrets. */

import { type Document, isMap, isPair, isScalar, isSeq, type Node, type Pair, visit } from 'yaml'
import type { Path } from '../path.ts'
import { isCalledSecret, isSecretKey, type Span } from '../secret.ts'

/** `holdsSecrets` decides whether a path may lead to secrets. If not, nothing below it is searched. */
export function secretSpansIn(document: Document, holdsSecrets: (path: Path) => boolean): Span[] {
  const spans: Span[] = []
  visit(document, {
    Pair(_, pair, ancestors) {
      if (!holdsSecrets(pathOf([...ancestors, pair]))) return visit.SKIP
      if (!isScalar(pair.key) || typeof pair.key.value !== 'string') return
      if (isAllowance(pair.key.value, ancestors) || isDemand(pair) || isListOfHolders(pair)) return
      const isSecret = isNamedMap(pair, ancestors) ? isCalledSecret : isSecretKey
      const isHeader = pathOf(ancestors).at(-1) === 'headers'
      if (!isHeader && !isSecret(pair.key.value) && !isInPlaceOfMap(pair, ancestors)) return
      // A list keeps its dashes. In a map even the keys may be parts of a secret without quotes.
      for (const node of isSeq(pair.value) ? pair.value.items : [pair.value]) {
        const range = (node as Node | null)?.range
        if (range) spans.push({ start: range[0], end: range[1] })
      }
    },
  })
  return spans
}

/** In `endpoints: { open: { … } }` a name may be any word, and the content of the map is searched by itself. */
function isNamedMap({ value }: Pair, ancestors: readonly unknown[]): boolean {
  return isMap(value) && namedMaps.has(String(pathOf(ancestors).at(-1)))
}
const namedMaps = new Set(['channels', 'endpoints', 'providers', 'runners', 'sources'])

/** In `budget: { tokens: 5000 }` the tokens are a number and no secret. */
function isAllowance(key: string, ancestors: readonly unknown[]): boolean {
  return key === 'tokens' && pathOf(ancestors).at(-1) === 'budget'
}

/** In `tokens: [{ name, token, may }]` each map is searched by itself. */
function isListOfHolders({ key, value }: Pair): boolean {
  return isScalar(key) && key.value === 'tokens' && isSeq(value) && value.items.some((item) => isMap(item))
}

/** In `auth: both` of an endpoint, the value names the kind of authentication, and is no secret. */
function isDemand({ key, value }: Pair): boolean {
  return isScalar(key) && key.value === 'auth' && isScalar(value) && demands.has(String(value.value))
}
const demands = new Set(['token', 'signature', 'both', 'none'])

/**
 * In `telegram: 123:abc` and `verify: whsec_abc`, a text in place of a channel's map or a policy's is most likely its
 * token or secret.
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
