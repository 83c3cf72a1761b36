/** Owns the loop guard: a request that this gateway itself has caused is told apart from all others, and why. */

import type { HookRequest } from '@reveille/engine'
import type { OwnWords } from './own-words.ts'

/** Programs that a run starts may send it with what they post to hooks. */
export const runHeader = 'x-reveille-run'

/** The built-in bodies are written for us; whoever repeats our words there means it. */
const builtIn: ReadonlySet<string> = new Set(['wake', 'agent'])

/**
 * Why a request is ignored, in one sentence that quotes nothing of it; undefined where it is nobody's echo. A promise
 * only until what was said before this process is remembered.
 */
export type LoopIn = (request: HookRequest) => string | undefined | Promise<string | undefined>

/**
 * `remember` is called once, for the first request that may be an echo: a gateway that is only asked for wakes need
 * not read its past. It must not reject.
 */
export function createLoopGuard(words: OwnWords, remember: () => Promise<void>): LoopIn {
  let remembering: Promise<void> | undefined
  let isRemembered = false

  function echoIn(payload: unknown): string | undefined {
    if (words.isEmpty() || !words.finds(payload)) return undefined
    return 'it repeats what this gateway delivered within the last 24 hours'
  }

  return function loopIn({ endpoint, headers, payload }) {
    if (headers[runHeader]) return `a run of this gateway sent it: it has the header ${runHeader}`
    if (builtIn.has(endpoint)) return undefined
    if (isRemembered) return echoIn(payload)
    remembering ??= remember().then(() => {
      isRemembered = true
    })
    return remembering.then(() => echoIn(payload))
  }
}
