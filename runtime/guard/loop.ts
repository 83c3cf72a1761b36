/** Owns the loop guard: a request that this gateway itself has caused is told apart from all others, and why. */

import type { HookRequest } from '@reveille/engine'
import type { OwnWords } from './own-words.ts'

/** Programs that a run starts may send it with what they post to hooks. */
export const runHeader = 'x-reveille-run'

/** The built-in bodies are written for us; whoever repeats our words there means it. */
const builtIn: ReadonlySet<string> = new Set(['wake', 'agent'])

/** @returns why the request is ignored, in one sentence that quotes nothing of it; undefined where it is nobody's echo */
export function createLoopGuard(words: OwnWords): (request: HookRequest) => string | undefined {
  return function loopIn({ endpoint, headers, payload }) {
    if (headers[runHeader]) return `a run of this gateway sent it: it has the header ${runHeader}`
    if (words.isEmpty() || builtIn.has(endpoint) || !words.finds(payload)) return undefined
    return 'it repeats what this gateway delivered within the last 24 hours'
  }
}
