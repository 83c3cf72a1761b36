/** Sends replies to Discord: each part becomes one message of the bot, and only one if it is sent twice. */

import { createHash } from 'node:crypto'
import {
  asRecord,
  asString,
  BoundedMap,
  type Channel,
  callVendor,
  checkDefaultTo,
  healthOf,
  joinUrl,
  oneLine,
  type VendorAnswer,
  type VendorCall,
  type VendorContext,
} from '@reveille/kit'
import { errorFrom, paused } from './errors.ts'
import { createPauses } from './pauses.ts'
import { limits, renderReply } from './render.ts'
import { type DiscordTarget, parseTarget } from './target.ts'

/** A configuration that `config.schema.json` has accepted, with its defaults filled in. */
export interface DiscordConfig {
  readonly botToken: string
  readonly baseUrl: string
  readonly defaultTo?: string
  readonly linkPreviews: boolean
}

/**
 * Discord requires this form and blocks clients without it (discord.com/developers/docs/reference#user-agent). The address
 * must lead to a description of the software.
 */
export const userAgent = 'DiscordBot (https://www.npmjs.com/package/@reveille/plugin-discord, 0.1.0)'

/** Maximum length of a quoted name, in UTF-16 units. */
const maxNameLength = 80

/** The flag of a message whose links get no preview. */
const suppressEmbeds = 1 << 2

/** Maximum number of cached direct-message channels; more than one gateway opens. A forgotten one costs one more request. */
const maxDirectMessages = 1000

/**
 * Milliseconds within which a repeated nonce is safe to send. Discord only says that it compares nonces of "the past few minutes"
 * (discord.com/developers/docs/resources/message); two minutes are the least that can mean.
 */
const nonceWindowMs = 120_000

/** `now` is a monotonic clock. @throws PluginError `bad-target` if `defaultTo` is not an address of this channel */
export function createDiscordChannel({ config, fetch, now }: VendorContext<DiscordConfig>): Channel {
  const { botToken, baseUrl, defaultTo, linkPreviews } = config
  checkDefaultTo(defaultTo, parseTarget)
  const headers = { authorization: `Bot ${botToken}`, 'user-agent': userAgent }
  const pauses = createPauses(now)
  /** The channel of each user's direct message. */
  const directMessages = new BoundedMap<string, string>(maxDirectMessages)

  /** Posts to a path. Discord counts the requests of one `route` together. */
  async function post(
    route: string,
    path: string,
    call: Pick<VendorCall, 'body' | 'signal' | 'isDelivery'>,
  ): Promise<VendorAnswer> {
    const left = pauses.secondsLeft(route)
    if (left > 0) throw paused(left)
    const answer = await callVendor(fetch, { url: joinUrl(baseUrl, path), headers, ...call })
    // A refusal has the time that the host must wait.
    if (answer.status < 300) pauses.note(route, answer.headers)
    return answer
  }

  /** Returns the channel of a user's direct message. Opening it again returns the same one. */
  async function directMessageWith(user: string, signal: AbortSignal): Promise<string> {
    const channelId = directMessages.get(user)
    if (channelId !== undefined) return channelId
    const call = { body: { recipient_id: user }, signal, isDelivery: false }
    const answer = await post('direct-messages', '/users/@me/channels', call)
    const id = idOf(answer)
    if (id === undefined) throw errorFrom(answer, { token: botToken, isDelivery: false })
    directMessages.set(user, id)
    return id
  }

  return {
    id: 'discord',
    // The limit for a channel is the one that Discord's headers have shown for years; the overall limit is documented.
    limits: {
      ...limits,
      perTarget: { count: 5, ms: 5000 },
      overall: { count: 50, ms: 1000 },
    },
    idempotency: { windowMs: nonceWindowMs },
    defaultTo,
    target: parseTarget,
    render: renderReply,
    async send(part, { target, key, signal }) {
      const { kind, id } = target as DiscordTarget
      const channel = kind === 'user' ? await directMessageWith(id, signal) : id
      const message = {
        content: part.text,
        nonce: nonceOf(key),
        enforce_nonce: true,
        allowed_mentions: { parse: [] },
        flags: linkPreviews ? 0 : suppressEmbeds,
      }
      const answer = await post(channel, `/channels/${channel}/messages`, { body: message, signal })
      const sent = idOf(answer)
      if (sent !== undefined) return { id: sent, ...timeOf(answer) }
      if (answer.status === 404) directMessages.delete(id)
      throw errorFrom(answer, { token: botToken })
    },
    check: (signal) =>
      healthOf(async () => {
        const answer = await callVendor(fetch, { url: joinUrl(baseUrl, '/users/@me'), headers, signal })
        const id = idOf(answer)
        if (id === undefined) throw errorFrom(answer, { token: botToken, isDelivery: false })
        const name = oneLine(asString(asRecord(answer.json)?.['username']) ?? 'a bot', maxNameLength)
        return `The token belongs to ${name} (${id}).`
      }),
  }
}

/** Returns 24 of the 25 characters that a nonce may have: 144 bits, so that no two parts share one. */
function nonceOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 24)
}

function idOf({ status, json }: VendorAnswer): string | undefined {
  const id = status === 200 || status === 201 ? asRecord(json)?.['id'] : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}

function timeOf({ json }: VendorAnswer): { at?: string } {
  const at = asRecord(json)?.['timestamp']
  return typeof at === 'string' && !Number.isNaN(Date.parse(at)) ? { at } : {}
}
