/** Registers the push handlers of sources: at most one for each endpoint. */

import { permanentError } from '@reveille/kit'
import type { PushHandler } from '../http/index.ts'

export type PushHandlers = ReturnType<typeof createPushHandlers>

/** The gateway's own endpoints, which no source can take over. */
const reserved = new Set(['wake', 'agent'])

export function createPushHandlers() {
  const claimed = new Map<string, PushHandler>()
  return {
    /** @throws PluginError `bad-endpoint`, `endpoint-taken` */
    claim(endpoint: string, pushHandler: PushHandler) {
      if (typeof endpoint !== 'string' || !/^[^/\s](.*[^/\s])?$/.test(endpoint) || reserved.has(endpoint))
        throw permanentError(
          'bad-endpoint',
          `No source can take over the endpoint ${JSON.stringify(endpoint)}.`,
        )
      if (claimed.has(endpoint))
        throw permanentError(
          'endpoint-taken',
          `The endpoint ${JSON.stringify(endpoint)} is taken over already.`,
        )
      claimed.set(endpoint, pushHandler)
    },
    /** Removes these handlers. */
    release(pushHandlers: ReadonlySet<PushHandler>) {
      for (const [endpoint, pushHandler] of claimed)
        if (pushHandlers.has(pushHandler)) claimed.delete(endpoint)
    },
    handlerOf: (endpoint: string): PushHandler | undefined => claimed.get(endpoint),
  }
}
