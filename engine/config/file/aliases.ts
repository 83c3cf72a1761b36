/** Owns what the aliases of a document stand for: one walk, where the library would make one for each alias. */

import { type Alias, type Document, isAlias, isCollection, isPair, type Node } from 'yaml'

export interface Aliases {
  readonly first?: Alias
  /** The first one without an anchor before it. */
  readonly lost?: Alias
  /** How many values the document has, every alias expanded; one inside its own anchor has no end. */
  readonly size: number
  targetOf(alias: Alias): Node | undefined
}

export function followAliases(document: Document): Aliases {
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  /** Of anchors that are complete. */
  const sizes = new Map<unknown, number>()
  let lost: Alias | undefined
  const size = sizeOf(document.contents)
  const [first] = targets.keys()
  return { size, targetOf: (alias) => targets.get(alias), ...(first && { first }), ...(lost && { lost }) }

  function sizeOf(node: unknown): number {
    if (isPair(node)) return sizeOf(node.key) + sizeOf(node.value)
    if (isAlias(node)) {
      const target = anchors.get(node.source)
      if (!target) lost ??= node
      else targets.set(node, target)
      return target ? (sizes.get(target) ?? Number.POSITIVE_INFINITY) : 1
    }
    const { anchor } = (node ?? {}) as { anchor?: string }
    if (anchor !== undefined) anchors.set(anchor, node as Node)
    let size = 1
    if (isCollection(node)) for (const item of node.items) size += sizeOf(item)
    if (anchor !== undefined) sizes.set(node, size)
    return size
  }
}
