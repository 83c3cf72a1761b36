/**
 * Compiles an expression to plain synchronous closures if all of it takes time in proportion to the payload.
 * The closures do node by node what the library's evaluator does, so results, hidden marks of lists and error codes are
 * the same. What is evaluated for each element of a list may read that element alone, so that lists are never
 * multiplied.
 */

import type { Regex } from '../../../regex/regex.ts'
import type { Scope } from '../../../resolve/scope.ts'
import type { SyntaxNode } from '../syntax-tree.ts'
import type { Evaluate, Frame } from './frame.ts'
import { coreFunctions, createCall, createSearch } from './functions.ts'
import { isLiteral, literalsOf, numbersOf } from './literals.ts'
import { createEquality, createLogical, createOperation, operators, safeOperators } from './operators.ts'
import { applyFilter, createPath, type Filter, type Path, type Step } from './path.ts'
import {
  BeyondCoreError,
  createSequence,
  isNumeric,
  isTrue,
  lookUp,
  type Sequence,
  unwrapSequence,
} from './values.ts'

export interface CoreProgram {
  /** How often it may read the whole payload, including copying the result. Each time takes up to 12 ns for a byte. */
  readonly cost: number
  readonly evaluate: Evaluate
}

/** Returns the value of a variable that the expression does not bind itself. */
export type VariableReader = (scope: Scope, payload: unknown) => unknown

/** A compiled node. Cost and size are multiples of the length of its input. */
interface Part {
  readonly evaluate: Evaluate
  readonly cost: number
  /** The size of the result. */
  readonly size: number
  readonly mayFail: boolean
}

/** The position of a node: the input of its names, and the variables that are bound there. */
interface Context {
  /** Whether the input is the payload itself, and not an element of a list in it. */
  readonly isRoot: boolean
  readonly locals: Map<string, { readonly number: number; readonly size: number; readonly context: object }>
  /** The same object for all nodes that are evaluated with the same input. */
  readonly input: object
}

/** An expression above this limit multiplies the payload more than an author can mean. */
const mostCost = 1_000
const mostDepth = 200
/** The factors by which comparing a value, or searching it with a regular expression, takes longer than reading it. */
const costOfEquality = 3
const costOfSearch = 10

