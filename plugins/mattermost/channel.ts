/** Owns sending: one part of a reply becomes one post. Source: Mattermost's API v4 reference and its server's source. */

import {
  BoundedMap,
  type Channel,
  callVendor,
  healthOf,
  recordOf,
  timeOf,
  urlBelow,
  type VendorAnswer,
} from '@reveille/kit'
import { checkConfiguration, type MattermostConfig } from './configuration.ts'
import { failureOf, notMattermost } from './failure.ts'
import { mostParts, partLimit, renderReply } from './render.ts'
import { type MattermostTarget, parseTarget } from './target.ts'

export interface MattermostOptions {
  readonly config: MattermostConfig
  readonly fetch: typeof fetch
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

/**
 * A server remembers a `pending_post_id` for 30 s from when the post came in; this is less by what a repeat may take on
 * its way. Milliseconds.
 */
const windowMs = 20_000

/** More people than one gateway writes to. */
const mostKnown = 1000

interface ApiCall {
  readonly body?: object
  /** Whether it is the call that sends the post. Default: false. */
  readonly delivers?: boolean
  readonly signal: AbortSignal
}

/** @throws PluginError for a configuration that `checkConfiguration` refuses */
export function createMattermostChannel({ config, fetch, now }: MattermostOptions): Channel {
  checkConfiguration(config)
  const { token, defaultTo, linkPreviews } = config
  const api = urlBelow(config.baseUrl.replace(/\/+$/, '').replace(/\/api\/v4$/, ''), '/api/v4')
  const headers = { authorization: `Bearer ${token}` }
  /** By the target's key. */
  const directChannels = new BoundedMap<string, string>(mostKnown)
  let ownId: string | undefined

  /** @throws PluginError for every answer that is no success */
  async function call(path: string, { body, delivers = false, signal }: ApiCall): Promise<VendorAnswer> {
    const answer = await callVendor(fetch, { url: `${api}${path}`, headers, body, signal, delivers })
    if (answer.status >= 300) throw failureOf(answer, { now: now(), delivers })
    return answer
  }

  async function idOf(path: string, more: ApiCall): Promise<string> {
    return idIn(await call(path, more), false)
  }

  async function channelOf(target: MattermostTarget, signal: AbortSignal): Promise<string> {
    const { key, channelId, username } = target
    const known = channelId ?? directChannels.get(key)
    if (known !== undefined) return known
    const userId = target.userId ?? (await idOf(`/users/username/${username}`, { signal }))
    ownId ??= await idOf('/users/me', { signal })
    const opened = await idOf('/channels/direct', { body: [ownId, userId], signal })
    directChannels.set(key, opened)
    return opened
  }

  return {
    id: 'mattermost',
    limits: {
      part: partLimit,
      unit: 'characters',
      parts: mostParts,
      // What a server allows that limits at all and was not told otherwise (`RateLimitSettings.PerSec`).
      overall: { count: 10, ms: 1000 },
    },
    idempotency: { windowMs },
    defaultTo,
    target: parseTarget,
    render: (markdown) => renderReply(markdown, linkPreviews),

    async send(part, { target, key, signal }) {
      const to = target as MattermostTarget
      const post = {
        channel_id: await channelOf(to, signal),
        message: part.text,
        root_id: to.rootId,
        pending_post_id: key,
      }
      const answer = await call('/posts', { body: post, delivers: true, signal })
      return { id: idIn(answer, true), ...timeOf(recordOf(answer.json)?.['create_at']) }
    },

    check: (signal) =>
      healthOf(async () => {
        const answer = await call('/users/me', { signal })
        const username = recordOf(answer.json)?.['username']
        if (typeof username !== 'string') throw notMattermost(answer, false)
        return `Mattermost knows the token as @${username}.`
      }),
  }
}

function idIn(answer: VendorAnswer, delivers: boolean): string {
  const id = recordOf(answer.json)?.['id']
  if (typeof id === 'string' && id !== '') return id
  throw notMattermost(answer, delivers)
}
