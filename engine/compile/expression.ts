/** Owns JSONata expressions: read once at load, evaluated under the library's guards, results made plain JSON. */

import jsonata from 'jsonata'
import { type Expression, ExpressionError } from '../resolve/program.ts'
import { expressionRoot, type Scope } from '../resolve/scope.ts'
import { guardExpression } from './expression-guard.ts'

/**
 * A net under runaway expressions, not yet a bound against hostile payloads: regular expressions and most of the
 * library's built-in functions run to their end. The time includes waiting behind other requests' expressions,
 * which share the event loop, and so it is generous.
 */
const guards = { stack: 500, timeout: 1000, sequence: 10_000 }
/** Ordering `^(…)` holds a copy of the list for each of its elements: two thousand are 16 MB, ten thousand 400. */
const guardsOfOrdering = { ...guards, sequence: 2_000 }

/** An expression that does not parse or may not be used. `offset` is in UTF-16 units of the field's text. */
export class ExpressionSyntaxError extends Error {
  readonly offset: number
  readonly hint: string | undefined

  constructor(message: string, offset: number, hint?: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ExpressionSyntaxError'
    this.offset = offset
    this.hint = hint
  }
}

const wrapped = /^\s*\{%([\s\S]*)%\}\s*$/

/** What stands between `{%` and `%}`, and where it begins; nothing for a text that is not wholly an expression. */
export function unwrapExpression(
  text: string,
): { readonly source: string; readonly offset: number } | undefined {
  const source = wrapped.exec(text)?.[1]
  return source === undefined ? undefined : { source, offset: text.indexOf('{%') + 2 }
}

/**
 * `offset`: where the expression begins in its field's text, so that errors point into that.
 * @throws ExpressionSyntaxError
 */
export function compileExpression(source: string, offset = 0): Expression {
  const expression = parseExpression(source, offset)
  return async (scope) => {
    let result: unknown
    try {
      result = await expression.evaluate(expressionRoot(scope), clock(scope))
    } catch (cause) {
      throw failure(cause, source, offset)
    }
    return plain(result)
  }
}

function parseExpression(source: string, offset: number): jsonata.Expression {
  let expression: jsonata.Expression
  try {
    expression = jsonata(source, guards)
  } catch (cause) {
    const { message, position, token } = faults(cause)
    const hint = 'The language is JSONata 2: https://docs.jsonata.org'
    const place = offset + startOf(position, token, source)
    throw new ExpressionSyntaxError(message, place, hint, { cause })
  }
  const evaluated = findNode(expression.ast(), isEval)
  if (evaluated !== undefined) {
    const hint = 'Write the expression out: one that comes with the payload would be a program from outside.'
    const place = offset + startOf(evaluated, 'eval', source)
    throw new ExpressionSyntaxError('$eval is not allowed', place, hint)
  }
  const orders = findNode(expression.ast(), ({ type }) => type === 'sort') !== undefined
  const guarded = orders ? jsonata(source, guardsOfOrdering) : expression
  guardExpression(guarded)
  return guarded
}

type SyntaxNode = Readonly<Record<string, unknown>>

function isEval({ type, value }: SyntaxNode): boolean {
  return type === 'variable' && value === 'eval'
}

/** `$now()` and `$millis()` tell the request's time, so that an expression gives the same again. */
function clock(scope: Scope): Record<string, unknown> {
  const { now } = scope.request
  return {
    millis: () => now,
    now: (picture?: string, zone?: string) =>
      picture === undefined && zone === undefined
        ? new Date(now).toISOString()
        : jsonata('$fromMillis(now, picture, zone)').evaluate({ now, picture, zone }),
  }
}

/** The library throws errors and plain objects alike. */
function faults(cause: unknown): { code: string; message: string; position: number; token: string } {
  const { code, message, position, token } = (cause ?? {}) as Readonly<Record<string, unknown>>
  return {
    code: typeof code === 'string' ? code : 'unknown',
    message: typeof message === 'string' ? message : 'the expression cannot be read',
    position: typeof position === 'number' ? position : 0,
    token: typeof token === 'string' ? token : '',
  }
}

/** The library's position is just behind the token that it names, or behind the bracket after it. */
function startOf(position: number, token: string, source: string): number {
  const start = token === '' ? -1 : source.lastIndexOf(token, position - token.length)
  if (start === -1 || position - start > token.length + 1) return Math.min(position, source.length)
  return source[start - 1] === '$' ? start - 1 : start
}

/** The library's own sentences quote values of the payload; the code and the column do not. */
function failure(cause: unknown, source: string, offset: number): ExpressionError {
  const { code, position, token } = faults(cause)
  const column = offset + startOf(position, token, source) + 1
  const message = `the expression failed with JSONata error ${code} at column ${column}`
  return new ExpressionError(code, message)
}

/** Where the program holds such a node, however deep and however often it is shared. */
function findNode(
  node: unknown,
  isWanted: (node: SyntaxNode) => boolean,
  seen = new Set<unknown>(),
): number | undefined {
  if (typeof node !== 'object' || node === null || seen.has(node)) return undefined
  seen.add(node)
  const known = node as SyntaxNode
  if (isWanted(known)) return typeof known.position === 'number' ? known.position : 0
  for (const child of Object.values(known)) {
    const found = findNode(child, isWanted, seen)
    if (found !== undefined) return found
  }
  return undefined
}

/** Plain JSON: the library's hidden properties gone from lists, functions and what is not a number absent. */
function plain(value: unknown): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value === 'number' && !Number.isFinite(value)) return undefined
  if (typeof value !== 'object' || value === null) return value
  try {
    const json = JSON.stringify(value, (_key, inner) => (isCallable(inner) ? undefined : inner))
    return json === undefined ? undefined : JSON.parse(json)
  } catch (cause) {
    throw new ExpressionError('unknown', 'the expression gave a value nested too deeply', { cause })
  }
}

function isCallable(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    ('_jsonata_lambda' in value || '_jsonata_function' in value)
  )
}