/** Returns undefined if a part of the expression is not known to be linear. `ast` is the library's tree. */
export function compileCore(
  ast: unknown,
  readerOf: (variable: string) => VariableReader | undefined,
): CoreProgram | undefined {
  let locals = 0
  let depth = 0

  function compile(value: unknown, context: Context): Part {
    if (depth > mostDepth) throw new OutsideCoreError('nests too deeply')
    depth += 1
    const node = value as SyntaxNode
    if (node['group'] !== undefined || node['tuple'] !== undefined || node['focus'] !== undefined)
      throw new OutsideCoreError('groups or joins')
    const part = withPredicates(node, compileNode(node, context), context)
    depth -= 1
    if (part.cost > mostCost || part.size > mostCost) throw new OutsideCoreError('makes too much')
    return part
  }

  function compileNode(node: SyntaxNode, context: Context): Part {
    const compileType = compilers[String(node['type'])]
    if (compileType === undefined) throw new OutsideCoreError(`type ${String(node['type'])}`)
    return compileType(node, context)
  }

  const compilers: Readonly<Record<string, (node: SyntaxNode, context: Context) => Part>> = {
    string: compileLiteral,
    number: compileLiteral,
    value: compileLiteral,
    name: compileName,
    variable: compileVariable,
    path: compilePath,
    binary: compileBinary,
    unary: compileUnary,
    condition: compileCondition,
    block: compileBlock,
    function: (node, context) => compileCall(node, context),
    apply: compileApply,
  }

  function withPredicates(node: SyntaxNode, part: Part, context: Context): Part {
    const filters = compileFilters(node['predicate'], context)
    if (filters.list.length === 0) return part
    const isKept = node['keepArray'] === true
    return {
      ...part,
      evaluate: (input, frame) => {
        let result = part.evaluate(input, frame)
        for (const filter of filters.list) result = applyFilter(filter, result, frame)
        return unwrapSequence(result, isKept)
      },
      cost: part.cost + part.size * filters.cost,
      mayFail: part.mayFail || filters.mayFail,
    }
  }

  function compileFilters(
    nodes: unknown,
    context: Context,
  ): { list: readonly Filter[]; cost: number; mayFail: boolean } {
    const list: Filter[] = []
    let cost = 0
    let mayFail = false
    for (const { type, expr } of (nodes ?? []) as readonly SyntaxNode[]) {
      if (type !== 'filter') throw new OutsideCoreError('numbers the elements')
      cost += 1
      const { type: kind, value } = expr as SyntaxNode
      const positions = numbersOf(expr as SyntaxNode)
      if (kind === 'number') list.push({ kind: 'position', position: Math.floor(Number(value)) })
      else if (positions !== undefined) list.push({ kind: 'positions', positions })
      else {
        const condition = compile(expr, elementContext(context))
        list.push({ kind: 'condition', evaluate: condition.evaluate })
        cost += condition.cost + condition.size
        // The result may be a number that is too large.
        mayFail = true
      }
    }
    return { list, cost, mayFail }
  }

  function compilePath(node: SyntaxNode, context: Context): Part {
    const nodes = node['steps'] as readonly SyntaxNode[]
    const steps: Step[] = []
    let cost = 0
    let size = 1
    let mayFail = false
    for (const [at, each] of nodes.entries()) {
      // If the input is a list, the first step is evaluated for each element too.
      const isOnce = at === 0 && (context.isRoot || each['type'] === 'variable')
      const step = compile(each, isOnce ? context : elementContext(context))
      const filters = compileFilters(each['stages'], context)
      cost += size * (step.cost + step.size * filters.cost)
      size *= step.size
      mayFail ||= step.mayFail || filters.mayFail
      const isName = each['type'] === 'name' && each['predicate'] === undefined
      const name = isName ? String(each['value']) : undefined
      steps.push({ evaluate: step.evaluate, name, filters: filters.list })
    }
    const beginsWith = beginningOf(nodes[0] as SyntaxNode)
    const keepArray = node['keepArray'] === true || node['keepSingletonArray'] === true
    const evaluate = createPath({ steps: steps as [Step, ...Step[]], beginsWith, keepArray })
    return { evaluate, cost, size, mayFail }
  }

  function compileVariable(node: SyntaxNode, context: Context): Part {
    const name = String(node['value'])
    const known = { cost: 1, size: 1, mayFail: false }
    const isKept = node['keepArray'] === true
    // In a list at the beginning of a path, the input is a sequence.
    if (name === '') return { ...known, evaluate: (input) => unwrapSequence(readInput(input), isKept) }
    const local = context.locals.get(name)
    if (local !== undefined) {
      if (local.context !== context.input) throw new OutsideCoreError('reads a variable for each element')
      const { number, size } = local
      return { ...known, size, evaluate: (_input, { locals }) => locals[number] }
    }
    if (!context.isRoot) throw new OutsideCoreError('reads a variable for each element')
    if (name === '$') return { ...known, evaluate: (_input, { root }) => root }
    const read = readerOf(name)
    if (read === undefined) throw new OutsideCoreError(`variable ${name}`)
    return { ...known, evaluate: (_input, { scope, root }) => read(scope, root) }
  }

  function compileBinary(node: SyntaxNode, context: Context): Part {
    const { value, position } = node
    const left = compile(node['lhs'], context)
    const right = compile(node['rhs'], context)
    const literal = node['rhs'] as SyntaxNode
    const isComparison = value === '=' || value === '!='
    const weight = isComparison && !isLiteral(literal) ? costOfEquality : 1
    const cost = left.cost + right.cost + weight * (left.size + right.size)
    if (value === 'and' || value === 'or') {
      const evaluate = createLogical(value, left.evaluate, right.evaluate, position)
      return { evaluate, cost, size: 1, mayFail: true }
    }
    const operator = operators.get(value)
    if (operator === undefined) throw new OutsideCoreError(`operator ${String(value)}`)
    const mayFail = left.mayFail || right.mayFail || !safeOperators.has(value)
    const size = value === '&' ? 2 * (left.size + right.size) : 1
    const evaluate =
      isComparison && isLiteral(literal)
        ? createEquality(value, left.evaluate, literal['value'])
        : createOperation(operator, left.evaluate, right.evaluate, position, value)
    return { evaluate, cost, size, mayFail }
  }

  function compileUnary(node: SyntaxNode, context: Context): Part {
    const { value } = node
    if (value === '[') return compileList(node, context)
    if (value === '{') return compileObject(node, context)
    if (value !== '-') throw new OutsideCoreError(`operator ${String(value)}`)
    const { position } = node
    const inner = compile(node['expression'], context)
    const evaluate: Evaluate = (input, frame) => {
      const number = inner.evaluate(input, frame)
      if (number === undefined) return undefined
      if (isNumeric(number)) return -number
      throw { code: 'D1002', position, token: '-', value: number }
    }
    return { ...inner, evaluate, size: 1, mayFail: true }
  }

  function compileList(node: SyntaxNode, context: Context): Part {
    const isCons = node['consarray'] === true
    const constant = numbersOf(node) ?? literalsOf(node)
    if (constant !== undefined && !isCons)
      return { evaluate: () => constant, cost: 1, size: 1 + constant.length, mayFail: false }
    const nodes = node['expressions'] as readonly SyntaxNode[]
    const parts = nodes.map((each) => compile(each, context))
    refuseFailures(parts)
    const areLists = nodes.map((each) => each['value'] === '[')
    const evaluate: Evaluate = (input, frame) => {
      const list: unknown[] = []
      for (const [at, part] of parts.entries()) {
        const value = part.evaluate(input, frame)
        if (value === undefined) continue
        if (!Array.isArray(value) || areLists[at]) list.push(value)
        else for (const each of value) list.push(each)
      }
      if (isCons) Object.defineProperty(list, 'cons', { value: true })
      return list
    }
    return { ...sum(parts), evaluate }
  }

  function compileObject(node: SyntaxNode, context: Context): Part {
    const pairs = node['lhs'] as readonly (readonly [SyntaxNode, SyntaxNode])[]
    const names = pairs.map(([name]) => name['value'])
    if (pairs.some(([name]) => name['type'] !== 'string' || name['predicate'] !== undefined))
      throw new OutsideCoreError('computes the name of a field')
    if (
      new Set(names).size < names.length ||
      names.some((name) => /^(_jsonata_|tupleStream$)/.test(String(name)))
    )
      throw new OutsideCoreError('names a field as the library does not allow')
    const parts = pairs.map(([, value]) => compile(value, context))
    refuseFailures(parts)
    const evaluate: Evaluate = (input, frame) => {
      const item = itemOf(input, context)
      const object: Record<string, unknown> = Object.create(null)
      for (const [at, { evaluate }] of parts.entries()) {
        const value = evaluate(item, frame)
        if (value !== undefined) object[String(names[at])] = value
      }
      return object
    }
    return { ...sum(parts), evaluate }
  }

  function compileCondition(node: SyntaxNode, context: Context): Part {
    const condition = compile(node['condition'], context)
    const then = compile(node['then'], context)
    const other = node['else'] === undefined ? undefined : compile(node['else'], context)
    return {
      evaluate: (input, frame) =>
        isTrue(condition.evaluate(input, frame))
          ? then.evaluate(input, frame)
          : other?.evaluate(input, frame),
      cost: condition.cost + condition.size + then.cost + (other?.cost ?? 0),
      size: Math.max(then.size, other?.size ?? 0),
      mayFail: true,
    }
  }

  function compileBlock(node: SyntaxNode, outer: Context): Part {
    const context = { ...outer, locals: new Map(outer.locals) }
    const nodes = node['expressions'] as readonly SyntaxNode[]
    const parts = nodes.map((each) => {
      const { type, predicate } = each
      if (type !== 'bind') return compile(each, context)
      if (predicate !== undefined) throw new OutsideCoreError('chooses from what it binds')
      const part = compile(each['rhs'], context)
      const number = locals++
      const name = String((each['lhs'] as SyntaxNode)['value'])
      context.locals.set(name, { number, size: part.size, context: context.input })
      const evaluate: Evaluate = (input, frame) => {
        frame.locals[number] = part.evaluate(input, frame)
        return frame.locals[number]
      }
      return { ...part, evaluate }
    })
    const evaluate: Evaluate = (input, frame) => {
      let result: unknown
      for (const part of parts) result = part.evaluate(input, frame)
      return result
    }
    return { ...sum(parts), evaluate, size: parts.at(-1)?.size ?? 0 }
  }

  /** `applied` is the operand before `~>`. */
  function compileCall(node: SyntaxNode, context: Context, applied: readonly Part[] = []): Part {
    const procedure = node['procedure'] as SyntaxNode
    const name = String(procedure['value'])
    const known = procedure['type'] === 'variable' ? coreFunctions.get(name) : undefined
    if (known === undefined || context.locals.has(name) || procedure['predicate'] !== undefined)
      throw new OutsideCoreError(`function ${name}`)
    const nodes = node['arguments'] as readonly SyntaxNode[]
    const last = nodes.at(-1)
    if (name === 'contains' && last?.['type'] === 'regex') {
      const [text, ...others] = [...applied, ...nodes.slice(0, -1).map((each) => compile(each, context))]
      if (text === undefined || others.length > 0) throw new OutsideCoreError('arguments of contains')
      const evaluate = createSearch(regexOf(last), text.evaluate, node['position'])
      return { evaluate, cost: text.cost + costOfSearch * text.size, size: 1, mayFail: true }
    }
    const parts = [...applied, ...nodes.map((each) => compile(each, context))]
    if (parts.length > (known.most ?? Infinity)) throw new OutsideCoreError(`arguments of ${name}`)
    let literals = 0
    for (const at of known.literals ?? []) {
      const argument = nodes[at - applied.length]
      if (parts[at] === undefined) continue
      if (argument?.['type'] !== 'string' || argument['predicate'] !== undefined)
        throw new OutsideCoreError(`arguments of ${name} that are not written out`)
      literals += String(argument['value']).length
    }
    const { cost, size } = sum(parts)
    const call = createCall(
      name,
      known,
      parts.map(({ evaluate }) => evaluate),
      node['position'],
    )
    const isKept = node['keepArray'] === true
    return {
      evaluate: name === 'lookup' ? (input, frame) => unwrapSequence(call(input, frame), isKept) : call,
      cost: cost + (1 + size) * (1 + literals / 16),
      size: 1 + (known.growth ?? 0) * size * (1 + literals),
      mayFail: known.neverFails !== true || parts.length !== 1 || parts.some((part) => part.mayFail),
    }
  }

  function compileApply(node: SyntaxNode, context: Context): Part {
    const call = node['rhs'] as SyntaxNode
    if (call['type'] !== 'function' || call['predicate'] !== undefined || node['keepArray'] === true)
      throw new OutsideCoreError('hands a value to what is not a call')
    return compileCall(call, context, [compile(node['lhs'], context)])
  }

  try {
    const { evaluate, cost, size } = compile(ast, { isRoot: true, locals: new Map(), input: {} })
    return { cost: cost + size, evaluate }
  } catch (error) {
    if (error instanceof OutsideCoreError) return undefined
    throw error
  }
}

