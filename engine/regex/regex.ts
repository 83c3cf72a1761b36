/** Owns regular expressions that an author writes: matched in linear time, whatever text a stranger sends. */

import { checkDialect, readLibraryError } from './dialect.ts'
import { RegexLimitError, RegexSyntaxError } from './errors.ts'
import { createExistence } from './existence.ts'
import { compileWithLibrary, type Program } from './library.ts'
import { createSearch } from './search.ts'

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

function createRegex(source: string, program: Program): Regex {
  const exists = createExistence(program)
  const search = createSearch(program)
  return {
    source,
    test(text) {
      checkLength(text)
      return exists(text, 0) ?? search(text, 0) !== undefined
    },
    exec(text, from = 0) {
      checkLength(text)
      if (exists(text, from) === false) return undefined
      const bounds = search(text, from)
      return bounds && matchOf(text, bounds)
    },
  }
}

/** `bounds`: where the match and then each group begin and end. */
function matchOf(text: string, bounds: Int32Array): RegexMatch {
  const parts: (string | undefined)[] = []
  for (let at = 0; at < bounds.length; at += 2) {
    const [start = -1, end = -1] = bounds.subarray(at, at + 2)
    parts.push(start < 0 || end < 0 ? undefined : text.slice(start, end))
  }
  const [whole = '', ...groups] = parts
  return { index: bounds[0] ?? 0, text: whole, groups }
}

function checkLength(text: string): void {
  if (text.length <= longestSubject) return
  throw new RegexLimitError(`a text of more than ${longestSubject} characters is not searched`)
}

/** More would cost too much for each character of a text. */
const mostInstructions = 4_000
const mostGroups = 100

function compile(source: string, options: RegexOptions): Program {
  checkDialect(source)
  let program: Program
  try {
    program = compileWithLibrary(source, options)
  } catch (cause) {
    throw readLibraryError(cause, source)
  }
  const { size, groupCount } = program
  if (size <= mostInstructions && groupCount <= mostGroups) return program
  const hint = `Count less with {…}: written out, it may have ${mostInstructions} steps and ${mostGroups} groups.`
  throw new RegexSyntaxError('the regular expression is too large', 0, hint)
}
