/** Reads the literals of an expression. */

import type { SyntaxNode } from '../syntax-tree.ts'

/** The limit on the numbers of a literal range. */
const mostNumbers = 1_000

export function isLiteral({ type, predicate }: SyntaxNode): boolean {
  return predicate === undefined && (type === 'string' || type === 'number' || type === 'value')
}

/** Returns the values of a list of literals. */
export function literalsOf({ expressions }: SyntaxNode): readonly unknown[] | undefined {
  const nodes = expressions as readonly SyntaxNode[]
  return nodes.every(isLiteral) ? nodes.map(({ value }) => value) : undefined
}

/** Returns the numbers of a list of literal numbers and ranges: `[0, 5..9]`. */
export function numbersOf({
  type,
  value,
  predicate,
  expressions,
}: SyntaxNode): readonly number[] | undefined {
  if (type !== 'unary' || value !== '[' || predicate !== undefined) return undefined
  const numbers: number[] = []
  for (const each of expressions as readonly SyntaxNode[]) {
    const [from, to] = each['value'] === '..' ? [each['lhs'], each['rhs']] : [each, each]
    const first = numberOf(from as SyntaxNode)
    const last = numberOf(to as SyntaxNode)
    if (first === undefined || last === undefined || each['predicate'] !== undefined) return undefined
    if (from !== to && !(Number.isInteger(first) && Number.isInteger(last))) return undefined
    if (numbers.length + last - first > mostNumbers) return undefined
    for (let number = first; number <= last; number++) numbers.push(number)
  }
  return numbers
}

function numberOf({ type, value, predicate }: SyntaxNode): number | undefined {
  return type === 'number' && predicate === undefined ? Number(value) : undefined
}
