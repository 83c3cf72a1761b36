/**
 * Checks a template's tree, and rewrites it so that Handlebars only decides what comes when: each path is read, and each
 * piece of output is written, by a helper of ours that knows whether it is the operator's or the payload's.
 */

import Handlebars from 'handlebars'
import { nearestName } from '../../config/values/nearest.ts'
import { isInexact } from '../../payload/exact-numbers.ts'
import type { ScopeNames } from '../../resolve/model/scope.ts'
import type { RootName } from '../expression/names.ts'
import { below, type Context, insideBlock, isBelow, type Place, rootPlace } from './context.ts'
import { type Helper, helpers } from './helpers.ts'
import { type ParsedTemplate, TemplateError } from './parse.ts'
import type { Reference } from './reference.ts'

type Path = hbs.AST.PathExpression
type Call = hbs.AST.MustacheStatement | hbs.AST.SubExpression
type Block = hbs.AST.BlockStatement

/** The helpers that only a rewritten tree calls. No author can, because the names of helpers are checked. */
export const readHelper = '$read'
export const printHelper = '$print'
export const callHelper = '$call'
/** The loop's key, index, first and last, in the data of the pass. */
export const passData = '$pass'

export const blockNames = ['if', 'unless', 'each', 'with'] as const

const loopNames = ['index', 'key', 'first', 'last']

export interface TemplateNames {
  /** The names that it looks up at its root. */
  readonly names: readonly RootName[]
  /** The values of the request that it reads, as far as they can be known. */
  readonly references: readonly Reference[]
  /** True if it has a loop within a loop, so that the payload decides how often the two run. */
  readonly isNested: boolean
}

/** Changes the tree in place. `names` are the meanings of the names at its root. @throws TemplateError */
export function rewriteTemplate({ program, offsetOf }: ParsedTemplate, names: ScopeNames): TemplateNames {
  const rewriter = new Rewriter(offsetOf, names)
  rewriter.accept(program)
  return rewriter
}

class Rewriter extends Handlebars.Visitor implements TemplateNames {
  readonly mutating = true
  readonly names: RootName[] = []
  readonly references: Reference[] = []
  isNested = false
  readonly #offsetOf: ParsedTemplate['offsetOf']
  readonly #reserved: ScopeNames
  #place = rootPlace
  /** True if an argument of the call may be absent, also in a `strict` mapping. */
  #isOptional = false

  constructor(offsetOf: ParsedTemplate['offsetOf'], reserved: ScopeNames) {
    super()
    this.#offsetOf = offsetOf
    this.#reserved = reserved
  }

  override ContentStatement({ value }: hbs.AST.ContentStatement) {
    return printing(stringLiteral(value))
  }

