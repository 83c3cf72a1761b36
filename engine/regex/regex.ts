/** Owns regular expressions that an author writes: matched in linear time, whatever text a stranger sends. */

import { RE2JS } from 're2js'

/** Longer texts are not searched, in UTF-16 units. */
export const longestSubject = 262_144

/** An expression that cannot be compiled. `offset` is in UTF-16 units of its source. */
export class RegexSyntaxError extends Error {
  readonly offset: number

  constructor(message: string, offset: number, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RegexSyntaxError'
    this.offset = offset
  }
}

/** A text that is too long to be searched. */
export class RegexLimitError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RegexLimitError'
  }
}

export interface Regex {
  readonly source: string
  /** Whether it matches anywhere in the text. @throws RegexLimitError */
  test(text: string): boolean
}

/** @throws RegexSyntaxError */
export function compileRegex(source: string): Regex {
  const compiled = compile(source)
  return {
    source,
    test(text) {
      if (text.length > longestSubject) {
        throw new RegexLimitError(`a text of more than ${longestSubject} characters is not searched`)
      }
      return compiled.test(text)
    },
  }
}

function compile(source: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (cause) {
    throw new RegexSyntaxError(cause instanceof Error ? cause.message : 'cannot be read', 0, { cause })
  }
}
