/** A fake of Teams with two roles on one server: Microsoft Entra, which issues tokens, and the Bot Connector. */

import { asList, asRecord, type Facts, type Part } from '@reveille/kit'
import {
  type FakeServerAnswer,
  type FakeServerRequest,
  openFakeServer,
  type VendorMessage,
  withRetryAfter,
} from '@reveille/kit/fake-server'
import { readMarkup } from './markup.ts'

export interface TeamsMessage extends VendorMessage {
  /** The activity as it was received. */
  readonly activity: Readonly<Record<string, unknown>>
  /** The addresses of images that a client would fetch. */
  readonly fetched: readonly string[]
}

/** Returns what a person reads of a part. */
export function visibleText(part: Part): string {
  return readMarkup(part.text).text
}

export interface OpenVendorOptions {
  /** The clock in milliseconds by which tokens expire. Default: the machine's clock. */
  readonly now?: () => number
  /** The life of a token in seconds. Default: 3599, as Entra issues them. */
  readonly tokenLife?: number
}

const appId = '0c1e4b2a-5f0d-4c1b-9a53-3a8f0d4f9c11'
const appPassword = 'msteams-fake-password'
const tenantId = '6babcaad-604b-40ac-a9d7-9fd97c0b779f'
const scope = 'https://api.botframework.com/.default'
const general = '19:general0000000000000000000000000@thread.tacv2'
const foreign = '19:foreign0000000000000000000000000@thread.tacv2'
const groupChat = '19:meeting_group00000000000000@thread.v2'
const firstMessage = '1763682000000'
const person = '5b649834-7412-4cce-9e69-176e95a394f5'
const outsider = '520e4d1e-2108-43ee-a092-46a9507c6200'
/** Maximum size of a whole message in UTF-16, in bytes. */
const largestMessage = 100 * 1024
const formats: readonly unknown[] = ['markdown', 'plain', 'xml']

