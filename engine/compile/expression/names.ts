/**
 * Finds reserved names at the root of an expression and makes them variables, so that the root itself is only the
 * payload: `$`, `$$`, `*` and `**` mean what JSONata defines, also for a payload that is a list.
 */

import type { ScopeNames } from '../../resolve/model/scope.ts'
import { ExpressionSyntaxError, startOfToken } from './fault.ts'
import type { SyntaxNode } from './syntax-tree.ts'

/** A name that an expression or a template looks up at its root. */
export interface RootName {
  readonly name: string
  /** The plain names after it in the path. */
  readonly steps: readonly string[]
  /** True if the expression reads its first element, as in `messages[0]`. */
  readonly isFirst: boolean
  /** The place in UTF-16 units of the field's text. */
  readonly offset: number
  /** True if the author expects it to be absent at times, and asks for it. */
  readonly isOptional?: boolean
}

/** Returns the variable for a reserved name. No author can write it, because it contains a blank. */
export function variableOf(name: string): string {
  return ` ${name}`
}

/**
 * Where names are looked up: at the root with the reserved names, in the payload by `$` or `$$`, or in anything else,
 * such as an element of a list.
 */
type Context = 'root' | 'payload' | 'inner'

/** A reserved name that is looked up below `$` or `$$`. */
interface Reach {
  readonly name: string
  readonly place: number
}

/**
 * Replaces reserved names in the tree, and returns the names that are looked up at the root.
 * @throws ExpressionSyntaxError if a reserved name is looked up below `$` or `$$`
 */
export function resolveNames(
  ast: unknown,
  source: string,
  offset: number,
  names: ScopeNames,
): readonly RootName[] {
  const visitor = new NameVisitor(source, offset, names)
  visitor.visit(ast)
  if (visitor.reached.length > 0) throw unreachable(visitor.reached, offset)
  return visitor.found
}

class NameVisitor {
  readonly found: RootName[] = []
  readonly reached: Reach[] = []
  readonly #source: string
  readonly #offset: number
  readonly #names: ScopeNames
  #isOptional = false

  constructor(source: string, offset: number, names: ScopeNames) {
    this.#source = source
    this.#offset = offset
    this.#names = names
  }

  visit(ast: unknown): void {
    this.#visit(ast, 'root')
  }

  #isOurs(name: unknown): name is string {
    return typeof name === 'string' && this.#names.ours.has(name)
  }

  #visit(value: unknown, context: Context): void {
    if (Array.isArray(value)) {
      for (const each of value) this.#visit(each, context)
      return
    }
    if (typeof value !== 'object' || value === null) return
    const node = value as SyntaxNode
    if (node.type !== 'name') this.#visitBrackets(node, below(node, context))
    const { type } = node
    if (type === 'path') this.#visitPath(node.steps ?? [], context)
    else if (type === 'name') this.#visitName(node, [], context)
    else if (type === 'sort') {
      for (const { expression } of node.terms ?? []) this.#visit(expression, 'inner')
    } else if (type === 'transform') this.#visit([node.pattern, node.update, node.delete], 'inner')
    else {
      if (type === 'function') this.#visitLookup(node, context)
      const before = this.#isOptional
      this.#isOptional ||= type === 'function' && node.procedure?.value === 'exists'
      for (const part of partsInContext[String(type)] ?? [])
        this.#visit(node[part as keyof SyntaxNode], context)
      this.#isOptional = before
    }
  }

  /** Visits the contents of `[…]` and `{…}` after a node. */
  #visitBrackets(node: SyntaxNode, context: Context): void {
    const { predicate, stages, group } = node
    for (const filters of [predicate, stages]) {
      if (filters === undefined) continue
      for (const { expr } of filters) this.#visit(expr, context)
    }
    if (group !== undefined) this.#visit(group.lhs, context === 'payload' ? context : 'inner')
  }

  #visitPath(steps: readonly SyntaxNode[], outer: Context): void {
    let context = outer
    for (const [index, step] of steps.entries()) {
      if (step.type !== 'name') this.#visit(step, context)
      else if (index === 1 && context === 'payload' && this.#isOurs(step.value)) this.#reachFrom(steps)
      else this.#visitName(step, steps.slice(index + 1), context)
      // `@$name` leaves the context unchanged.
      if (step.focus === undefined) context = below(step, context)
    }
  }

  #reachFrom([variable, name]: readonly SyntaxNode[]): void {
    const place = Number(variable?.position) - 1 - String(variable?.value).length
    this.reached.push({ name: String(name?.value), place })
  }

  #visitName(node: SyntaxNode, after: readonly SyntaxNode[], context: Context): void {
    const { value, position } = node
    const name = String(value)
    const place = startOfToken(Number(position), name, this.#source)
    this.#visitBrackets(node, 'inner')
    if (context === 'payload' && this.#isOurs(name)) this.reached.push({ name, place })
    if (context !== 'root') return
    const steps = isPlain(node) ? plainNames(after) : []
    this.found.push({
      name,
      steps,
      isFirst: asksForFirst(node),
      offset: this.#offset + place,
      ...(this.#isOptional && { isOptional: true }),
    })
    if (this.#isOurs(name) || name === this.#names.elementList)
      Object.assign(node, { type: 'variable', value: variableOf(name) })
  }

  /** Finds `$lookup($$, "headers")`. */
  #visitLookup(node: SyntaxNode, context: Context): void {
    const [of, key] = node.arguments ?? []
    if (node.procedure?.value !== 'lookup' || key?.type !== 'string') return
    const name = key.value
    if (of === undefined || below(of, context) !== 'payload' || !this.#isOurs(name)) return
    this.reached.push({ name, place: startOfToken(Number(key.position), name, this.#source) })
  }
}

/** The parts of a node, by its type, that are evaluated in the node's own context. The body of a function counts as one. */
const partsInContext: Readonly<Record<string, readonly string[]>> = {
  binary: ['lhs', 'rhs'],
  apply: ['lhs', 'rhs'],
  bind: ['rhs'],
  unary: ['lhs', 'expression', 'expressions'],
  block: ['expressions'],
  condition: ['condition', 'then', 'else'],
  function: ['procedure', 'arguments'],
  partial: ['procedure', 'arguments'],
  lambda: ['body'],
}

/** Returns the context of the names after a node. */
function below({ type, value }: SyntaxNode, context: Context): Context {
  if (type !== 'variable') return 'inner'
  return value === '$' || (value === '' && context !== 'inner') ? 'payload' : 'inner'
}

function plainNames([step, ...rest]: readonly SyntaxNode[]): readonly string[] {
  if (step?.type !== 'name') return []
  return [String(step.value), ...(isPlain(step) ? plainNames(rest) : [])]
}

function isPlain({ stages, predicate, focus, index }: SyntaxNode): boolean {
  return (stages ?? predicate ?? focus ?? index) === undefined
}

function asksForFirst(node: SyntaxNode): boolean {
  const [stage] = node.stages ?? node.predicate ?? []
  const index = stage?.expr
  return index?.type === 'number' && index.value === 0
}

function unreachable([reach]: readonly Reach[], offset: number): ExpressionSyntaxError {
  const { name, place } = reach as Reach
  return new ExpressionSyntaxError(
    `looks for ${name} below $ or $$, which are the payload alone`,
    offset + place,
    `Write \`${name}\` alone; inside of brackets, hand it on in a variable: \`($${name} := ${name}; … $${name} …)\`. A field of the payload that is called so is \`payload.${name}\`.`,
  )
}
