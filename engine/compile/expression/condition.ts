/**
 * Reads from a condition which fields must equal which values, so that a mapping is tried only for requests that
 * satisfy one such equality.
 */

import type { Equality } from '../../resolve/model/program.ts'
import { variableOf } from './names.ts'
import type { SyntaxNode } from './syntax-tree.ts'

/**
 * Returns the equalities that are necessary for the condition to be true. `ast` is the tree in which reserved names are
 * variables.
 * Clauses after one that may fail are not read, because a mapping that is not tried cannot report the failure.
 */
export function equalitiesOfCondition(ast: SyntaxNode): readonly Equality[] {
  const equalities: Equality[] = []
  for (const { type, value, lhs, rhs, predicate } of clausesOf(ast)) {
    if (type !== 'binary' || predicate !== undefined) break
    const left = readOperand(lhs)
    const right = readOperand(rhs) ?? (value === 'in' ? readList(rhs) : undefined)
    if (left === undefined || right === undefined) break
    if (value === '=' || value === 'in') equalities.push(...equalitiesBetween(left, right))
    else if (value !== '!=') break
  }
  return equalities
}

/** Returns the operands of `and` in the order of their evaluation. */
function clausesOf(node: SyntaxNode = {}): readonly SyntaxNode[] {
  const { type, value, lhs, rhs, expressions, predicate } = node
  if (predicate !== undefined) return [node]
  if (type === 'binary' && value === 'and') return [...clausesOf(lhs), ...clausesOf(rhs)]
  const [only, ...others] = type === 'block' ? (expressions ?? []) : []
  return only === undefined || others.length > 0 ? [node] : clausesOf(only)
}

type Operand = Pick<Equality, 'part' | 'path'> | { readonly values: Equality['values'] }

function equalitiesBetween(left: Operand, right: Operand): readonly Equality[] {
  if ('path' in left && 'values' in right) return [{ ...left, values: right.values }]
  if ('path' in right && 'values' in left) return [{ ...right, values: left.values }]
  return []
}

/** Reads a path of names or a literal. Neither can fail. */
function readOperand(node: SyntaxNode = {}): Operand | undefined {
  if (node.predicate !== undefined) return undefined
  return node.type === 'path' ? readPath(node) : readLiterals([node])
}

function readList({ type, value, expressions = [], predicate }: SyntaxNode = {}): Operand | undefined {
  if (type !== 'unary' || value !== '[' || predicate !== undefined) return undefined
  return readLiterals(expressions)
}

function readLiterals(nodes: readonly SyntaxNode[]): Operand | undefined {
  if (!nodes.every(isLiteral)) return undefined
  return { values: nodes.map(({ value }) => value as Equality['values'][number]) }
}

/** Large integers are texts in an expression, and numbers in the index. */
const largeInteger = /^-?\d{16,}$/

function isLiteral({ type, value, predicate }: SyntaxNode): boolean {
  if (predicate !== undefined) return false
  return type === 'number' || type === 'value' || (type === 'string' && !largeInteger.test(String(value)))
}

function readPath({ steps, keepArray, keepSingletonArray }: SyntaxNode): Operand | undefined {
  if (keepArray === true || keepSingletonArray === true) return undefined
  const [first, ...others] = steps as readonly [SyntaxNode, ...SyntaxNode[]]
  const isRooted = first.type === 'variable'
  const names = isRooted ? others : [first, ...others]
  const isPlain = ({ stages, predicate }: SyntaxNode) => stages === undefined && predicate === undefined
  if (!isPlain(first) || !names.every((step) => step.type === 'name' && isPlain(step))) return undefined
  const path = names.map(({ value }) => String(value))
  if (!isRooted || payloadVariables.has(first.value)) return { part: 'body', path }
  if (first.value === variableOf('headers') && path.length === 1) return { part: 'header', path }
  return undefined
}

const payloadVariables: ReadonlySet<unknown> = new Set(['', '$', variableOf('payload')])
