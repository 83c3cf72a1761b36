/** Finds the requests that this gateway itself has caused, and says why. */

import type { HookRequest } from '@reveille/engine'
import type { SentMessages } from './sent-messages.ts'

/** A program that a run starts may send this header with what it posts to hooks. */
export const runHeader = 'x-reveille-run'

/** Senders write the bodies of these endpoints for the gateway, so a repeated message is meant there. */
const builtIn: ReadonlySet<string> = new Set(['wake', 'agent'])

/**
 * Reason why a request is ignored, in one sentence that quotes nothing of it, or undefined. It is a promise only until the messages that
 * were sent before this process started are loaded.
 */
export type LoopIn = (request: HookRequest) => string | undefined | Promise<string | undefined>

/**
 * `load` loads the messages that were sent before this process started. It is called once, for the first request that may be an
 * echo, so that a gateway that only takes wakes reads nothing. It must not reject.
 */
export function createLoopGuard(sent: SentMessages, load: () => Promise<void>): LoopIn {
  let loading: Promise<void> | undefined
  let isLoaded = false

  function echoIn(request: HookRequest): string | undefined {
    if (sent.isEmpty() || !sent.isEchoedIn(request.payload)) return undefined
    return 'it repeats what this gateway delivered within the last 24 hours'
  }

  return function loopIn(request) {
    const { endpoint, headers } = request
    if (headers[runHeader]) return `a run of this gateway sent it: it has the header ${runHeader}`
    if (builtIn.has(endpoint)) return undefined
    if (isLoaded) return echoIn(request)
    loading ??= load().then(() => {
      isLoaded = true
    })
    return loading.then(() => echoIn(request))
  }
}
