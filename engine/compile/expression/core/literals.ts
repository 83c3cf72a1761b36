/** Reads what is written out in an expression. */

import type { SyntaxNode } from '../syntax-tree.ts'

/** Numbers of a range that is written out. */
const mostNumbers = 1_000

export function isLiteral({ type, predicate }: SyntaxNode): boolean {
  return predicate === undefined && (type === 'string' || type === 'number' || type === 'value')
}

/** Of a list of literals. */
export function literalsOf({ expressions }: SyntaxNode): readonly unknown[] | undefined {
  const nodes = expressions as readonly SyntaxNode[]
  return nodes.every(isLiteral) ? nodes.map(({ value }) => value) : undefined
}

/** Of a list of numbers and of ranges between two, all of them written out: `[0, 5..9]`. */
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
