/** Owns sending: one part of a reply becomes one post. Source: Mattermost's API v4 reference and its server's source. */

import {
  type Channel,
  type ChannelHealth,
  callVendor,
  isPluginError,
  PluginError,
  type VendorAnswer,
} from '@reveille/kit'
import { failureOf, notMattermost } from './failure.ts'
import { mostParts, partLimit, renderReply } from './render.ts'
import { type MattermostTarget, parseTarget } from './target.ts'

export interface MattermostConfig {
  readonly baseUrl: string
  readonly token: string
  readonly defaultTo?: string
  /** Default: false. */
  readonly linkPreviews?: boolean
}

export interface MattermostOptions extends MattermostConfig {
  readonly fetch: typeof fetch
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

/**
 * A server remembers a `pending_post_id` for 30 s from when the post came in; this is less by what a repeat may take on
 * its way. Milliseconds.
 */
const windowMs = 20_000

/** Direct channels that are remembered; of more, the oldest is opened again. */
const directChannelsKept = 1000

interface ApiCall {
  readonly body?: object
  /** Whether it is the call that sends the post. Default: false. */
  readonly delivers?: boolean
  readonly signal: AbortSignal
}

/** What a schema cannot say. @throws PluginError */
export function checkConfig({ baseUrl, defaultTo }: MattermostConfig): void {
  const url = URL.parse(baseUrl)
  if (url === null || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new PluginError('`baseUrl` is to be an http or https address without user, query or fragment.', {
      code: 'bad-request',
      retryable: false,
    })
  }
  if (defaultTo === undefined) return
  try {
    parseTarget(defaultTo)
  } catch (error) {
    throw new PluginError(`\`defaultTo\` is no address. ${(error as Error).message}`, {
      code: 'bad-target',
      retryable: false,
      cause: error,
    })
  }
}

/** @throws PluginError for a configuration that `checkConfig` refuses */
export function createMattermostChannel(options: MattermostOptions): Channel {
  checkConfig(options)
  const { fetch, now, token, defaultTo, linkPreviews = false } = options
  const api = `${options.baseUrl.replace(/\/+$/, '').replace(/\/api\/v4$/, '')}/api/v4`
  const headers = { authorization: `Bearer ${token}` }
  /** By the target's key. */
  const directChannels = new Map<string, string>()
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
    const [oldest] = directChannels.keys()
    if (directChannels.size >= directChannelsKept && oldest !== undefined) directChannels.delete(oldest)
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
      const { create_at: at } = (answer.json ?? {}) as { create_at?: unknown }
      return { id: idIn(answer, true), ...(typeof at === 'number' && { at: new Date(at).toISOString() }) }
    },

    async check(signal): Promise<ChannelHealth> {
      try {
        const answer = await call('/users/me', { signal })
        const { username } = (answer.json ?? {}) as { username?: unknown }
        if (typeof username !== 'string') throw notMattermost(answer, false)
        return { ok: true, detail: `Known to Mattermost as @${username}.` }
      } catch (error) {
        if (!isPluginError(error)) throw error
        return { ok: false, detail: error.message }
      }
    },
  }
}

function idIn(answer: VendorAnswer, delivers: boolean): string {
  const { id } = (answer.json ?? {}) as { id?: unknown }
  if (typeof id === 'string' && id !== '') return id
  throw notMattermost(answer, delivers)
}
