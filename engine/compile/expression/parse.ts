/** Parses an expression with JSONata, and rejects `$eval` and unsafe regular expressions. */

import jsonata from 'jsonata'
import { compileRegex, RegexSyntaxError } from '../../regex/regex.ts'
import { processorMs } from '../../resolve/model/processor-time.ts'
import { describeFault, ExpressionSyntaxError, startOfToken } from './fault.ts'
import { foreignSyntax } from './foreign-syntax.ts'
import { regexEngine } from './regex-engine.ts'
import { type SyntaxNode, visitNodes } from './syntax-tree.ts'

/** Milliseconds of its thread's processor time that an expression may take. */
const defaultMaxMs = 1_000
/** Reading the processor time takes as long as some steps of an evaluation. */
const stepsBetweenReadings = 50

/**
 * Returns the limits that JSONata enforces: elements of a list, depth of calls, and time.
 * https://docs.jsonata.org/embedding-extending
 */
function createLimits(maxMs: number) {
  let steps = 0
  let before = 0
  let timeout = 0
  return {
    sequence: 10_000,
    stack: 2_000,
    RegexEngine: regexEngine,
    begin() {
      steps = 0
      timeout = 0
    },
    /**
     * JSONata reads it before each step: 0 is no limit, and any other value is compared with the clock. The clock runs on while
     * other threads have the processor, so there is a limit only once the processor time is used up.
     */
    get timeout() {
      steps += 1
      if (steps % stepsBetweenReadings > 0) return timeout
      const used = processorMs()
      if (steps === stepsBetweenReadings) before = used
      else if (used - before > maxMs) timeout = 1
      return timeout
    },
  }
}

/** A valid expression. */
export interface ParsedExpression {
  readonly expression: jsonata.Expression
  /** Called before each evaluation, which then has its whole time. */
  readonly begin: () => void
  readonly ast: SyntaxNode
  /** Every node of the tree once, the root first. */
  readonly nodes: readonly SyntaxNode[]
}

/**
 * Parses an expression to check or to evaluate it. `offset` is where it begins in its field's text. It may take
 * `maxMs` of processor time; default: a second.
 * @throws ExpressionSyntaxError
 */
export function parseExpression(source: string, offset: number, maxMs = defaultMaxMs): ParsedExpression {
  const limits = createLimits(maxMs)
  const expression = parse(source, offset, limits)
  const ast = expression.ast() as unknown as SyntaxNode
  const nodes: SyntaxNode[] = []
  visitNodes(ast, (node) => {
    nodes.push(node)
  })
  for (const node of nodes) refuseEval(node, source, offset)
  compileRegexes(nodes, source, offset)
  return { expression, begin: limits.begin, ast, nodes }
}

function parse(source: string, offset: number, limits: ReturnType<typeof createLimits>): jsonata.Expression {
  try {
    return jsonata(source, limits as unknown as jsonata.JsonataOptions)
  } catch (cause) {
    const foreign = foreignSyntax(source)
    if (foreign !== undefined)
      throw new ExpressionSyntaxError(foreign.message, offset + foreign.offset, foreign.hint, { cause })
    const { message, position, token } = describeFault(cause)
    const hint = 'The language is JSONata 2: https://docs.jsonata.org'
    const errorOffset =
      offset + (offsetOfRegex(message, source) ?? startOfToken(position ?? 0, token, source))
    throw new ExpressionSyntaxError(message, errorOffset, hint, { cause })
  }
}

/** The library parses regular expressions with JavaScript's engine first, whose error has no position. */
function offsetOfRegex(message: string, source: string): number | undefined {
  const [, pattern] = /^Invalid regular expression: \/([\s\S]*)\/\w*: /.exec(message) ?? []
  const errorOffset = pattern === undefined ? -1 : source.indexOf(`/${pattern}/`)
  return errorOffset === -1 ? undefined : errorOffset
}

function refuseEval({ type, value, position }: SyntaxNode, source: string, offset: number): void {
  if (type !== 'variable' || value !== 'eval') return
  const hint = 'Write out the expression: evaluating text from the payload would let its sender run code.'
  const errorOffset = offset + startOfToken(typeof position === 'number' ? position : 0, 'eval', source)
  throw new ExpressionSyntaxError('$eval is not allowed', errorOffset, hint)
}

/** A regular expression in the tree. Its position is that of its end. */
interface RegexNode {
  value: unknown
  readonly position: number
}

function compileRegexes(all: readonly SyntaxNode[], source: string, offset: number): void {
  const nodes = all.filter(({ type }) => type === 'regex') as unknown as readonly RegexNode[]
  const literals = new Map<number, RegExp>()
  for (const { value, position } of nodes) if (value instanceof RegExp) literals.set(position, value)
  for (const node of nodes) {
    // The tree of `a ?: b` holds `a` twice, and the library's copy is not a regular expression any more.
    const literal = literals.get(node.position)
    if (literal !== undefined) node.value = compileLiteral(literal, node.position, source, offset)
  }
}

function compileLiteral(literal: RegExp, position: number, source: string, offset: number): unknown {
  const { ignoreCase, multiline } = literal
  const end = source.lastIndexOf('/', position - 1)
  const start = source.lastIndexOf(`/${literal.source}/`, end - literal.source.length - 1)
  try {
    return compileRegex(literal.source, { ignoreCase, multiline })
  } catch (cause) {
    if (!(cause instanceof RegexSyntaxError)) throw cause
    const errorOffset = offset + (start === -1 ? 0 : start + 1 + cause.offset)
    throw new ExpressionSyntaxError(cause.message, errorOffset, cause.hint, { cause })
  }
}
