/** Determines the kind of value that an expression gives, as far as its text decides that. */

import { functionTypes } from './functions.ts'
import type { SyntaxNode } from './syntax-tree.ts'

/** `filtered` is a path that ends in a filter and gives elements. `path` gives whatever the payload holds there. */
export type Kind =
  | 'boolean'
  | 'number'
  | 'text'
  | 'list'
  | 'object'
  | 'null'
  | 'function'
  | 'path'
  | 'filtered'
  | 'unknown'

const kindsOfTypes: Readonly<Record<string, Kind>> = {
  ...{ b: 'boolean', n: 'number', s: 'text', o: 'object' },
  ...{ 'a<s>': 'list', 'a<o>': 'list' },
}

const kindsOfOperators: Readonly<Record<string, Kind>> = {
  ...{ '=': 'boolean', '!=': 'boolean', '<': 'boolean', '>': 'boolean', '<=': 'boolean', '>=': 'boolean' },
  ...{ and: 'boolean', or: 'boolean', in: 'boolean' },
  ...{ '+': 'number', '-': 'number', '*': 'number', '/': 'number', '%': 'number' },
  ...{ '&': 'text', '..': 'list' },
}

/** Absence has no kind of its own: `$lowercase(x)` is a text although it may give nothing. */
export function kindOf(node: SyntaxNode = {}): Kind {
  if (node.group !== undefined) return 'object'
  if (node.predicate !== undefined) return 'filtered'
  switch (node.type) {
    case 'string':
      return 'text'
    case 'number':
      return 'number'
    case 'value':
      return node.value === null ? 'null' : 'boolean'
    case 'regex':
    case 'lambda':
    case 'partial':
    case 'transform':
      return 'function'
    case 'unary':
      return node.value === '[' ? 'list' : node.value === '{' ? 'object' : 'number'
    case 'binary':
      return kindsOfOperators[String(node.value)] ?? 'unknown'
    case 'condition':
      return kindOfChoice(kindOf(node.then), node.else)
    case 'block':
      return kindOf(node.expressions?.at(-1))
    case 'bind':
      return kindOf(node.rhs)
    case 'function':
      return kindOfCall(node.procedure)
    case 'apply':
      return kindOfApplied(node.rhs)
    case 'path':
      return kindOfPath(node.steps)
    default:
      return 'unknown'
  }
}

function kindOfChoice(then: Kind, other: SyntaxNode | undefined): Kind {
  if (other === undefined) return then === 'path' || then === 'filtered' ? 'unknown' : then
  return then === kindOf(other) && then !== 'path' && then !== 'filtered' ? then : 'unknown'
}

function kindOfCall({ type, value }: SyntaxNode = {}): Kind {
  if (type !== 'variable') return 'unknown'
  return kindsOfTypes[functionTypes.get(String(value)) ?? ''] ?? 'unknown'
}

function kindOfApplied(node: SyntaxNode = {}): Kind {
  if (node.type === 'function') return kindOf(node)
  return kindOfCall(node)
}

function kindOfPath(steps: readonly SyntaxNode[] = []): Kind {
  const last = steps.at(-1)
  if (last === undefined) return 'unknown'
  const filters = last.stages ?? last.predicate
  if (filters !== undefined) return filters.every(isPosition) ? 'unknown' : 'filtered'
  if (last.type === 'name') return 'path'
  // As a step after a list, a function gives one value for each element.
  return steps.length === 1 ? kindOf(last) : 'unknown'
}

/** True if a filter is a position, as in `flags[0]` and `flags[-1]`. */
function isPosition({ expr }: SyntaxNode): boolean {
  return kindOf(expr) === 'number'
}

/** Returns the literal texts that an expression chooses between, or undefined if it does anything else. */
export function choicesOf(node: SyntaxNode = {}): readonly string[] | undefined {
  if (node.predicate !== undefined || node.group !== undefined) return undefined
  switch (node.type) {
    case 'string':
      return [String(node.value)]
    case 'condition': {
      const then = choicesOf(node.then)
      const other = node.else === undefined ? [] : choicesOf(node.else)
      return then && other && [...then, ...other]
    }
    case 'block':
      return choicesOf(node.expressions?.at(-1))
    default:
      return undefined
  }
}
