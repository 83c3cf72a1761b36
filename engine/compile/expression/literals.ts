/** Recognises expressions that give literals. */

import type { SyntaxNode } from './syntax-tree.ts'

/** Returns the type of a literal that is no truth value, or undefined for any other expression. */
export function literalTypeOf({ type, value, predicate, group }: SyntaxNode): string | undefined {
  if (predicate !== undefined || group !== undefined) return undefined
  if (type === 'unary') return value === '[' ? 'a list' : value === '{' ? 'an object' : undefined
  if (type === 'value') return value === null ? 'null' : undefined
  return literalTypes[String(type)]
}

const literalTypes: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  regex: 'a function',
  lambda: 'a function',
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