  /** A name alone is a field, even if a helper has that name, so that a payload's `date` stays reachable. */
  override MustacheStatement(node: hbs.AST.MustacheStatement) {
    return printing(isField(node) ? this.PathExpression(asPath(node.path)) : this.#call(node))
  }

  override SubExpression(node: hbs.AST.SubExpression) {
    return this.#call(node)
  }

  override PathExpression(path: Path) {
    const parts = path.parts.map(unquote)
    this.#check(parts, path)
    this.#note(parts, path)
    const [first = '', ...rest] = parts
    if (path.data) return this.#dataField(path, first, rest)
    if (this.#isParameter(path)) return reading({ parts: [first], original: '' }, rest)
    if (path.depth <= this.#place.levels.length) return reading({ depth: path.depth }, parts)
    const hint = 'Only {{#each}} and {{#with}} open a level to leave.'
    throw this.#error('../ leads out of the template', path, hint)
  }

  override NumberLiteral(literal: hbs.AST.NumberLiteral) {
    if (!isInexact(literal.value)) return
    const hint = 'Compare it as text in an expression: `vars: { known: id = "9007199254740993" }`.'
    throw this.#error('a number beyond 2^53 would lose digits', literal, hint)
  }

  override BlockStatement(block: Block) {
    const name = blockNames.find((known) => known === simpleName(block.path))
    if (name === undefined) {
      const written = String(block.path.original)
      const hint = `Blocks are ${blockNames.join(', ')}: write {{#each ${written}}} or {{#if ${written}}}.`
      throw this.#error(`there is no block "${written}"`, block.path, hint)
    }
    const isCondition = name === 'if' || name === 'unless'
    this.isNested ||= name === 'each' && this.#place.levels.includes('each')
    const strange = block.hash?.pairs.find(({ key }) => !(key === 'includeZero' && isCondition))
    if (block.params.length !== 1 || strange !== undefined)
      throw this.#error(`{{#${name}}} takes exactly one argument`, block)
    const [subject] = block.params
    const context = subject !== undefined && isPath(subject) ? this.#contextOf(subject) : 'unknown'
    const conditionArguments = this.#arguments(block, isCondition)
    const parameters = block.program?.blockParams ?? []
    const max = isCondition ? 0 : name === 'with' ? 1 : 2
    if (parameters.length > max) {
      const message = `the block takes at most ${max} block parameters, not ${parameters.length}`
      throw this.#error(message, block)
    }
    const guarded = { ...this.#place, guards: [...this.#place.guards, ...conditionArguments] }
    const inside = isCondition ? guarded : insideBlock(this.#place, name, context, parameters)
    this.#visit(block, 'program', name === 'unless' ? this.#place : inside)
    this.#visit(block, 'inverse', name === 'unless' ? guarded : this.#place)
  }

  override PartialStatement(node: hbs.AST.Node) {
    throw this.#unsupported(node)
  }

  override PartialBlockStatement(node: hbs.AST.Node) {
    throw this.#unsupported(node)
  }

  override Decorator(node: hbs.AST.Node) {
    throw this.#unsupported(node)
  }

  override DecoratorBlock(node: hbs.AST.Node) {
    throw this.#unsupported(node)
  }

  #unsupported(node: hbs.AST.Node): TemplateError {
    const hint = 'Write the text out, or use {{#if}}, {{#each}} and {{#with}}.'
    return this.#error('partials and decorators are not supported', node, hint)
  }

  #error(message: string, node: hbs.AST.Node, hint?: string): TemplateError {
    return new TemplateError(message, this.#offsetOf(node), hint)
  }

  #visit(block: Block, part: 'program' | 'inverse', place: Place): void {
    const before = this.#place
    this.#place = place
    this.acceptKey(block, part)
    this.#place = before
  }

  /** Returns what the arguments read. */
  #arguments({ params, hash }: Call | Block, isOptional: boolean): readonly Reference[] {
    const before = this.#isOptional
    const firstReference = this.references.length
    this.#isOptional = isOptional
    this.acceptArray(params)
    for (const pair of hash?.pairs ?? []) this.acceptKey(pair, 'value')
    this.#isOptional = before
    return this.references.slice(firstReference)
  }

  #call(node: Call): hbs.AST.SubExpression {
    const name = simpleName(node.path)
    const helper = name === undefined ? undefined : helpers[name]
    if (name === undefined || helper === undefined) {
      const written = originalOf(node.path)
      const isBlock = blockNames.some((block) => block === name)
      const hint = isBlock ? `Write {{#${name} …}}…{{/${name}}}.` : suggestion(written)
      throw this.#error(`there is no helper "${written}"`, node.path, hint)
    }
    const problem = problemOfArguments(node, helper, name)
    if (problem !== undefined) throw this.#error(problem.message, node.path, problem.hint)
    this.#arguments(node, helper.takesAbsent ?? false)
    return { ...callOf(callHelper, stringLiteral(name), ...node.params), hash: node.hash }
  }

  #check(parts: readonly string[], path: Path): void {
    const denied = parts.find((part) => forbidden.has(part))
    if (denied !== undefined) {
      const hint = `If the payload has such a field, read it with an expression: {% ${expressionFor(parts)} %}.`
      throw this.#error(`"${denied}" is not readable from a template`, path, hint)
    }
    const [first = ''] = parts
    // The grammar accepts these as names. A field with such a name has to be in brackets, as in {{[$id]}}.
    if (/^[$\u201c\u201d\u2018\u2019\u201e]/.test(first) && !path.original.startsWith('['))
      throw this.#error(
        `"${first}" is no name`,
        path,
        `A field of the payload with such a name is {{[${first}]}}.`,
      )
  }

  #dataField(path: Path, name: string, rest: readonly string[]): hbs.AST.SubExpression {
    if (name === 'root') return reading({ data: true, parts: ['root'] }, rest)
    if (!loopNames.includes(name))
      throw this.#error(`there is no @${name}`, path, 'There are @index, @key, @first, @last and @root.')
    if (this.#place.levels.filter((level) => level === 'each').length <= path.depth)
      throw this.#error(`@${name} has a value only inside {{#each}}`, path)
    return reading({ data: true, depth: path.depth, parts: [passData] }, [`@${name}`, ...rest])
  }

  /** `this.name` and `./name` mean the current value, never a block parameter. */
  #isParameter({ data, depth, original, parts: [first = ''] }: Path): boolean {
    return !data && depth === 0 && !/^\.|^this\b/.test(original) && this.#place.parameters.has(first)
  }

  #note(parts: readonly string[], path: Path): void {
    const offset = this.#offsetOf(path)
    const { levels, guards } = this.#place
    const isAtRoot = path.data
      ? parts[0] === 'root'
      : !this.#isParameter(path) && path.depth === levels.length
    const [name, ...steps] = path.data ? parts.slice(1) : parts
    if (isAtRoot && name !== undefined) this.names.push({ name, steps, isFirst: steps[0] === '0', offset })
    const target = this.#contextOf(path)
    if (target === 'root' || target === 'unknown') return
    const isOptional = this.#isOptional || guards.some((guard) => isBelow(target, guard))
    this.references.push({ ...target, offset, ...(isOptional && { isOptional }) })
  }

  #contextOf(path: Path): Context {
    const { context, outer, parameters } = this.#place
    const [first = '', ...rest] = path.parts.map(unquote)
    if (path.data) return first === 'root' ? below('root', rest, this.#reserved) : 'unknown'
    if (this.#isParameter(path)) return below(parameters.get(first) ?? 'unknown', rest)
    const from = path.depth === 0 ? context : (outer[path.depth - 1] ?? 'unknown')
    return below(from, path.parts.map(unquote), this.#reserved)
  }
}

function isField({ params, hash }: Call): boolean {
  return params.length === 0 && (hash?.pairs.length ?? 0) === 0
}

function isPath(node: hbs.AST.Node): node is Path {
  return node.type === 'PathExpression'
}

/** `{{"full name"}}` and `{{0}}` are fields too. */
function asPath(node: Path | hbs.AST.Literal): Path {
  if (isPath(node)) return node
  const part = originalOf(node)
  return { ...pathOf({ parts: [part], original: part }), loc: node.loc }
}

function originalOf(node: Path | hbs.AST.Literal): string {
  return String((node as Path).original)
}

function simpleName(path: Path | hbs.AST.Literal): string | undefined {
  if (!isPath(path) || path.data || path.depth > 0 || path.parts.length !== 1) return undefined
  return path.original === path.parts[0] ? path.original : undefined
}

const forbidden = new Set(['__proto__', 'constructor', 'prototype'])

/** Returns the same path in JSONata, where names that are not plain words are in backticks. */
function expressionFor(parts: readonly string[]): string {
  const path = parts[0] === 'payload' ? parts : ['payload', ...parts]
  return path
    .map((part) => (/^[a-z]\w*$/i.test(part) && !forbidden.has(part) ? part : `\`${part}\``))
    .join('.')
}

/** The grammar keeps the quotes of `headers['x-id']` in the name. No payload has them there. */
function unquote(part: string): string {
  const quoted = /^(["'])(.*)\1$/s.exec(part)
  return quoted?.[2] ?? part
}

function suggestion(name: string): string {
  const nearest = nearestName(name, Object.keys(helpers))
  const known = `The helpers are ${Object.keys(helpers).join(', ')}; blocks are ${blockNames.join(', ')}.`
  return nearest === undefined ? known : `Did you mean ${nearest}?`
}

function problemOfArguments(
  { params, hash }: Call,
  helper: Helper,
  name: string,
): { readonly message: string; readonly hint: string } | undefined {
  const [min, max] = helper.takes
  const count = params.length
  const hint = `Write it like ${helper.usage}.`
  if (count < min || count > max) {
    const expectedCount = count < min ? `at least ${min}` : `at most ${max}`
    return { message: `"${name}" takes ${expectedCount} arguments, not ${count}`, hint }
  }
  const pairs = hash?.pairs ?? []
  const strange = pairs.find(({ key }) => !helper.named?.includes(key))
  if (strange !== undefined) return { message: `"${name}" has no argument named "${strange.key}"`, hint }
  const named = Object.fromEntries(pairs.map(({ key, value }) => [key, literalValue(value)]))
  const problem = helper.refuses?.(params.map(literalValue), named)
  if (problem === undefined) return undefined
  const located = typeof problem === 'string' ? { message: problem, hint } : problem
  return { ...located, message: `"${name}": ${located.message}` }
}

/** Returns undefined for a value of the payload. */
function literalValue(param: hbs.AST.Expression): unknown {
  return 'value' in param ? param.value : undefined
}

/** A tree that was built may omit places, which Handlebars would write into the code of each call. */
const loc = undefined as unknown as hbs.AST.SourceLocation

function pathOf(path: Partial<Path>): Path {
  return { type: 'PathExpression', data: false, depth: 0, parts: [], original: 'this', loc, ...path }
}

function stringLiteral(value: string): hbs.AST.StringLiteral {
  return { type: 'StringLiteral', value, original: value, loc }
}

function callOf(name: string, ...params: hbs.AST.Expression[]): hbs.AST.SubExpression {
  const path = pathOf({ parts: [name], original: name })
  return { type: 'SubExpression', path, params, hash: { type: 'Hash', pairs: [], loc }, loc }
}

/** Reads the value that Handlebars finds in a context, or what its keys lead to. */
function reading(from: Partial<Path>, keys: readonly string[]): hbs.AST.SubExpression {
  return callOf(readHelper, pathOf(from), ...keys.map(stringLiteral))
}

function printing(value: hbs.AST.Expression): hbs.AST.MustacheStatement {
  const strip = { open: false, close: false }
  return { ...callOf(printHelper, value), type: 'MustacheStatement', escaped: false, strip }
}
