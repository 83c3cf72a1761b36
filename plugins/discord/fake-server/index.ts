/**
 * A fake of Discord's HTTP API, as its developer documentation describes it, with routes, refusals, rate limits, and a memory
 * of messages and nonces.
 */

import { asRecord, type Facts, type Part } from '@reveille/kit'
import {
  type FakeServerAnswer,
  type FakeServerRequest,
  openFakeServer,
  type VendorMessage,
} from '@reveille/kit/fake-server'
import { readMarkup } from './markup.ts'

export interface DiscordMessage extends VendorMessage {
  readonly id: string
  readonly content: string
  readonly flags: number
  /** The mentions shown in the message, including those that do not notify. */
  readonly mentions: readonly string[]
  readonly links: readonly { readonly label: string; readonly address: string }[]
}

export interface FakeDiscordOptions {
  /** Rate limit of one channel: messages per seconds. Default: 1000 in 5, which no test reaches by chance. */
  readonly bucket?: { readonly count: number; readonly seconds: number }
}

/** Returns what a person reads of a part. */
export function visibleText({ text }: Part): string {
  return readMarkup(text).text
}

const token = 'MTMwMDAwMDAwMDAwMDAwMDAwMQ.fake.discord-bot-token'
const bot = '1300000000000000001'
const openChannel = '1400000000000000001'
const thread = '1400000000000000002'
const hiddenChannel = '1400000000000000003'
const readOnlyChannel = '1400000000000000004'
const friend = '1500000000000000001'
const outsider = '1500000000000000002'
const maxMessageLength = 2000
const maxNonceLength = 25
/** Discord's "past few minutes", in milliseconds. */
const nonceMemoryMs = 180_000

export async function openVendor({ bucket = { count: 1000, seconds: 5 } }: FakeDiscordOptions = {}) {
  const messages: DiscordMessage[] = []
  const pings: string[] = []
  const nonces = new Map<string, { readonly message: DiscordMessage; readonly at: number }>()
  const directChannels = new Map<string, string>()
  const buckets = new Map<string, { left: number; endsAt: number }>()
  let lastId = 1_600_000_000_000_000_000n

  const fakeServer = await openFakeServer({ answer, isSend: ({ path }) => path.endsWith('/messages') })

  function answer(request: FakeServerRequest): FakeServerAnswer {
    const { method, path } = request
    if (!/^DiscordBot \(\S+, [^()\s]+\)/.test(request.headers['user-agent'] ?? '')) {
      return refusal(403, 40333, 'internal network error')
    }
    if (request.headers['authorization'] !== `Bot ${token}`) return badCredential
    const route = `${method} ${path.replace(/^\/api\/v10/, '')}`
    if (route === 'GET /users/@me') return { body: self }
    const [, channel] = /^POST \/channels\/([^/]+)\/messages$/.exec(route) ?? []
    if (channel === undefined && route !== 'POST /users/@me/channels')
      return refusal(404, 0, '404: Not Found')
    const body = asRecord(request.json)
    if (!/^application\/json(;|$)/.test(request.headers['content-type'] ?? '') || body === undefined) {
      return refusal(400, 50109, 'The request body contains invalid JSON.')
    }
    return channel === undefined ? openDirectChannel(body) : limited(channel, body)
  }

  function openDirectChannel({ recipient_id: user }: Facts): FakeServerAnswer {
    if (typeof user !== 'string' || !isSnowflake(user)) return formError('recipient_id', 'NUMBER_TYPE_COERCE')
    if (user !== friend && user !== outsider) return refusal(400, 50033, 'Invalid Recipient(s)')
    const id = directChannels.get(user) ?? String(++lastId)
    directChannels.set(user, id)
    return { body: { id, type: 1, last_message_id: null, flags: 0, recipients: [{ ...self, id: user }] } }
  }

  /** Applies the rate limit of a channel and reports it in headers. */
  function limited(channel: string, body: Facts): FakeServerAnswer {
    const now = performance.now()
    const known = buckets.get(channel)
    const state =
      known !== undefined && known.endsAt > now
        ? known
        : { left: bucket.count, endsAt: now + bucket.seconds * 1000 }
    buckets.set(channel, state)
    const after = (state.endsAt - now) / 1000
    if (state.left === 0) return rateLimited(after)
    state.left -= 1
    const headers = {
      'x-ratelimit-limit': String(bucket.count),
      'x-ratelimit-remaining': String(state.left),
      'x-ratelimit-reset-after': after.toFixed(3),
      'x-ratelimit-reset': (Date.now() / 1000 + after).toFixed(3),
      'x-ratelimit-bucket': 'create-message',
    }
    const given = createMessage(channel, body)
    return { ...given, headers: { ...given.headers, ...headers } }
  }

  function createMessage(channel: string, body: Facts): FakeServerAnswer {
    if (!isSnowflake(channel)) return formError('channel_id', 'NUMBER_TYPE_COERCE')
    const { content = '', nonce, enforce_nonce: isEnforced, flags = 0, allowed_mentions: allowed } = body
    if (channel === hiddenChannel) return refusal(403, 50001, 'Missing Access')
    if (channel === readOnlyChannel) return forbidden
    if (channel === directChannels.get(outsider)) {
      return refusal(403, 50007, 'Cannot send messages to this user')
    }
    const isKnown = channel === openChannel || channel === thread || channel === directChannels.get(friend)
    if (!isKnown) return refusal(404, 10003, 'Unknown Channel')

    if (typeof content !== 'string') return formError('content', 'STRING_TYPE_CONVERT')
    if (content.trim() === '') return refusal(400, 50006, 'Cannot send an empty message')
    if (Array.from(content).length > maxMessageLength) {
      return formError('content', 'BASE_TYPE_MAX_LENGTH', `Must be ${maxMessageLength} or fewer in length.`)
    }
    if (nonce !== undefined && typeof nonce !== 'string' && !Number.isSafeInteger(nonce)) {
      return formError('nonce', 'NONCE_TYPE_INVALID')
    }
    if (typeof nonce === 'string' && nonce.length > maxNonceLength) {
      return formError('nonce', 'BASE_TYPE_MAX_LENGTH', `Must be ${maxNonceLength} or fewer in length.`)
    }
    if (!Number.isSafeInteger(flags)) return formError('flags', 'NUMBER_TYPE_COERCE')
    const mentionRules = asRecord(allowed) ?? { parse: ['everyone', 'roles', 'users'] }
    const { parse = [] } = mentionRules as Facts
    if (!Array.isArray(parse)) return formError('allowed_mentions.parse', 'BASE_TYPE_BAD_TYPE')

    const known = isEnforced === true ? nonces.get(String(nonce)) : undefined
    if (known !== undefined && performance.now() - known.at < nonceMemoryMs) {
      return { body: messageBody(known.message) }
    }
    const { text, mentions, links } = readMarkup(content)
    const id = String(++lastId)
    const message = { to: channel, text, id, content, flags: Number(flags), mentions, links }
    pings.push(...mentions.filter((mention) => parse.includes(kindOf(mention))))
    messages.push(message)
    if (nonce !== undefined) nonces.set(String(nonce), { message, at: performance.now() })
    return { body: messageBody(message) }
  }

  return {
    ...fakeServer,
    messages,
    pings,
    config: { botToken: token, baseUrl: `${fakeServer.url}/api/v10` },
    secrets: [token],
    to: `channel:${openChannel}`,
    unknownTo: 'channel:1499999999999999999',
    threadTo: `channel:${thread}`,
    /** The address of a user whom the bot may write to. */
    userTo: `user:${friend}`,
    refusals: {
      badCredential,
      forbidden,
      rateLimited,
      serverError: refusal(500, 0, '500: Internal Server Error'),
    },
  }
}

