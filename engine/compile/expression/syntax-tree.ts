/** Walks through the tree of an expression that the library has read. */

export type SyntaxNode = Readonly<Record<string, unknown>>

/** Visits every node once, however deep and however often it is shared. */
export function visitNodes(root: unknown, visit: (node: SyntaxNode) => void): void {
  const seen = new Set<unknown>()
  const waiting = [root]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (typeof node !== 'object' || node === null || seen.has(node)) continue
    seen.add(node)
    if (!Array.isArray(node)) visit(node as SyntaxNode)
    for (const child of Object.values(node)) if (typeof child === 'object') waiting.push(child)
  }
}