/**
 * Evaluates an expression for a request that holds no marks of the library. The result may hold the library's hidden
 * properties and parts of the payload.
 * @throws the library's errors, and BeyondCoreError if the library must evaluate the expression
 */
export function runCore({ evaluate }: CoreProgram, payload: unknown, scope: Scope): unknown {
  const frame: Frame = { root: payload, scope, locals: [] }
  return evaluate(Array.isArray(payload) ? wrapRoot(payload) : payload, frame)
}

/** Thrown with the reason why an expression is not compiled. */
class OutsideCoreError extends Error {
  override readonly name = 'OutsideCoreError'
}

function elementContext({ locals }: Context): Context {
  return { isRoot: false, locals, input: {} }
}

/** The library evaluates the parts of a list or an object concurrently, so of several errors any may come first. */
function refuseFailures(parts: readonly Part[]): void {
  if (parts.filter(({ mayFail }) => mayFail).length > 1)
    throw new OutsideCoreError('may fail in several parts')
}

function sum(parts: readonly Part[]): Omit<Part, 'evaluate'> {
  return {
    cost: parts.reduce((total, { cost }) => total + cost, 1),
    size: parts.reduce((total, { size }) => total + size, 1),
    mayFail: parts.some(({ mayFail }) => mayFail),
  }
}

