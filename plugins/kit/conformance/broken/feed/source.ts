/** A source that keeps every promise, which the broken ones modify. It asks a feed for new events. */

import { PluginError } from '../../../plugin-error.ts'
import type { Source, SourceCall } from '../../../source.ts'

export interface FeedConfig {
  readonly token: string
  readonly baseUrl: string
  readonly everySeconds: number
  readonly breaks?: string
}

export interface FeedEvent {
  readonly number: number
  readonly text: string
}

export async function ask(
  { baseUrl, token }: FeedConfig,
  fetch: typeof globalThis.fetch,
  after: number,
  signal: AbortSignal,
) {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${baseUrl}/events?after=${after}`, { headers, signal })
  if (response.ok) return (await response.json()) as readonly FeedEvent[]
  throw new PluginError(`The feed answered with the status ${response.status}.`, {
    code: 'unavailable',
    retryable: true,
  })
}

export async function post(events: readonly FeedEvent[], call: SourceCall): Promise<void> {
  const { status, retryAfter } = await call.post('feed', { events })
  if (status < 500 && ![404, 429].includes(status)) return
  throw new PluginError(`The gateway answered with the status ${status}.`, {
    code: 'not-taken',
    retryable: true,
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

export function createFeed(config: FeedConfig, fetch: typeof globalThis.fetch): Source {
  return {
    id: 'feed',
    async run(call) {
      const { storage, signal, clock } = call
      let after = Number((await storage.read('cursor')) ?? 0)
      while (!signal.aborted) {
        for (const event of await ask(config, fetch, after, signal)) {
          await post([event], call)
          after = event.number
          await storage.write('cursor', after)
        }
        call.report({
          state: 'working',
          detail: 'All is well.',
          times: { asked: clock.now() },
          counts: { after },
        })
        await clock.sleep(config.everySeconds * 1000, signal)
      }
    },
  }
}
