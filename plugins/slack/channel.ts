/** Owns sending: a part of a reply becomes one `chat.postMessage`. */

import { type Channel, isPluginError, type Receipt } from '@reveille/kit'
import { checkHealth } from './check.ts'
import { createDirectMessages } from './direct-messages.ts'
import { limitOf, renderReply } from './render.ts'
import { type SlackTarget, targetOf } from './target.ts'
import { createWebApi, type WebApiOptions } from './web-api.ts'

/** Slack allows about one message a second in each conversation, and says 429 where the workspace has more. */
const pace = { count: 1, ms: 1000 }

/** Messages that one reply may become; what is longer is read elsewhere. */
const parts = 10

export function createSlackChannel(options: WebApiOptions): Channel {
  const { format, linkPreviews, defaultTo } = options.config
  const api = createWebApi(options)
  const directMessages = createDirectMessages(api)

  return {
    id: 'slack',
    limits: { part: limitOf(format), unit: 'utf16', parts, perTarget: pace },
    ...(defaultTo !== undefined && { defaultTo }),
    target: (to) => targetOf(to),
    render: (markdown) => renderReply(markdown, format),
    async send(part, { target, key, signal }) {
      const { channel, user, thread } = target as SlackTarget
      const conversation = user === undefined ? channel : await directMessages.with(user, signal)
      const body = {
        channel: conversation,
        // Whoever wrote the text must not make Slack look for people and groups in it.
        ...(format === 'mrkdwn' ? { text: part.text, link_names: false } : { markdown_text: part.text }),
        ...(thread !== undefined && { thread_ts: thread }),
        unfurl_links: linkPreviews,
        unfurl_media: linkPreviews,
      }
      try {
        return receiptOf(await api('chat.postMessage', body, signal), key)
      } catch (error) {
        if (user !== undefined && isPluginError(error) && error.code === 'bad-target')
          directMessages.forget(user)
        throw error
      }
    },
    check: (signal) => checkHealth(api, signal),
  }
}

/** A message's id in Slack is its conversation and its time there. */
function receiptOf({ channel, ts }: Record<string, unknown>, key: string): Receipt {
  if (typeof ts !== 'string' || !/^\d{1,10}\.\d{6}$/.test(ts)) return { id: key }
  return { id: `${channel}:${ts}`, at: new Date(Number(ts) * 1000).toISOString() }
}
