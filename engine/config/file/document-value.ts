/** Owns the value of a document, made in short steps where it is long. */

import { type Document, isMap, isPair, isScalar, isSeq, type Node } from 'yaml'
import { backgroundMs, takeTurn } from '../../turn.ts'

/** Characters whose value is made within a few milliseconds. */
const longest = 32_768

/** Of a document whose aliases all stand for something; they share it. */
export async function valueOfDocument(document: Document, hasProperties: boolean): Promise<unknown> {
  // What an alias stands for is known only to who walks all of it. To count them is not left to the library: it walks
  // the whole document once for each.
  if (hasProperties) return document.toJS({ maxAliasCount: -1 })
  return document.contents ? await nodeValue(document.contents as Node, document) : null
}

async function nodeValue(node: Node, document: Document): Promise<unknown> {
  if (!isLong(node)) return node.toJS(document)
  if (isSeq(node)) {
    const list: unknown[] = []
    for (const item of node.items) list.push(await childOf(item, document))
    return list
  }
  if (!isMap(node) || !node.items.every(({ key }) => isScalar(key) && key.value !== '<<')) {
    return node.toJS(document)
  }
  const map = {}
  for (const { key, value } of node.items) {
    const name = String((key as { value: unknown }).value)
    const made = await childOf(value, document)
    // Not an assignment: a key may be called `__proto__`.
    Object.defineProperty(map, name, { value: made, writable: true, enumerable: true, configurable: true })
  }
  return map
}

async function childOf(child: unknown, document: Document): Promise<unknown> {
  if (child === null || child === undefined || isPair(child)) return null
  if (isLong(child as Node)) return nodeValue(child as Node, document)
  await takeTurn(backgroundMs)
  return (child as Node).toJS(document)
}

function isLong({ range }: Node): boolean {
  return range !== null && range !== undefined && range[1] - range[0] > longest
}
