/** Ends an evaluation that a payload makes too large, with an error in the form of the library's own. */

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
