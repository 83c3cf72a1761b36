/** Matches regular expressions that an author writes in linear time, whatever text a stranger sends. */

import { RE2JS } from 're2js'
import { checkDialect, readLibraryError } from './dialect.ts'
import { RegexLimitError, RegexSyntaxError } from './errors.ts'

export { RegexLimitError, RegexSyntaxError } from './errors.ts'

/** Longer texts are not searched, in UTF-16 units. */
export const longestSubject = 262_144

export interface RegexOptions {
  readonly ignoreCase?: boolean
  /** `^` and `$` are true at line ends too. */
  readonly multiline?: boolean
}

interface RegexMatch {
  /** In UTF-16 units. */
  readonly index: number
  readonly text: string
  /** What each `(…)` took; nothing for one that took no part. */
  readonly groups: readonly (string | undefined)[]
}

export interface Regex {
  readonly source: string
  /** Whether searching the text can take more than some milliseconds. */
  isSlow(text: string): boolean
  /** Whether it matches anywhere in the text. @throws RegexLimitError */
  test(text: string): boolean
  /** The first match that begins at `from` or after it; `^` still means the beginning of the text. @throws RegexLimitError */
  exec(text: string, from?: number): RegexMatch | undefined
}

/** Enough for any configuration; a lint or a test that makes expressions up cannot fill the memory. */
const mostKept = 2_000
const kept = new Map<string, Regex>()

/** Compiles each expression once. @throws RegexSyntaxError */
export function compileRegex(source: string, options: RegexOptions = {}): Regex {
  const key = `${options.ignoreCase === true ? 'i' : ''}${options.multiline === true ? 'm' : ''}/${source}`
  const known = kept.get(key)
  if (known !== undefined) return known
  const regex = createRegex(source, compile(source, options))
  if (kept.size >= mostKept) kept.clear()
  kept.set(key, regex)
  return regex
}

/**
 * Steps of the expression times characters of the text. The library takes up to 60 ns for each where an expression gives
 * its automaton too many states, and a hundredth of that otherwise.
 */
const mostQuickSteps = 500_000

function createRegex(source: string, compiled: RE2JS): Regex {
  const size = compiled.programSize()
  return {
    source,
    isSlow: (text) => text.length * size > mostQuickSteps,
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
  if (text.length <= longestSubject) return
  throw new RegexLimitError(`a text of more than ${longestSubject} characters is not searched`)
}

/** More would cost too much for each character of a text. */
const mostInstructions = 4_000
const mostGroups = 100

function compile(source: string, { ignoreCase, multiline }: RegexOptions): RE2JS {
  checkDialect(source)
  const flags =
    (ignoreCase === true ? RE2JS.CASE_INSENSITIVE : 0) | (multiline === true ? RE2JS.MULTILINE : 0)
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(RE2JS.translateRegExp(source), flags)
  } catch (cause) {
    throw readLibraryError(cause, source)
  }
  if (compiled.programSize() <= mostInstructions && compiled.groupCount() <= mostGroups) return compiled
  const hint = `Count less with {…}: written out, it may have ${mostInstructions} steps and ${mostGroups} groups.`
  throw new RegexSyntaxError('the regular expression is too large', 0, hint)
}
