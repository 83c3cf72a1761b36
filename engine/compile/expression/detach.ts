/** Owns letting go of the library's parser, of which one is made for each expression and which is larger than most. */

import type { SyntaxNode } from './syntax-tree.ts'

/**
 * Names and literals are left as the parser's tokens, whose prototypes hold on to its whole table of symbols. They
 * become objects of their own; one that stands in several places still does. The root stays what it is.
 */
export function detachFromParser(root: unknown): void {
  const copies = new Map<unknown, SyntaxNode>()
  const seen = new Set<unknown>()
  const waiting = [root]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (typeof node !== 'object' || node === null || seen.has(node)) continue
    seen.add(node)
    const fields = node as Record<string, unknown>
    for (const key of Object.keys(fields)) {
      let child = fields[key]
      if (isToken(child)) {
        const copy: SyntaxNode = copies.get(child) ?? { ...child }
        copies.set(child, copy)
        fields[key] = copy
        child = copy
      }
      if (typeof child === 'object') waiting.push(child)
    }
  }
}

function isToken(value: unknown): value is SyntaxNode {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype !== Object.prototype && prototype !== null && Object.hasOwn(Object(prototype), 'lbp')
}
