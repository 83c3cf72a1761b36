/**
 * Sends replies to Mattermost: each part becomes one post.
 *
 * Source: Mattermost's reference of the API v4 and the source of its server.
 */

import {
  asRecord,
  BoundedMap,
  type Channel,
  callVendor,
  checkDefaultTo,
  healthOf,
  joinUrl,
  timeOf,
  type VendorAnswer,
  type VendorCall,
  type VendorContext,
} from '@reveille/kit'
import { errorFrom, notMattermost } from './errors.ts'
import { limits, rendererOf } from './render.ts'
import { type MattermostTarget, parseTarget } from './target.ts'

/** A configuration that `config.schema.json` has accepted, with its defaults filled in. */
export interface MattermostConfig {
  readonly baseUrl: string
  readonly token: string
  readonly defaultTo?: string
  readonly linkPreviews: boolean
}

/**
 * Milliseconds within which a repeated `pending_post_id` is safe to send. A server drops repeats for 30 s after the post arrived; the
 * remaining 10 s cover network delays.
 */
const windowMs = 20_000

/** Maximum number of cached direct channels; a gateway rarely writes to as many people. */
const maxDirectChannels = 1000

type ApiCall = Pick<VendorCall, 'body' | 'isDelivery' | 'signal'>

/** @throws PluginError `bad-target` if `defaultTo` is not an address of this channel */
export function createMattermostChannel({ config, fetch, now }: VendorContext<MattermostConfig>): Channel {
  const { token, defaultTo, linkPreviews } = config
  checkDefaultTo(defaultTo, parseTarget)
  const api = joinUrl(config.baseUrl.replace(/\/+$/, '').replace(/\/api\/v4$/, ''), '/api/v4')
  const headers = { authorization: `Bearer ${token}` }
  /** Ids of direct channels, by target key. */
  const directChannels = new BoundedMap<string, string>(maxDirectChannels)
  let ownId: string | undefined

  /** @throws PluginError for every answer that is not a success */
  async function call(path: string, { body, isDelivery = false, signal }: ApiCall): Promise<VendorAnswer> {
    const answer = await callVendor(fetch, { url: `${api}${path}`, headers, body, signal, isDelivery })
    if (answer.status >= 300) throw errorFrom(answer, { now: now(), isDelivery })
    return answer
  }

  async function fetchId(path: string, options: ApiCall): Promise<string> {
    return readId(await call(path, options))
  }

  async function channelOf(target: MattermostTarget, signal: AbortSignal): Promise<string> {
    const { key, channelId, username } = target
    const cached = channelId ?? directChannels.get(key)
    if (cached !== undefined) return cached
    const userId = target.userId ?? (await fetchId(`/users/username/${username}`, { signal }))
    ownId ??= await fetchId('/users/me', { signal })
    const directChannelId = await fetchId('/channels/direct', { body: [ownId, userId], signal })
    directChannels.set(key, directChannelId)
    return directChannelId
  }

  return {
    id: 'mattermost',
    limits: {
      ...limits,
      // The default of servers that limit requests (`RateLimitSettings.PerSec`).
      overall: { count: 10, ms: 1000 },
    },
    idempotency: { windowMs },
    defaultTo,
    target: parseTarget,
    render: rendererOf(linkPreviews),

    async send(part, { target, key, signal }) {
      const to = target as MattermostTarget
      const post = {
        channel_id: await channelOf(to, signal),
        message: part.text,
        root_id: to.rootId,
        pending_post_id: key,
      }
      const answer = await call('/posts', { body: post, isDelivery: true, signal })
      return { id: readId(answer, { isDelivery: true }), ...timeOf(asRecord(answer.json)?.['create_at']) }
    },

    check: (signal) =>
      healthOf(async () => {
        const answer = await call('/users/me', { signal })
        const username = asRecord(answer.json)?.['username']
        if (typeof username !== 'string') throw notMattermost(answer)
        return `The token belongs to @${username}.`
      }),
  }
}

function readId(answer: VendorAnswer, { isDelivery = false } = {}): string {
  const id = asRecord(answer.json)?.['id']
  if (typeof id === 'string' && id !== '') return id
  throw notMattermost(answer, { isDelivery })
}
