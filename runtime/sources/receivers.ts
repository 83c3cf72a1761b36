/** Owns which source has taken over which endpoint: one at most. */

import { PluginError } from '@reveille/kit'
import type { Receiver } from '../http/index.ts'

export interface Receivers {
  /** @throws PluginError `bad-endpoint`, `endpoint-taken` */
  claim(endpoint: string, receiver: Receiver): void
  /** All of those, at once. */
  release(receivers: ReadonlySet<Receiver>): void
  of(endpoint: string): Receiver | undefined
}

/** They are the gateway's own. */
const reserved = new Set(['wake', 'agent'])

export function createReceivers(): Receivers {
  const claimed = new Map<string, Receiver>()
  return {
    claim(endpoint, receiver) {
      if (typeof endpoint !== 'string' || !/^[^/\s](.*[^/\s])?$/.test(endpoint) || reserved.has(endpoint))
        throw refusal('bad-endpoint', `No source can take over the endpoint ${JSON.stringify(endpoint)}.`)
      if (claimed.has(endpoint))
        throw refusal('endpoint-taken', `The endpoint ${JSON.stringify(endpoint)} is taken over already.`)
      claimed.set(endpoint, receiver)
    },
    release(receivers) {
      for (const [endpoint, receiver] of claimed) if (receivers.has(receiver)) claimed.delete(endpoint)
    },
    of: (endpoint) => claimed.get(endpoint),
  }
}

function refusal(code: string, message: string): PluginError {
  return new PluginError(message, { code, retryable: false })
}
