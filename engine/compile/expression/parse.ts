/** Owns reading an expression: what the library reads, minus what no expression may use, ready to be evaluated. */

import jsonata from 'jsonata'
import { compileRegex, RegexSyntaxError } from '../../regex/regex.ts'
import { detachFromParser } from './detach.ts'
import { readFault, startOfToken } from './fault.ts'
import { foreignSyntax } from './foreign-syntax.ts'
import { guardExpression } from './guard.ts'
import { markNode } from './marks.ts'
import { regexEngine } from './regex-engine.ts'
import { ExpressionSyntaxError } from './syntax-error.ts'
import { type SyntaxNode, visitNodes } from './syntax-tree.ts'

/** Of the library's own guards the clock is not used: it counts the time of others, who share the event loop. */
const guards = { sequence: 10_000, RegexEngine: regexEngine }
/** Ordering `^(…)` and groups of joined rows copy a list for each of its elements: ten thousand would be 400 MB. */
const guardsOfCopies = { ...guards, sequence: 2_000 }

/** An expression that is ready to be evaluated. */
export interface ParsedExpression {
  readonly expression: jsonata.Expression
  /** Every node of its tree once, the root first. */
  readonly nodes: readonly SyntaxNode[]
}

/**
 * `offset`: where the expression begins in its field's text.
 * @throws ExpressionSyntaxError
 */
export function parseExpression(source: string, offset: number): ParsedExpression {
  const first = read(source, offset, guards)
  let copies = false
  let isGrouped = false
  visitNodes(first.ast(), ({ type, tuple, group }) => {
    copies ||= type === 'sort' || tuple === true
    isGrouped ||= group !== undefined
  })
  const expression = copies ? read(source, offset, guardsOfCopies) : first
  detachFromParser(expression.ast())
  if (isGrouped) visitNodes(expression.ast(), wrapGrouped)
  const nodes: SyntaxNode[] = []
  visitNodes(expression.ast(), (node) => void nodes.push(node))
  for (const node of nodes) {
    refuseEval(node, source, offset)
    markNode(node)
  }
  compileRegexes(nodes, source, offset)
  guardExpression(expression)
  return { expression, nodes }
}

function read(source: string, offset: number, options: object): jsonata.Expression {
  try {
    return jsonata(source, options as jsonata.JsonataOptions)
  } catch (cause) {
    const slip = foreignSyntax(source)
    if (slip !== undefined)
      throw new ExpressionSyntaxError(slip.message, offset + slip.place, slip.hint, { cause })
    const { message, position, token } = readFault(cause)
    const hint = 'The language is JSONata 2: https://docs.jsonata.org'
    const place = offset + (placeOfRegex(message, source) ?? startOfToken(position ?? 0, token, source))
    throw new ExpressionSyntaxError(message, place, hint, { cause })
  }
}

/** The library has the language read regular expressions first, whose error says no place. */
function placeOfRegex(message: string, source: string): number | undefined {
  const [, pattern] = /^Invalid regular expression: \/([\s\S]*)\/\w*: /.exec(message) ?? []
  const place = pattern === undefined ? -1 : source.indexOf(`/${pattern}/`)
  return place === -1 ? undefined : place
}

function refuseEval({ type, value, position }: SyntaxNode, source: string, offset: number): void {
  if (type !== 'variable' || value !== 'eval') return
  const hint = 'Write the expression out: one that comes with the payload would be a program from outside.'
  const place = offset + startOfToken(typeof position === 'number' ? position : 0, 'eval', source)
  throw new ExpressionSyntaxError('$eval is not allowed', place, hint)
}

/** What is grouped becomes a node of its own, so that it is seen before it is grouped. */
function wrapGrouped(node: SyntaxNode): void {
  const { type, group, position } = node
  if (group === undefined || type === 'path') return
  const { group: _grouped, ...inner } = node
  const rest = node as Record<string, unknown>
  for (const key of Object.keys(rest)) delete rest[key]
  Object.assign(rest, { type: 'block', expressions: [inner], group, position })
}

/** A regular expression of the program; the library's end is where its position is. */
interface RegexNode {
  value: unknown
  readonly position: number
}

function compileRegexes(all: readonly SyntaxNode[], source: string, offset: number): void {
  const nodes = all.filter(({ type }) => type === 'regex') as unknown as readonly RegexNode[]
  const literals = new Map<number, RegExp>()
  for (const { value, position } of nodes) if (value instanceof RegExp) literals.set(position, value)
  for (const node of nodes) {
    // `a ?: b` keeps `a` twice, and what the library copies for that is no longer an expression.
    const literal = literals.get(node.position)
    if (literal !== undefined) node.value = compileLiteral(literal, node.position, source, offset)
  }
}

function compileLiteral(literal: RegExp, position: number, source: string, offset: number): unknown {
  const { ignoreCase, multiline } = literal
  const end = source.lastIndexOf('/', position - 1)
  const begin = source.lastIndexOf(`/${literal.source}/`, end - literal.source.length - 1)
  try {
    return compileRegex(literal.source, { ignoreCase, multiline })
  } catch (cause) {
    if (!(cause instanceof RegexSyntaxError)) throw cause
    const place = offset + (begin === -1 ? 0 : begin + 1 + cause.offset)
    throw new ExpressionSyntaxError(cause.message, place, cause.hint, { cause })
  }
}
