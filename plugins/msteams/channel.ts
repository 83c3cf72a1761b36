/** Owns sending: one part of a reply becomes one activity of the Bot Connector. Source: its REST reference, and Teams' pages on bots. */

import { type Channel, callVendor, isPluginError, PluginError, type VendorAnswer } from '@reveille/kit'
import { failureOf, notTeams } from './failure.ts'
import { mostParts, partLimit, renderReply } from './render.ts'
import { parseTarget, type TeamsTarget } from './target.ts'
import { createTokenSource } from './token.ts'

export interface TeamsConfig {
  readonly appId: string
  readonly appPassword: string
  /** Default: `botframework.com`, where multi-tenant bots live. */
  readonly tenantId?: string
  /** The connector's service URL. */
  readonly baseUrl?: string
  readonly authority?: string
  readonly defaultTo?: string
}

export interface TeamsOptions extends TeamsConfig {
  readonly fetch: typeof fetch
  /** Milliseconds since the Unix epoch; tokens end by it. */
  readonly now: () => number
}

const multiTenant = 'botframework.com'
const defaults = {
  tenantId: multiTenant,
  baseUrl: 'https://smba.trafficmanager.net/teams',
  authority: 'https://login.microsoftonline.com',
}

/** Chats that are remembered; of more, the oldest is opened again. */
const chatsKept = 1000

interface ConnectorCall {
  readonly body: object
  /** Whether it is the call that sends the message. */
  readonly delivers: boolean
  readonly signal: AbortSignal
}

/** What a schema cannot say. @throws PluginError */
export function checkConfig(config: TeamsConfig): void {
  const { tenantId = defaults.tenantId, defaultTo } = config
  for (const key of ['baseUrl', 'authority'] as const) {
    const url = URL.parse(config[key] ?? defaults[key])
    if (url === null || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
      throw new PluginError(`\`${key}\` is to be an http or https address without user, query or fragment.`, {
        code: 'bad-request',
        retryable: false,
      })
    }
  }
  if (defaultTo === undefined) return
  try {
    targetIn(tenantId, defaultTo)
  } catch (error) {
    throw new PluginError(`\`defaultTo\` is no address. ${(error as Error).message}`, {
      code: 'bad-target',
      retryable: false,
      cause: error,
    })
  }
}

/** A person is looked for in a tenant, and a multi-tenant bot has none. */
function targetIn(tenantId: string, to: string): TeamsTarget {
  const target = parseTarget(to)
  if (target.userId === undefined || tenantId !== multiTenant) return target
  throw new PluginError('`user:` needs `tenantId`, the id of the directory in which that person is.', {
    code: 'bad-target',
    retryable: false,
  })
}

/** @throws PluginError for a configuration that `checkConfig` refuses */
export function createTeamsChannel(options: TeamsOptions): Channel {
  checkConfig(options)
  const { appId, appPassword, fetch, now, defaultTo } = options
  const { tenantId = defaults.tenantId, authority = defaults.authority, baseUrl = defaults.baseUrl } = options
  const conversations = `${baseUrl.replace(/\/+$/, '')}/v3/conversations`
  const tokens = createTokenSource({ authority, tenantId, appId, appPassword, fetch, now })
  /** The chat with a person, by the target's key. */
  const chats = new Map<string, string>()

  /** A token that is refused may have been revoked before its end: once, another one is asked for. */
  async function call(url: string, { body, delivers, signal }: ConnectorCall): Promise<VendorAnswer> {
    for (let isSecond = false; ; isSecond = true) {
      const token = await tokens.get(signal)
      const headers = { authorization: `Bearer ${token}` }
      const answer = await callVendor(fetch, { url, body, headers, signal, delivers })
      if (answer.status === 401) tokens.forget(token)
      if (answer.status === 401 && !isSecond) continue
      if (answer.status >= 300) throw failureOf(answer, { now: now(), delivers })
      return answer
    }
  }

  async function conversationOf(target: TeamsTarget, signal: AbortSignal): Promise<string> {
    const { key, conversationId, userId } = target
    const known = conversationId ?? chats.get(key)
    if (known !== undefined) return known
    const opened = await openChat(String(userId), signal)
    const [oldest] = chats.keys()
    if (chats.size >= chatsKept && oldest !== undefined) chats.delete(oldest)
    chats.set(key, opened)
    return opened
  }

  /** Teams answers with the chat that is there already, where there is one. */
  async function openChat(userId: string, signal: AbortSignal): Promise<string> {
    const parameters = {
      isGroup: false,
      bot: { id: `28:${appId}` },
      members: [{ id: userId }],
      tenantId,
      channelData: { tenant: { id: tenantId } },
    }
    const answer = await call(conversations, { body: parameters, delivers: false, signal })
    const id = idIn(answer)
    if (id === undefined) throw notTeams(answer)
    return id
  }

  return {
    id: 'msteams',
    limits: {
      part: partLimit,
      unit: 'utf16',
      parts: mostParts,
      // Within a conversation 7 in 1 s, 8 in 2 s and 60 in 30 s are allowed; this is the one pace that keeps to all three.
      perTarget: { count: 7, ms: 4000 },
      overall: { count: 50, ms: 1000 },
    },
    defaultTo,
    target: (to) => targetIn(tenantId, to),
    render: renderReply,

    async send(part, { target, key, signal }) {
      const conversation = await conversationOf(target as TeamsTarget, signal)
      const url = `${conversations}/${encodeURIComponent(conversation)}/activities`
      const activity = { type: 'message', text: part.text, textFormat: 'markdown' }
      const answer = await call(url, { body: activity, delivers: true, signal })
      if (typeof answer.json !== 'object' || answer.json === null) throw notTeams(answer)
      return { id: idIn(answer) ?? key }
    },

    async check(signal) {
      try {
        await tokens.get(signal)
        return { ok: true, detail: `Microsoft Entra gives the app ${appId} a token.` }
      } catch (error) {
        if (!isPluginError(error)) throw error
        return { ok: false, detail: error.message }
      }
    },
  }
}

function idIn({ json }: VendorAnswer): string | undefined {
  const { id } = (json ?? {}) as { id?: unknown }
  return typeof id === 'string' && id !== '' ? id : undefined
}
