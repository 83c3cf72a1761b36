/** Finds the values of the request that an expression reads by plain dotted paths. */

import jsonata from 'jsonata'
import type { Reference } from '../../compile/template/reference.ts'
import { reservedReader, type ScopeNames } from '../../resolve/model/scope.ts'

type Node = Readonly<Record<string, unknown>>

interface NamePath {
  readonly names: readonly string[]
  /** The position behind its first name, or behind the quote after that. */
  readonly end: number
}

/** `offset` is where the expression begins in its field's text. An expression that does not parse has no references. */
export function expressionReferences(
  source: string,
  offset = 0,
  reserved?: ScopeNames,
): readonly Reference[] {
  let tree: unknown
  try {
    tree = jsonata(source).ast()
  } catch {
    return []
  }
  return pathsIn(tree).map(({ names, end }) => {
    const [first = '', ...rest] = names
    const at = { offset: offset + Math.max(0, source.lastIndexOf(first, end - first.length)) }
    return reservedReader(first, reserved)
      ? { root: first, steps: rest, ...at }
      : { root: 'payload', steps: names, ...at }
  })
}

/** Returns the reference of an expression that is one plain path, such as `pull_request.labels`. */
export function plainPath(source: string, reserved?: ScopeNames): Reference | undefined {
  const references = expressionReferences(source, 0, reserved)
  const [only] = references
  return /^\s*[\w.]+\s*$/.test(source) && references.length === 1 ? only : undefined
}

/** Looks only at parts that are evaluated against the root. Predicates, functions and orderings are not. */
function pathsIn(value: unknown): readonly NamePath[] {
  if (Array.isArray(value)) return value.flatMap(pathsIn)
  if (typeof value !== 'object' || value === null) return []
  const node = value as Node
  switch (node['type']) {
    case 'path':
      return pathsOfSteps(node['steps'] as readonly Node[])
    case 'binary':
    case 'apply':
      return [...pathsIn(node['lhs']), ...pathsIn(node['rhs'])]
    case 'condition':
      return [...pathsIn(node['condition']), ...pathsIn(node['then']), ...pathsIn(node['else'])]
    case 'block':
      return pathsIn(node['expressions'])
    case 'bind':
      return pathsIn(node['rhs'])
    case 'unary':
      return [...pathsIn(node['expression']), ...pathsIn(node['expressions']), ...pathsIn(node['lhs'])]
    case 'function':
      // An author who asks whether a field exists knows that it may not.
      return (node['procedure'] as Node | undefined)?.['value'] === 'exists' ? [] : pathsIn(node['arguments'])
    default:
      return []
  }
}

function pathsOfSteps(steps: readonly Node[]): readonly NamePath[] {
  const names: string[] = []
  for (const { type, value, stages, predicate, focus, index } of steps) {
    if (type !== 'name' || typeof value !== 'string') break
    names.push(value)
    if (stages ?? predicate ?? focus ?? index) break
  }
  if (names.length > 0) return [{ names, end: Number(steps[0]?.['position'] ?? 0) }]
  // `(a.b).c`, `$string(a.b).c`: the first step still sees the root.
  return steps[0]?.['type'] === 'name' ? [] : pathsIn(steps[0])
}
