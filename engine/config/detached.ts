/** Owns copies that share no text with what they were made of: a part of a long text keeps all of it in memory. */

export function detached<Tree>(tree: Tree): Tree {
  if (typeof tree === 'string') return Buffer.from(tree).toString() as Tree
  if (typeof tree !== 'object' || tree === null) return tree
  if (Array.isArray(tree)) return tree.map((item: unknown) => detached(item)) as Tree
  const copy: Record<string, unknown> = Object.create(Object.getPrototypeOf(tree))
  for (const [name, value] of Object.entries(tree)) copy[name] = detached(value)
  return copy as Tree
}
