/** Reads the errors of the library, which are Error objects or plain ones, with their places. */

export interface Fault {
  readonly code: string | undefined
  /** The library's sentence, which may quote a value. */
  readonly message: string
  /** The reason in an error of our own, which quotes no value. */
  readonly reason: string | undefined
  readonly position: number | undefined
  readonly token: string
  /** The number of the argument, from 1. */
  readonly index: number | undefined
  /** The type that the list should hold, in the plural. */
  readonly type: string | undefined
  readonly value: unknown
  readonly value2: unknown
}

/** The codes in the library's documentation, and our own. */
const knownCode = /^(?:[A-Z]\d{4}|LIMIT)$/

export function readFault(cause: unknown): Fault {
  const thrown = (typeof cause === 'object' && cause !== null ? cause : {}) as Readonly<
    Record<string, unknown>
  >
  const { code, message, reason, position, token, index, type, value, value2 } = thrown
  return {
    code: typeof code === 'string' && knownCode.test(code) ? code : undefined,
    message: typeof message === 'string' ? message : 'the expression cannot be read',
    reason: typeof reason === 'string' ? reason : undefined,
    position: typeof position === 'number' ? position : undefined,
    token: typeof token === 'string' ? token : '',
    index: typeof index === 'number' ? index : undefined,
    type: typeof type === 'string' ? type : undefined,
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
