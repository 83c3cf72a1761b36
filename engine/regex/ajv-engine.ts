/** Owns how JSON Schema's `pattern` and `patternProperties` are matched: on the engine that every expression runs on. */

import { compileRegex } from './regex.ts'

/** What Ajv asks of the objects that its `code.regExp` gives. */
interface AjvRegExp {
  test(text: string): boolean
  /** Ajv keeps one object for each text that this gives. */
  toString(): string
}

/**
 * For Ajv's option `code: { regExp }`. Compiling a schema throws a `RegexSyntaxError` where the engine lacks what the
 * pattern uses; checking a payload throws a `RegexLimitError` where a text is too long to be searched.
 */
export const regExpEngineForAjv = Object.assign(
  (pattern: string): AjvRegExp => {
    const regex = compileRegex(pattern)
    return { test: (text) => regex.test(text), toString: () => `/${pattern}/` }
  },
  // Asked for only where Ajv writes modules out, which nobody here does.
  { code: 'regExpEngineForAjv' },
)
