/** Lets the library search with our regular expressions, which take linear time. */

import { type Regex, RegexLimitError } from '../../regex/regex.ts'
import { thrownLimit } from './limit.ts'

/** The part of the language's own object that the library uses. */
interface Engine {
  lastIndex: number
  exec(text: unknown): FoundParts | null
}

/** The match and its groups. */
type FoundParts = (string | undefined)[] & { index: number }

/** The library calls it with `new`, and gives it what stands in the program. */
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
