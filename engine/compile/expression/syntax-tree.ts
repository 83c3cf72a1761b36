/** Walks through the tree of an expression that the library has read. */

/** A node as the library makes it; which fields it has depends on its type. A map literal has pairs in `lhs`. */
export interface SyntaxNode {
  readonly type?: string
  readonly value?: unknown
  readonly position?: number
  readonly steps?: readonly SyntaxNode[]
  readonly lhs?: SyntaxNode
  readonly rhs?: SyntaxNode
  readonly expression?: SyntaxNode
  readonly expressions?: readonly SyntaxNode[]
  readonly procedure?: SyntaxNode
  readonly arguments?: readonly SyntaxNode[]
  readonly condition?: SyntaxNode
  readonly then?: SyntaxNode
  readonly else?: SyntaxNode
  readonly terms?: readonly SyntaxNode[]
  readonly pattern?: SyntaxNode
  readonly update?: SyntaxNode
  readonly delete?: SyntaxNode
  readonly group?: SyntaxNode
  readonly expr?: SyntaxNode
  /** The filters after a step, and after any other node. */
  readonly stages?: readonly SyntaxNode[]
  readonly predicate?: readonly SyntaxNode[]
  readonly focus?: string
  readonly index?: string
  readonly keepArray?: boolean
  readonly keepSingletonArray?: boolean
}

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