const absentFacts = { global_name: null, avatar: null, primary_guild: null, email: null }
const zeroFacts = { discriminator: '0', public_flags: 0, flags: 0, premium_type: 0 }
const ownFacts = { bot: true, verified: true, mfa_enabled: false, locale: 'en-US' }
const self = { id: bot, username: 'hooks', ...ownFacts, ...absentFacts, ...zeroFacts }

const badCredential = refusal(401, 0, '401: Unauthorized')
const forbidden = refusal(403, 50013, 'Missing Permissions')

function refusal(status: number, code: number, message: string): FakeServerAnswer {
  return { status, body: { message, code } }
}

/** Builds a form error, whose code and sentence are at the field, however deep it is nested. */
function formError(field: string, code: string, message = 'The value is not valid.'): FakeServerAnswer {
  const errors = field
    .split('.')
    .reduceRight<object>((within, name) => ({ [name]: within }), { _errors: [{ code, message }] })
  return { status: 400, body: { message: 'Invalid Form Body', code: 50035, errors } }
}

function rateLimited(seconds: number): FakeServerAnswer {
  return {
    status: 429,
    headers: {
      'retry-after': String(Math.ceil(seconds)),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset-after': String(seconds),
      'x-ratelimit-scope': 'user',
    },
    body: { message: 'You are being rate limited.', retry_after: seconds, global: false },
  }
}

function messageBody({ id, to, content, flags }: DiscordMessage): object {
  const times = { timestamp: '2026-01-01T00:00:00.000000+00:00', edited_timestamp: null }
  const absent = { tts: false, mention_everyone: false, pinned: false, mentions: [], mention_roles: [] }
  const parts = { attachments: [], embeds: [], components: [] }
  return { id, channel_id: to, type: 0, content, flags, author: self, ...times, ...absent, ...parts }
}

/** Returns the kind of a mention in the words of `allowed_mentions.parse`, or an empty string if it never notifies. */
function kindOf(mention: string): string {
  if (mention.startsWith('@')) return 'everyone'
  if (mention.startsWith('<@&')) return 'roles'
  return mention.startsWith('<@') ? 'users' : ''
}

function isSnowflake(text: string): boolean {
  return /^(0|[1-9][0-9]{0,19})$/.test(text)
}
