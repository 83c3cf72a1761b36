/** Owns which values of a program the library would walk through without end, and how they are measured before. */

import { type Evaluation, isCallable } from './library.ts'
import { thrownLimit } from './limit.ts'
import type { SyntaxNode } from './syntax-tree.ts'
import { checkCompared, checkTested, mostCompared, weigh } from './weigh.ts'

/** Looks at what a node gave, and throws where the library may not have it. */
type Check = (result: object, evaluation: Evaluation) => void

export interface CheckedNode {
  readonly type: string
  check?: Check
}

export function markNode(node: SyntaxNode): void {
  const { type, value } = node
  if (type === 'binary' && (value === '=' || value === '!=')) markBoth(node, checkCompared)
  else if (type === 'binary' && value === '&') markBoth(node, checkWritten)
  else if (type === 'binary' && (value === 'and' || value === 'or')) markBoth(node, checkTested)
  else if (type === 'condition') mark(node['condition'], checkTested)
  else if (type === 'filter') mark(node['expr'], checkTested)
  else if (type === 'function' || type === 'partial')
    mark(node['procedure'], checkProcedure(node['position']))
  else if (type === 'path' && 'group' in node)
    mark((node['steps'] as readonly unknown[]).at(-1), checkGrouped)
  else if (type === 'block' && 'group' in node)
    mark((node['expressions'] as readonly unknown[]).at(-1), checkGrouped)
  else if (type === 'transform') {
    mark(node['pattern'], checkPattern)
    mark(node['update'], checkChange)
    if (node['delete'] !== undefined) mark(node['delete'], checkChange)
  }
}

function markBoth(node: SyntaxNode, check: Check): void {
  mark(node['lhs'], check)
  mark(node['rhs'], check)
}

function mark(node: unknown, check: Check): void {
  const checked = node as CheckedNode
  const before = checked.check
  checked.check =
    before === undefined
      ? check
      : (...values) => {
          before(...values)
          check(...values)
        }
}

function checkWritten(result: object): void {
  if (weigh(result, mostCompared) > mostCompared)
    throw thrownLimit('what `&` is to write as text is too large')
}

/** The library would note the call on whatever stands in the place of the function. */
function checkProcedure(position: unknown): Check {
  return (result) => {
    if (!isCallable(result)) throw { code: 'T1006', position, value: result }
  }
}

/** The library puts an element into an empty list that it is to group, though the list be the payload's. */
function checkGrouped(result: object, { grouped }: Evaluation): void {
  if (Array.isArray(result) && result.length === 0) grouped.push(result)
}

/** What a transform sets or deletes, in each place that it selects. */
const mostChanged = 10_000

function checkChange(result: object): void {
  if (Object.keys(result).length > mostChanged) {
    throw thrownLimit(`a transform may change ${mostChanged} fields of an object at most`)
  }
}

/** A transform writes into what its pattern selects, which may be nothing but its own copy. */
function checkPattern(result: object, { clones }: Evaluation): void {
  for (const selected of Array.isArray(result) && !clones.has(result) ? result : [result]) {
    if (typeof selected !== 'object' || selected === null || clones.has(selected)) continue
    throw thrownLimit('a transform `|…|…|` may only select parts of the value that it is given')
  }
}