export async function openVendor(options: OpenVendorOptions = {}) {
  const { now = Date.now, tokenLife = 3599 } = options
  const asked = { authority: [] as FakeServerRequest[], connector: [] as FakeServerRequest[] }
  /** When each token expires, in milliseconds. */
  const tokens = new Map<string, number>()
  const conversations = new Set([general, `${general};messageid=${firstMessage}`, groupChat])
  const chats = new Map<string, string>()
  const messages: TeamsMessage[] = []
  const pings: string[] = []
  let given = 0
  let sent = 0

  function issueToken({ method, path, headers, text }: FakeServerRequest): FakeServerAnswer {
    const tenant = /^\/authority\/([^/]+)\/oauth2\/v2\.0\/token$/.exec(path)?.[1]
    if (method !== 'POST' || tenant === undefined) return { status: 404, body: '<html>404</html>' }
    const isForm = String(headers['content-type']).startsWith('application/x-www-form-urlencoded')
    const form = new URLSearchParams(isForm ? text : '')
    const checks: readonly (readonly [boolean, ...Parameters<typeof entra>])[] = [
      [isForm, 400, 'invalid_request', 900144, "The body must contain the parameter: 'grant_type'."],
      [[tenantId, 'botframework.com'].includes(tenant), 400, 'invalid_request', 90002, 'Tenant not found.'],
      [form.get('grant_type') === 'client_credentials', 400, 'unsupported_grant_type', 70003, 'Unsupported.'],
      [form.get('scope') === scope, 400, 'invalid_scope', 70011, 'The scope is not valid.'],
      [form.get('client_id') === appId, 400, 'unauthorized_client', 700016, 'The application was not found.'],
      [form.get('client_secret') === appPassword, 401, 'invalid_client', 7000215, 'Invalid client secret.'],
    ]
    const [, ...refusal] = checks.find(([holds]) => !holds) ?? []
    if (refusal.length > 0) return entra(...(refusal as Parameters<typeof entra>))
    given += 1
    const token = `msteams-fake-token-${given}`
    tokens.set(token, now() + tokenLife * 1000)
    return {
      body: { token_type: 'Bearer', expires_in: tokenLife, ext_expires_in: tokenLife, access_token: token },
    }
  }

  function connect(request: FakeServerRequest): FakeServerAnswer {
    const { method, path, headers, json } = request
    const token = /^Bearer (.+)$/.exec(headers['authorization'] ?? '')?.[1] ?? ''
    if (now() >= (tokens.get(token) ?? 0)) return denied
    if (method !== 'POST')
      return { status: 405, body: { message: 'The resource does not support that method.' } }
    const body = asRecord(json)
    if (!String(headers['content-type']).startsWith('application/json') || body === undefined) {
      return connector(400, 'BadSyntax', 'The request body is no JSON object.')
    }
    if (path === '/teams/v3/conversations') return createChat(body)
    const conversation = /^\/teams\/v3\/conversations\/([^/]+)\/activities$/.exec(path)?.[1]
    if (conversation === undefined) return { status: 404, body: { message: 'No HTTP resource was found.' } }
    return send(conversation, body, request.text)
  }

  function createChat({ isGroup, bot, members, tenantId: tenant, channelData }: Facts): FakeServerAnswer {
    if (isGroup === true)
      return connector(400, 'BadArgument', 'Group conversations are not for bots to create.')
    if (asRecord(bot)?.['id'] !== `28:${appId}`) return connector(400, 'BadArgument', 'Unknown bot.')
    const named = asRecord(asRecord(channelData)?.['tenant'])?.['id'] ?? tenant
    if (named !== tenantId) return connector(400, 'BadArgument', 'Malformed tenant id.')
    const id = String(asRecord(asList(members)[0])?.['id'])
    if (id === outsider) {
      return connector(
        403,
        'ForbiddenOperationException',
        'The bot is not installed in the user’s personal scope.',
      )
    }
    if (id !== person) return connector(400, 'BadSyntax', 'Invalid user identity in provided tenant.')
    const chat = chats.get(id) ?? `a:1chat${chats.size}`
    chats.set(id, chat)
    conversations.add(chat)
    return { status: 201, body: { id: chat } }
  }

  function send(conversation: string, activity: Facts, raw: string): FakeServerAnswer {
    if (conversation === foreign) return notInRoster
    if (!conversations.has(conversation))
      return connector(404, 'ConversationNotFound', 'Conversation not found.')
    const { type, text, textFormat = 'markdown', entities = [] } = activity
    if (type !== 'message') return connector(400, 'BadArgument', 'Unknown activity type.')
    if (!formats.includes(textFormat)) return connector(400, 'BadArgument', 'Unknown text format.')
    if (typeof text !== 'string' || text.trim() === '') {
      return connector(400, 'BadSyntax', 'Activity resulted into multiple skype activities.')
    }
    if (raw.length * 2 > largestMessage) return connector(413, 'MessageSizeTooBig', 'Message size too large.')
    const read = readMarkup(text)
    pings.push(...read.named)
    if (Array.isArray(entities)) pings.push(...entities.map((entity) => JSON.stringify(entity)))
    messages.push({ to: conversation, text: read.text, activity, fetched: read.images })
    sent += 1
    const id = String(Number(firstMessage) + sent)
    if (conversation === general) conversations.add(`${general};messageid=${id}`)
    return { status: 201, body: { id } }
  }

  const fakeServer = await openFakeServer({
    answer(request) {
      const isAuthority = request.path.startsWith('/authority/')
      asked[isAuthority ? 'authority' : 'connector'].push(request)
      return isAuthority ? issueToken(request) : connect(request)
    },
    isSend: ({ path }) => path.endsWith('/activities'),
  })
  return {
    ...fakeServer,
    messages,
    pings,
    /** The requests to each role. */
    asked,
    tokensIssued: () => given,
    /** Revokes all tokens that were issued. */
    revokeTokens: () => tokens.clear(),
    config: {
      appId,
      appPassword,
      tenantId,
      baseUrl: `${fakeServer.url}/teams`,
      authority: `${fakeServer.url}/authority`,
    },
    secrets: [appPassword, 'msteams-fake-token-1'],
    to: `conversation:${general}`,
    unknownTo: 'conversation:19:nobody00000000000000000000000000@thread.tacv2',
    threadTo: `conversation:${general};messageid=${firstMessage}`,
    /** The address of a channel that the bot is not in. */
    foreignTo: foreign,
    /** The address of a user who has the app, and of one in the tenant who does not. */
    userTo: `user:${person}`,
    outsiderTo: `user:${outsider}`,
    refusals: {
      badCredential: denied,
      forbidden: notInRoster,
      rateLimited: (seconds: number) =>
        withRetryAfter(connector(429, 'Throttled', 'Too many requests.'), seconds),
      serverError: connector(500, 'ServiceError', 'An internal error occurred.'),
    },
  }
}

/** The connector's answer to a token that is unknown or has expired. */
const denied: FakeServerAnswer = {
  status: 401,
  body: { message: 'Authorization has been denied for this request.' },
}

const notInRoster = connector(
  403,
  'BotNotInConversationRoster',
  'The bot is not part of the conversation roster.',
)

function connector(status: number, code: string, message: string): FakeServerAnswer {
  return { status, body: { error: { code, message } } }
}

function entra(status: number, error: string, number: number, sentence: string): FakeServerAnswer {
  const id = '00000000-0000-0000-0000-000000000000'
  const description = `AADSTS${number}: ${sentence} Trace ID: ${id}`
  const facts = { error_codes: [number], timestamp: '2026-11-21 00:00:00Z', trace_id: id, correlation_id: id }
  return { status, body: { error, error_description: description, ...facts } }
}
