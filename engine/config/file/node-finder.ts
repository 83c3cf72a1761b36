/** Owns finding a node of a YAML document by its path, through aliases and merged maps. */

import { type Document, isAlias, isMap, isSeq, type Node, type Pair, type Scalar, type YAMLMap } from 'yaml'
import type { Path } from '../path.ts'

export interface Found {
  readonly key?: Node
  readonly value?: Node
}

/** The node at the path, or the deepest one on the way to it. */
export function findNode(document: Document, path: Path): Found {
  let found: Found = document.contents ? { value: document.contents } : {}
  for (const segment of path) {
    const holder = isAlias(found.value) ? found.value.resolve(document) : found.value
    const next: Found | undefined = isMap(holder)
      ? findPair(document, holder, String(segment))
      : isSeq(holder)
        ? { value: holder.items[Number(segment)] as Node }
        : undefined
    if (!next || (!next.key && !next.value)) return found
    found = next
  }
  return found
}

function findPair(document: Document, map: YAMLMap, name: string): Found | undefined {
  const pairs = map.items as Pair<Scalar, Node | null>[]
  const own = pairs.find((pair) => pair.key.value === name)
  if (own) return { key: own.key, value: own.value ?? undefined }
  for (const pair of pairs) {
    if (pair.key.value !== '<<') continue
    for (const merged of isSeq(pair.value) ? pair.value.items : [pair.value]) {
      const target = isAlias(merged) ? merged.resolve(document) : merged
      const inherited = isMap(target) && findPair(document, target, name)
      if (inherited) return inherited
    }
  }
  return undefined
}
