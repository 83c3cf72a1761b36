/**
 * Sends replies to Microsoft Teams: each part becomes one activity of the Bot Connector.
 *
 * Source: the connector's REST reference and Teams' pages on bots.
 */

import {
  asRecord,
  BoundedMap,
  type Channel,
  callVendor,
  checkDefaultTo,
  healthOf,
  joinUrl,
  type VendorAnswer,
  type VendorCall,
  type VendorContext,
} from '@reveille/kit'
import { errorFrom, notTeams } from './errors.ts'
import { limits, renderReply } from './render.ts'
import { parseTargetInTenant, type TeamsTarget } from './target.ts'
import { type AppCredentials, createTokenSource } from './token.ts'

/** A configuration that `config.schema.json` has accepted, with its defaults filled in. */
export interface TeamsConfig extends AppCredentials {
  /** The Bot Connector's service URL. */
  readonly baseUrl: string
  readonly defaultTo?: string
}

/** Maximum number of cached chats; more than one gateway writes to. */
const maxChats = 1000

type ConnectorCall = Required<Pick<VendorCall, 'body' | 'isDelivery' | 'signal'>>

/** @throws PluginError `bad-target` if `defaultTo` is not an address of this channel */
export function createTeamsChannel({ config, fetch, now }: VendorContext<TeamsConfig>): Channel {
  const { appId, tenantId, defaultTo } = config
  checkDefaultTo(defaultTo, (to) => parseTargetInTenant(tenantId, to))
  const conversations = joinUrl(config.baseUrl, '/v3/conversations')
  const tokens = createTokenSource({ config, fetch, now })
  /** The chat with each user, by the key of the target. */
  const chats = new BoundedMap<string, string>(maxChats)

  /** Calls the connector, and calls it again with a new token if the first one is refused, as it may have been revoked. */
  async function call(url: string, { body, isDelivery, signal }: ConnectorCall): Promise<VendorAnswer> {
    for (let isSecond = false; ; isSecond = true) {
      const token = await tokens.get(signal)
      const headers = { authorization: `Bearer ${token}` }
      const answer = await callVendor(fetch, { url, body, headers, signal, isDelivery })
      if (answer.status === 401) tokens.forget(token)
      if (answer.status === 401 && !isSecond) continue
      if (answer.status >= 300) throw errorFrom(answer, { now: now(), isDelivery })
      return answer
    }
  }

  async function conversationOf(target: TeamsTarget, signal: AbortSignal): Promise<string> {
    const { key, conversationId, userId } = target
    const cached = conversationId ?? chats.get(key)
    if (cached !== undefined) return cached
    const opened = await openChat(String(userId), signal)
    chats.set(key, opened)
    return opened
  }

  /** Opens a chat with a user. If there is one already, Teams returns that one. */
  async function openChat(userId: string, signal: AbortSignal): Promise<string> {
    const parameters = {
      isGroup: false,
      bot: { id: `28:${appId}` },
      members: [{ id: userId }],
      tenantId,
      channelData: { tenant: { id: tenantId } },
    }
    const answer = await call(conversations, { body: parameters, isDelivery: false, signal })
    const id = idIn(answer)
    if (id === undefined) throw notTeams(answer, now())
    return id
  }

  return {
    id: 'msteams',
    limits: {
      ...limits,
      // Teams allows a conversation 7 messages in 1 s, 8 in 2 s and 60 in 30 s; this pace stays within all three.
      perTarget: { count: 7, ms: 4000 },
      overall: { count: 50, ms: 1000 },
    },
    defaultTo,
    target: (to) => parseTargetInTenant(tenantId, to),
    render: renderReply,

    async send(part, { target, key, signal }) {
      const conversation = await conversationOf(target as TeamsTarget, signal)
      const url = `${conversations}/${encodeURIComponent(conversation)}/activities`
      const activity = { type: 'message', text: part.text, textFormat: 'markdown' }
      const answer = await call(url, { body: activity, isDelivery: true, signal })
      if (asRecord(answer.json) === undefined) throw notTeams(answer, now())
      return { id: idIn(answer) ?? key }
    },

    check: (signal) =>
      healthOf(async () => {
        await tokens.get(signal)
        return `Microsoft Entra gives the app ${appId} a token.`
      }),
  }
}

function idIn({ json }: VendorAnswer): string | undefined {
  const id = asRecord(json)?.['id']
  return typeof id === 'string' && id !== '' ? id : undefined
}
