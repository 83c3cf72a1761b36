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
import { createSequence, isTrue, lookUp, type Sequence, unwrapSequence } from './values.ts'

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
  let depth = 0

  function compile(value: unknown, isRoot: boolean): Part {
    if (depth > mostDepth) throw new OutsideCoreError('nests too deeply')
    depth += 1
    const node = value as SyntaxNode
    if (node['group'] !== undefined || node['tuple'] !== undefined || node['focus'] !== undefined)
      throw new OutsideCoreError('groups or joins')
    const part = withPredicates(node, compileNode(node, isRoot))
    depth -= 1
    if (part.cost > mostCost || part.size > mostCost) throw new OutsideCoreError('makes too much')
    return part
  }

  function compileNode(node: SyntaxNode, isRoot: boolean): Part {
    const compileType = compilers[String(node['type'])]
    if (compileType === undefined) throw new OutsideCoreError(`type ${String(node['type'])}`)
    return compileType(node, isRoot)
  }

  const compilers: Readonly<Record<string, (node: SyntaxNode, isRoot: boolean) => Part>> = {
    string: compileLiteral,
    number: compileLiteral,
    value: compileLiteral,
    name: compileName,
    variable: compileVariable,
    path: compilePath,
    binary: compileBinary,
    unary: compileList,
    condition: compileCondition,
    block: compileBlock,
    function: compileCall,
  }

  function withPredicates(node: SyntaxNode, part: Part): Part {
    const filters = compileFilters(node['predicate'])
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

  function compileFilters(nodes: unknown): { list: readonly Filter[]; cost: number; mayFail: boolean } {
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
        const condition = compile(expr, false)
        list.push({ kind: 'condition', evaluate: condition.evaluate })
        cost += condition.cost + condition.size
        // The result may be a number that is too large.
        mayFail = true
      }
    }
    return { list, cost, mayFail }
  }

  function compilePath(node: SyntaxNode, isRoot: boolean): Part {
    const nodes = node['steps'] as readonly SyntaxNode[]
    const steps: Step[] = []
    let cost = 0
    let size = 1
    let mayFail = false
    for (const [at, each] of nodes.entries()) {
      // If the input is a list, the first step is evaluated for each element too.
      const isOnce = at === 0 && (isRoot || each['type'] === 'variable')
      const step = compile(each, isOnce ? isRoot : false)
      const filters = compileFilters(each['stages'])
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

  function compileVariable(node: SyntaxNode, isRoot: boolean): Part {
    const name = String(node['value'])
    const known = { cost: 1, size: 1, mayFail: false }
    const isKept = node['keepArray'] === true
    // In a list at the beginning of a path, the input is a sequence.
    if (name === '') return { ...known, evaluate: (input) => unwrapSequence(readInput(input), isKept) }
    if (!isRoot) throw new OutsideCoreError('reads a variable for each element')
    if (name === '$') return { ...known, evaluate: (_input, { root }) => root }
    const read = readerOf(name)
    if (read === undefined) throw new OutsideCoreError(`variable ${name}`)
    return { ...known, evaluate: (_input, { scope, root }) => read(scope, root) }
  }

  function compileBinary(node: SyntaxNode, isRoot: boolean): Part {
    const { value, position } = node
    const left = compile(node['lhs'], isRoot)
    const right = compile(node['rhs'], isRoot)
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

  function compileList(node: SyntaxNode, isRoot: boolean): Part {
    if (node['value'] !== '[') throw new OutsideCoreError(`operator ${String(node['value'])}`)
    const isCons = node['consarray'] === true
    const constant = numbersOf(node) ?? literalsOf(node)
    if (constant !== undefined && !isCons)
      return { evaluate: () => constant, cost: 1, size: 1 + constant.length, mayFail: false }
    const nodes = node['expressions'] as readonly SyntaxNode[]
    const parts = nodes.map((each) => compile(each, isRoot))
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

  function compileCondition(node: SyntaxNode, isRoot: boolean): Part {
    const condition = compile(node['condition'], isRoot)
    const then = compile(node['then'], isRoot)
    const other = node['else'] === undefined ? undefined : compile(node['else'], isRoot)
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

  function compileBlock(node: SyntaxNode, isRoot: boolean): Part {
    const nodes = node['expressions'] as readonly SyntaxNode[]
    const [only] = nodes
    if (only === undefined || nodes.length > 1) throw new OutsideCoreError('a block of several expressions')
    return compile(only, isRoot)
  }

  function compileCall(node: SyntaxNode, isRoot: boolean): Part {
    const procedure = node['procedure'] as SyntaxNode
    const name = String(procedure['value'])
    const known = procedure['type'] === 'variable' ? coreFunctions.get(name) : undefined
    if (known === undefined || procedure['predicate'] !== undefined)
      throw new OutsideCoreError(`function ${name}`)
    const nodes = node['arguments'] as readonly SyntaxNode[]
    const last = nodes.at(-1)
    if (name === 'contains' && last?.['type'] === 'regex') {
      const [text, ...others] = nodes.slice(0, -1).map((each) => compile(each, isRoot))
      if (text === undefined || others.length > 0) throw new OutsideCoreError('arguments of contains')
      const evaluate = createSearch(regexOf(last), text.evaluate, node['position'])
      return { evaluate, cost: text.cost + costOfSearch * text.size, size: 1, mayFail: true }
    }
    const parts = nodes.map((each) => compile(each, isRoot))
    if (parts.length > (known.most ?? Infinity)) throw new OutsideCoreError(`arguments of ${name}`)
    let literals = 0
    for (const at of known.literals ?? []) {
      const argument = nodes[at]
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
    return {
      evaluate: call,
      cost: cost + (1 + size) * (1 + literals / 16),
      size: 1 + (known.growth ?? 0) * size * (1 + literals),
      mayFail: known.neverFails !== true || parts.length !== 1 || parts.some((part) => part.mayFail),
    }
  }

  try {
    const { evaluate, cost, size } = compile(ast, true)
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
  const frame: Frame = { root: payload, scope }
  return evaluate(Array.isArray(payload) ? wrapRoot(payload) : payload, frame)
}

/** Thrown with the reason why an expression is not compiled. */
class OutsideCoreError extends Error {
  override readonly name = 'OutsideCoreError'
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
