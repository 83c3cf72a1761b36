/** The errors of an expression: the library's, which are Error objects or plain ones, and ours in the same form. */

import { LocatedError } from '../../config/values/located-error.ts'

/** Thrown for an expression that does not parse or may not be used. `offset` is in UTF-16 units of the field's text. */
export class ExpressionSyntaxError extends LocatedError {}

export interface Fault {
  readonly code: string | undefined
  /** The library's sentence, which may quote `value` and `value2`. */
  readonly message: string
  /** The reason in an error of our own, which quotes no value. */
  readonly reason: string | undefined
  readonly position: number | undefined
  readonly token: string
  readonly value: unknown
  readonly value2: unknown
}

/** The codes in the library's documentation, and our own. */
const knownCode = /^(?:[A-Z]\d{4}|LIMIT)$/

export function describeFault(cause: unknown): Fault {
  const thrown = (typeof cause === 'object' && cause !== null ? cause : {}) as Readonly<
    Record<string, unknown>
  >
  const { code, message, reason, position, token, value, value2 } = thrown
  return {
    code: typeof code === 'string' && knownCode.test(code) ? code : undefined,
    message: typeof message === 'string' ? message : 'the expression cannot be read',
    reason: typeof reason === 'string' ? reason : undefined,
    position: typeof position === 'number' ? position : undefined,
    token: typeof token === 'string' ? token : '',
    value,
    value2,
  }
}

/** The library's position is just after the token that it names, or after the bracket that follows it. */
export function startOfToken(position: number, token: string, source: string): number {
  const start = token === '' ? -1 : source.lastIndexOf(token, position - token.length)
  if (start === -1 || position - start > token.length + 1) return Math.min(position, source.length)
  return source[start - 1] === '$' ? start - 1 : start
}

/** `reason` continues the sentence "the expression failed: ". */
interface Limit {
  readonly code: string
  readonly reason: string
}

/** The error quotes no value. The library adds position and token to it later, so it is not frozen. */
export function thrownLimit(reason: string, code = 'LIMIT'): Limit {
  return { code, reason }
}

/** The limit on the characters of a text that an expression makes. */
export const maxTextLength = 2_097_152

export function tooMuchText(): Limit {
  return thrownLimit(`it makes a text of more than ${maxTextLength} characters`)
}
