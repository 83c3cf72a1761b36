/** Ends an evaluation that a payload makes too large, in the form of the library's own errors. */

/** `reason` continues the sentence "the expression failed: ". */
interface Limit {
  readonly code: string
  readonly reason: string
}

/** Nothing here quotes a value. The library adds position and token on its way out, so it cannot be frozen. */
export function thrownLimit(reason: string, code = 'LIMIT'): Limit {
  return { code, reason }
}

/** Characters of a text that an expression makes. */
export const mostText = 2_097_152

export function tooMuchText(): Limit {
  return thrownLimit(`it makes a text of more than ${mostText} characters`)
}
