/** Makes the library search with our regular expressions, which take linear time. */

import { type Regex, RegexLimitError } from '../../regex/regex.ts'
import { thrownLimit } from './fault.ts'

/** The part of JavaScript's RegExp that the library uses. */
interface Engine {
  lastIndex: number
  exec(text: unknown): FoundParts | null
}

/** The match and its groups. */
type FoundParts = (string | undefined)[] & { index: number }

/** The library calls this with `new` and the regular expression of the program. */
export function regexEngine(regex: Regex): Engine {
  const engine: Engine = {
    lastIndex: 0,
    exec(text) {
      const found = typeof text === 'string' ? execute(regex, text, engine.lastIndex) : undefined
      if (found === undefined) {
        engine.lastIndex = 0
        return null
      }
      engine.lastIndex = found.index + found.text.length
      return Object.assign([found.text, ...found.groups], { index: found.index })
    },
  }
  return engine
}

function execute(regex: Regex, text: string, from: number): ReturnType<Regex['exec']> {
  if (from > text.length) return undefined
  try {
    return regex.exec(text, from)
  } catch (error) {
    if (error instanceof RegexLimitError) throw thrownLimit(error.message)
    throw error
  }
}
