/** Owns sending to Discord: one part, one message of the bot, once even where it is sent twice. */

import { createHash } from 'node:crypto'
import {
  type Channel,
  callVendor,
  healthOf,
  oneLine,
  recordOf,
  textOf,
  urlBelow,
  type VendorAnswer,
  type VendorCall,
} from '@reveille/kit'
import { checkConfiguration, type DiscordConfig } from './configuration.ts'
import { createDirectMessages } from './direct-messages.ts'
import { failureOf, paused } from './failure.ts'
import { createPauses } from './pauses.ts'
import { mostParts, partLimit, renderReply } from './render.ts'
import { type DiscordTarget, parseTarget } from './target.ts'

export interface DiscordOptions {
  readonly config: DiscordConfig
  readonly fetch: typeof fetch
  /** Milliseconds of a clock that nobody sets. */
  readonly now: () => number
}

/**
 * Discord demands this form and shuts out what does not have it (discord.com/developers/docs/reference#user-agent). The
 * address is to be one where the software is described.
 */
export const userAgent = 'DiscordBot (https://www.npmjs.com/package/@reveille/plugin-discord, 0.1.0)'

/** Of a name in our sentence. Characters. */
const longestName = 80

/** Of a message: its links are not looked up and shown. */
const suppressEmbeds = 1 << 2

/**
 * Discord compares a nonce with those of "the past few minutes" (discord.com/developers/docs/resources/message) and says no
 * more. Two minutes are the least that can mean, so that nobody trusts it when it is over. Milliseconds.
 */
const nonceWindowMs = 120_000

/** @throws PluginError for a configuration that `checkConfiguration` refuses */
export function createDiscordChannel({ config, fetch, now }: DiscordOptions): Channel {
  checkConfiguration(config)
  const { botToken, baseUrl, defaultTo, linkPreviews } = config
  const headers = { authorization: `Bot ${botToken}`, 'user-agent': userAgent }
  const pauses = createPauses(now)

  /** `route`: what Discord counts together. */
  async function post(
    route: string,
    path: string,
    call: Pick<VendorCall, 'body' | 'signal' | 'delivers'>,
  ): Promise<VendorAnswer> {
    const left = pauses.secondsLeft(route)
    if (left > 0) throw paused(left)
    const answer = await callVendor(fetch, { url: urlBelow(baseUrl, path), headers, ...call })
    // A refusal tells the host itself.
    if (answer.status < 300) pauses.note(route, answer.headers)
    return answer
  }

  const directMessages = createDirectMessages(async (user, signal) => {
    const call = { body: { recipient_id: user }, signal, delivers: false }
    const answer = await post('direct-messages', '/users/@me/channels', call)
    const id = idOf(answer)
    if (id === undefined) throw failureOf(answer, { token: botToken, delivers: false })
    return id
  })

  return {
    id: 'discord',
    // Per channel as Discord's headers have it for years; in all as it is documented.
    limits: {
      part: partLimit,
      unit: 'characters',
      parts: mostParts,
      perTarget: { count: 5, ms: 5000 },
      overall: { count: 50, ms: 1000 },
    },
    idempotency: { windowMs: nonceWindowMs },
    defaultTo,
    target: parseTarget,
    render: renderReply,
    async send(part, { target, key, signal }) {
      const { kind, id } = target as DiscordTarget
      const channel = kind === 'user' ? await directMessages.channelOf(id, signal) : id
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
      if (answer.status === 404) directMessages.forget(id)
      throw failureOf(answer, { token: botToken })
    },
    check: (signal) =>
      healthOf(async () => {
        const answer = await callVendor(fetch, { url: urlBelow(baseUrl, '/users/@me'), headers, signal })
        const id = idOf(answer)
        if (id === undefined) throw failureOf(answer, { token: botToken, delivers: false })
        const name = oneLine(textOf(recordOf(answer.json)?.['username']) ?? 'a bot', longestName)
        return `Discord knows the token as ${name} (${id}).`
      }),
  }
}

/** 24 of the 25 characters that a nonce may have: 144 bits, so that no two parts share one. */
function nonceOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 24)
}

function idOf({ status, json }: VendorAnswer): string | undefined {
  const id = status === 200 || status === 201 ? recordOf(json)?.['id'] : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}

function timeOf({ json }: VendorAnswer): { at?: string } {
  const at = recordOf(json)?.['timestamp']
  return typeof at === 'string' && !Number.isNaN(Date.parse(at)) ? { at } : {}
}
