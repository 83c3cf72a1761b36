/** Owns sending: one part of a reply becomes one activity of the Bot Connector. Source: its REST reference, and Teams' pages on bots. */

import {
  BoundedMap,
  type Channel,
  callVendor,
  healthOf,
  recordOf,
  urlBelow,
  type VendorAnswer,
} from '@reveille/kit'
import { checkConfiguration, type TeamsConfig, targetIn } from './configuration.ts'
import { failureOf, notTeams } from './failure.ts'
import { mostParts, partLimit, renderReply } from './render.ts'
import type { TeamsTarget } from './target.ts'
import { createTokenSource } from './token.ts'

export interface TeamsOptions {
  readonly config: TeamsConfig
  readonly fetch: typeof fetch
  /** Milliseconds since the Unix epoch; tokens end by it. */
  readonly now: () => number
}

/** More people than one gateway writes to. */
const mostKnown = 1000

interface ConnectorCall {
  readonly body: object
  /** Whether it is the call that sends the message. */
  readonly delivers: boolean
  readonly signal: AbortSignal
}

/** @throws PluginError for a configuration that `checkConfiguration` refuses */
export function createTeamsChannel({ config, fetch, now }: TeamsOptions): Channel {
  checkConfiguration(config)
  const { appId, tenantId, defaultTo } = config
  const conversations = urlBelow(config.baseUrl, '/v3/conversations')
  const tokens = createTokenSource({ config, fetch, now })
  /** The chat with a person, by the target's key. */
  const chats = new BoundedMap<string, string>(mostKnown)

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
    if (id === undefined) throw notTeams(answer, now())
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
      if (recordOf(answer.json) === undefined) throw notTeams(answer, now())
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
  const id = recordOf(json)?.['id']
  return typeof id === 'string' && id !== '' ? id : undefined
}
