/** Owns sending: a part of a reply becomes one `chat.postMessage`. */

import {
  type Channel,
  type Facts,
  healthOf,
  isPluginError,
  oneLine,
  type Receipt,
  textOf,
} from '@reveille/kit'
import { checkConfiguration } from './configuration.ts'
import { createDirectMessages } from './direct-messages.ts'
import { limitOf, mostParts, renderReply } from './render.ts'
import { parseTarget, type SlackTarget } from './target.ts'
import { createWebApi, type WebApiOptions } from './web-api.ts'

/** Slack allows about one message a second in each conversation, and says 429 where the workspace has more. */
const pace = { count: 1, ms: 1000 }

/** Of a name in our sentence. Characters. */
const longestName = 80

/** @throws PluginError for a configuration that `checkConfiguration` refuses */
export function createSlackChannel(options: WebApiOptions): Channel {
  checkConfiguration(options.config)
  const { format, linkPreviews, defaultTo } = options.config
  const api = createWebApi(options)
  const directMessages = createDirectMessages(api)

  return {
    id: 'slack',
    limits: { part: limitOf(format), unit: 'utf16', parts: mostParts, perTarget: pace },
    defaultTo,
    target: parseTarget,
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
    check: (signal) =>
      healthOf(async () => {
        const { user, team } = await api('auth.test', {}, signal)
        const [bot, workspace] = [user, team].map((name) => oneLine(textOf(name) ?? 'unknown', longestName))
        return `Slack knows the bot as ${bot} in the workspace ${workspace}.`
      }),
  }
}

/** A message's id in Slack is its conversation and its time there. */
function receiptOf({ channel, ts }: Facts, key: string): Receipt {
  if (typeof ts !== 'string' || !/^\d{1,10}\.\d{6}$/.test(ts)) return { id: key }
  return { id: `${textOf(channel) ?? ''}:${ts}`, at: new Date(Number(ts) * 1000).toISOString() }
}
