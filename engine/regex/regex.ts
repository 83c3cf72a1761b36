/** Matches regular expressions of authors in linear time, whatever text an unauthenticated client sends. */

import { RE2JS } from 're2js'
import { checkEscapes, readLibraryError } from './dialect.ts'
import { RegexLimitError, RegexSyntaxError } from './errors.ts'

export { RegexLimitError, RegexSyntaxError } from './errors.ts'

/** Longer texts are refused. In UTF-16 units. */
export const maxSubjectLength = 262_144

export interface RegexOptions {
  readonly ignoreCase?: boolean
  /** True if `^` and `$` also match at line ends. */
  readonly multiline?: boolean
}

interface RegexMatch {
  /** The index in UTF-16 units. */
  readonly index: number
  readonly text: string
  /** The text of each `(…)`, or undefined if the group did not take part in the match. */
  readonly groups: readonly (string | undefined)[]
}

export interface Regex {
  readonly source: string
  /** True if searching the text may take more than some milliseconds. */
  isSlow(text: string): boolean
  /** True if the expression matches anywhere in the text. @throws RegexLimitError */
  test(text: string): boolean
  /**
   * Returns the first match that begins at `from` or after it. `^` still means the beginning of the text. @throws
   * RegexLimitError
   */
  exec(text: string, from?: number): RegexMatch | undefined
}

/**
 * The limit suffices for any configuration, and keeps a lint or a test with generated expressions from filling the
 * memory.
 */
const maxKept = 2_000
const kept = new Map<string, Regex>()

/** Compiles each expression once. @throws RegexSyntaxError */
export function compileRegex(source: string, options: RegexOptions = {}): Regex {
  const key = `${options.ignoreCase === true ? 'i' : ''}${options.multiline === true ? 'm' : ''}/${source}`
  const cached = kept.get(key)
  if (cached !== undefined) return cached
  const regex = createRegex(source, compile(source, options))
  if (kept.size >= maxKept) kept.clear()
  kept.set(key, regex)
  return regex
}

/**
 * The limit on the product of the expression's steps and the text's characters. The library takes up to 60 ns for each
 * where an expression gives its automaton too many states, and a hundredth of that otherwise.
 */
const maxQuickSteps = 500_000

function createRegex(source: string, compiled: RE2JS): Regex {
  const size = compiled.programSize()
  return {
    source,
    isSlow: (text) => text.length * size > maxQuickSteps,
    test(text) {
      checkLength(text)
      return compiled.test(text)
    },
    exec(text, from = 0) {
      checkLength(text)
      const matcher = compiled.matcher(text)
      if (!matcher.find(from)) return undefined
      const groups = Array.from(
        { length: matcher.groupCount() },
        (_, at) => matcher.group(at + 1) ?? undefined,
      )
      return { index: matcher.start(), text: matcher.group() ?? '', groups }
    },
  }
}

function checkLength(text: string): void {
  if (text.length <= maxSubjectLength) return
  throw new RegexLimitError(`a text of more than ${maxSubjectLength} characters is not searched`)
}

/** A larger program would take too long for each character of a text. */
const maxInstructions = 4_000
const maxGroups = 100

function compile(source: string, { ignoreCase, multiline }: RegexOptions): RE2JS {
  checkEscapes(source)
  const flags =
    (ignoreCase === true ? RE2JS.CASE_INSENSITIVE : 0) | (multiline === true ? RE2JS.MULTILINE : 0)
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(RE2JS.translateRegExp(source), flags)
  } catch (cause) {
    throw readLibraryError(cause, source)
  }
  if (compiled.programSize() <= maxInstructions && compiled.groupCount() <= maxGroups) return compiled
  const hint = `Count less with {…}: written out, it may have ${maxInstructions} steps and ${maxGroups} groups.`
  throw new RegexSyntaxError('the regular expression is too large', 0, hint)
}
