/** Owns JSONata expressions: read once at load, evaluated under the library's guards, results made plain JSON. */

import jsonata from 'jsonata'
import { type Expression, ExpressionError } from '../resolve/program.ts'
import { expressionRoot, type Scope } from '../resolve/scope.ts'

/**
 * A net under runaway expressions, not yet a bound against hostile payloads: regular expressions and the
 * library's built-in functions run to their end. The time includes waiting behind other requests' expressions,
 * which share the event loop, and so it is generous.
 */
const guards = { stack: 500, timeout: 1000, sequence: 100_000 }

/** An expression that does not parse or may not be used. `offset` is in UTF-16 units of the source. */
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

/** @throws ExpressionSyntaxError */
export function compileExpression(source: string): Expression {
  const expression = parseExpression(source)
  return async (scope) => {
    let result: unknown
    try {
      result = await expression.evaluate(expressionRoot(scope), clock(scope))
    } catch (cause) {
      throw failure(cause)
    }
    return plain(result)
  }
}

function parseExpression(source: string): jsonata.Expression {
  let expression: jsonata.Expression
  try {
    expression = jsonata(source, guards)
  } catch (cause) {
    const { message, position, token } = faults(cause)
    const hint = 'The language is JSONata 2: https://docs.jsonata.org'
    throw new ExpressionSyntaxError(message, startOf(position, token, source), hint, { cause })
  }
  const evaluated = findVariable(expression.ast(), 'eval')
  if (evaluated !== undefined) {
    const hint = 'Write the expression out: one that comes with the payload would be a program from outside.'
    throw new ExpressionSyntaxError('$eval is not allowed', startOf(evaluated, '$eval', source), hint)
  }
  return expression
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

/** The library's position is the end of the token that it names. */
function startOf(position: number, token: string, source: string): number {
  const start = position - token.length
  return start >= 0 && source.startsWith(token, start) ? start : Math.min(position, source.length)
}

/** The library's own sentences quote values of the payload; the code and the column do not. */
function failure(cause: unknown): ExpressionError {
  const { code, position } = faults(cause)
  return new ExpressionError(code, `the expression failed with JSONata error ${code} at column ${position}`)
}

/** Where the program mentions a variable, however it is called or passed on. */
function findVariable(node: unknown, name: string, seen = new Set<unknown>()): number | undefined {
  if (typeof node !== 'object' || node === null || seen.has(node)) return undefined
  seen.add(node)
  const { type, value, position } = node as Readonly<Record<string, unknown>>
  if (type === 'variable' && value === name) return typeof position === 'number' ? position : 0
  for (const child of Object.values(node)) {
    const found = findVariable(child, name, seen)
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
