/** Sends replies to Slack: each part of a reply becomes one call of `chat.postMessage`. */

import {
  asRecord,
  asString,
  BoundedMap,
  type Channel,
  callVendor,
  channelError,
  checkDefaultTo,
  type Facts,
  healthOf,
  isPluginError,
  joinUrl,
  oneLine,
  type Receipt,
  type VendorContext,
} from '@reveille/kit'
import { errorFrom } from './errors.ts'
import { type Format, limits, rendererOf } from './render.ts'
import { parseTarget, type SlackTarget } from './target.ts'

/** A configuration that `config.schema.json` has accepted, with its defaults filled in. */
export interface SlackConfig {
  readonly botToken: string
  readonly defaultTo?: string
  readonly format: Format
  readonly linkPreviews: boolean
  readonly baseUrl: string
}

type Method = 'chat.postMessage' | 'conversations.open' | 'auth.test'

/** Slack allows about one message a second in each conversation, and answers 429 when the whole workspace sends too much. */
const pace = { count: 1, ms: 1000 }

/** Maximum length of a quoted name, in UTF-16 units. */
const maxNameLength = 80

/** Maximum number of cached conversations with single users; more than one gateway writes to. */
const maxConversations = 1000

/** @throws PluginError `bad-target` if `defaultTo` is not an address of this channel */
export function createSlackChannel({ config, fetch, now }: VendorContext<SlackConfig>): Channel {
  const { botToken, baseUrl, format, linkPreviews, defaultTo } = config
  checkDefaultTo(defaultTo, parseTarget)
  // Without the charset every answer carries a warning.
  const headers = { authorization: `Bearer ${botToken}`, 'content-type': 'application/json; charset=utf-8' }
  const conversations = new BoundedMap<string, string>(maxConversations)

  /** Calls one method of the Web API and returns the fields of a successful answer. @throws PluginError */
  async function callMethod(method: Method, body: object, signal: AbortSignal): Promise<Facts> {
    const isDelivery = method === 'chat.postMessage'
    const url = joinUrl(baseUrl, `/${method}`)
    const answer = await callVendor(fetch, { url, headers, body, signal, isDelivery })
    const fields = asRecord(answer.json)
    // Slack uses the status 200 for refusals as well.
    if (answer.status === 200 && fields?.['ok'] === true) return fields
    throw errorFrom(answer, { isDelivery, botToken, now: now() })
  }

  /** Returns the conversation with a user. Opening it again returns the same one. */
  async function conversationWith(user: string, signal: AbortSignal): Promise<string> {
    const cached = conversations.get(user)
    if (cached !== undefined) return cached
    const { channel } = await callMethod('conversations.open', { users: user }, signal)
    const id = asRecord(channel)?.['id']
    if (typeof id !== 'string') {
      throw channelError('unavailable', 'Slack opened a direct message and did not say which.')
    }
    conversations.set(user, id)
    return id
  }

  return {
    id: 'slack',
    limits: { ...limits[format], perTarget: pace },
    defaultTo,
    target: parseTarget,
    render: rendererOf(format),
    async send(part, { target, key, signal }) {
      const { channel, user, thread } = target as SlackTarget
      const body = {
        channel: user === undefined ? channel : await conversationWith(user, signal),
        // `link_names: false` keeps Slack from looking for users and groups in the text.
        ...(part['format'] === 'mrkdwn'
          ? { text: part.text, link_names: false }
          : { markdown_text: part.text }),
        ...(thread !== undefined && { thread_ts: thread }),
        unfurl_links: linkPreviews,
        unfurl_media: linkPreviews,
      }
      try {
        return receiptOf(await callMethod('chat.postMessage', body, signal), key)
      } catch (error) {
        if (user !== undefined && isPluginError(error) && error.code === 'bad-target')
          conversations.delete(user)
        throw error
      }
    },
    check: (signal) =>
      healthOf(async () => {
        const { user, team } = await callMethod('auth.test', {}, signal)
        const [bot, workspace] = [user, team].map((name) =>
          oneLine(asString(name) ?? 'unknown', maxNameLength),
        )
        return `Slack knows the bot as ${bot} in the workspace ${workspace}.`
      }),
  }
}

/** Slack identifies a message by its conversation and its time in that conversation. */
function receiptOf({ channel, ts }: Facts, key: string): Receipt {
  if (typeof ts !== 'string' || !/^\d{1,10}\.\d{6}$/.test(ts)) return { id: key }
  return { id: `${asString(channel) ?? ''}:${ts}`, at: new Date(Number(ts) * 1000).toISOString() }
}