function compileLiteral({ value }: SyntaxNode): Part {
  const length = typeof value === 'string' ? value.length : 1
  return { evaluate: () => value, cost: 0, size: length / 16, mayFail: false }
}

function compileName({ value, keepArray }: SyntaxNode): Part {
  const name = String(value)
  const isKept = keepArray === true
  return {
    evaluate: (input) => unwrapSequence(lookUp(input, name), isKept),
    cost: 1,
    size: 1,
    mayFail: false,
  }
}

/** The library copies both sides of `a ?? b` as JSON, and a regular expression may become an empty object in that copy. */
function regexOf({ value, predicate }: SyntaxNode): Regex {
  const regex = value as Regex
  if (regex instanceof RegExp || typeof regex.test !== 'function' || predicate !== undefined)
    throw new OutsideCoreError('a regular expression that is not compiled')
  return regex
}

function beginningOf({ type, consarray, value, predicate }: SyntaxNode): Path['beginsWith'] {
  if (type === 'variable') return 'variable'
  if (consarray !== true) return 'other'
  if (value !== '[' || predicate !== undefined) throw new OutsideCoreError('begins with more than a list')
  return 'list'
}

function readInput(input: unknown): unknown {
  const given = input as { readonly outerWrapper?: unknown; readonly 0?: unknown } | null | undefined
  return given?.outerWrapper ? given[0] : input
}

/** Wraps a payload that is a list as the library does, so that it counts as one value. */
function wrapRoot(payload: readonly unknown[]): Sequence {
  const root = createSequence(payload)
  root.outerWrapper = true
  return root
}

/** Returns the input of the values of an object. */
function itemOf(input: unknown, { isRoot }: Context): unknown {
  if (!Array.isArray(input)) return input
  const [only] = input
  if (input.length === 1 && !(isRoot && Array.isArray(only))) return only
  if (isRoot || input.length === 0) throw new BeyondCoreError('an object is made of a list')
  return input.flat()
}
