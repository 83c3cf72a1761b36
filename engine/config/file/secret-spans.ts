/** Finds the parts of a YAML document that hold secrets. */

import { type Document, isMap, isScalar, isSeq, type Node } from 'yaml'
import type { Path } from '../values/path.ts'
import { isCalledSecret, isSecretKey, type Span } from '../values/secret.ts'

/** `holdsSecrets` decides whether a path may lead to secrets. If not, nothing below it is searched. */
export function secretSpansIn(document: Document, holdsSecrets: (path: Path) => boolean): Span[] {
  const spans: Span[] = []
  search(document.contents, [])
  return spans

  function search(node: unknown, path: Path): void {
    if (isSeq(node)) for (const [index, item] of node.items.entries()) search(item, [...path, index])
    if (!isMap(node)) return
    for (const pair of node.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : ''
      const below = [...path, key]
      if (!holdsSecrets(below)) continue
      if (isSecret(key, pair.value, path)) {
        // A list keeps its dashes. In a map even the keys may be parts of a secret without quotes.
        for (const each of isSeq(pair.value) ? pair.value.items : [pair.value]) {
          const range = (each as Node | null)?.range
          if (range) spans.push({ start: range[0], end: range[1] })
        }
      }
      search(pair.value, below)
    }
  }
}

/** True if the value of a key may not be shown. `above` is the path of the map. */
function isSecret(key: string, value: unknown, above: Path): boolean {
  const holder = String(above.at(-1))
  // In `budget: { tokens: 5000 }` the tokens are a number, and `auth: both` of an endpoint names a kind.
  if (key === 'tokens' && holder === 'budget') return false
  if (key === 'auth' && isScalar(value) && authKinds.has(String(value.value))) return false
  // In `tokens: [{ name, token, may }]` each map is searched on its own.
  if (key === 'tokens' && isSeq(value) && value.items.some((item) => isMap(item))) return false
  if (holder === 'headers') return true
  // In `telegram: 123:abc` and `verify: whsec_abc`, a string in place of a map is most likely its token or secret.
  const isInPlaceOfMap = isScalar(value) || isSeq(value)
  if (isInPlaceOfMap && (/^(verify|hmac)$/.test(key) || /^(channels|providers|endpoints)$/.test(holder)))
    return true
  // In `endpoints: { open: { … } }` a name may be any word, and the content of the map is searched on its own.
  return isMap(value) && namedMaps.has(holder) ? isCalledSecret(key) : isSecretKey(key)
}

const authKinds = new Set(['token', 'signature', 'both', 'none'])
const namedMaps = new Set(['channels', 'endpoints', 'observers', 'providers', 'runners', 'sources'])
