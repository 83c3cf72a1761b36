/** Owns sending to WhatsApp: one part, one message of the number, or the template where free text reaches nobody. */

import {
  type Channel,
  callVendor,
  healthOf,
  listOf,
  oneLine,
  type Receipt,
  recordOf,
  textOf,
  urlBelow,
  type VendorAnswer,
} from '@reveille/kit'
import { checkConfiguration, type WhatsAppConfig } from './configuration.ts'
import { closedWindow, codeOf, failureOf, pausedTemplate, windowClosed } from './failure.ts'
import { mostParts, partLimit, renderReply, type WhatsAppPart } from './render.ts'
import { parseTarget, type WhatsAppTarget } from './target.ts'
import { fillTemplate } from './template.ts'

export interface WhatsAppOptions {
  readonly config: WhatsAppConfig
  readonly fetch: typeof fetch
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

/** Meta's description of the API has a pattern for it (facebook/openapi), which `node`, the default, does not fit. */
export const userAgent = 'reveille/0.1.0'

/** Of a name in our sentence. Characters. */
const longestName = 120

/** @throws PluginError for a configuration that `checkConfiguration` refuses */
export function createWhatsAppChannel({ config, fetch, now }: WhatsAppOptions): Channel {
  checkConfiguration(config)
  const { accessToken, phoneNumberId, apiVersion, defaultTo, linkPreviews, template } = config
  const number = urlBelow(config.baseUrl, `/${apiVersion}/${phoneNumberId}`)
  const headers = { authorization: `Bearer ${accessToken}`, 'user-agent': userAgent }

  function post({ kind, id }: WhatsAppTarget, message: object, signal: AbortSignal): Promise<VendorAnswer> {
    return callVendor(fetch, {
      url: `${number}/messages`,
      headers: { ...headers, 'content-type': 'application/json' },
      body: {
        messaging_product: 'whatsapp',
        recipient_type: kind === 'group' ? 'group' : 'individual',
        to: id,
        ...message,
      },
      signal,
    })
  }

  function receiptOf(answer: VendorAnswer): Receipt {
    const [message] = listOf(recordOf(answer.json)?.['messages'])
    const { id, message_status: status } = recordOf(message) ?? {}
    if (status === 'paused') throw pausedTemplate()
    if (answer.status === 200 && typeof id === 'string' && id !== '') return { id }
    throw failureOf(answer, { token: accessToken, now: now() })
  }

  return {
    id: 'whatsapp',
    // One message in 6 s to one person over time, several at once being allowed; 80 a second of a number.
    limits: {
      part: partLimit,
      unit: 'characters',
      parts: mostParts,
      perTarget: { count: 10, ms: 60_000 },
      overall: { count: 80, ms: 1000 },
    },
    defaultTo,
    target: parseTarget,
    render: renderReply,
    async send(part, call) {
      const { signal } = call
      const target = call.target as WhatsAppTarget
      const text = { type: 'text', text: { body: part.text, preview_url: linkPreviews } }
      const answer = await post(target, text, signal)
      if (codeOf(answer) !== windowClosed) return receiptOf(answer)
      if (template === undefined) throw closedWindow(undefined)
      const filled = fillTemplate(template, part.text)
      const told = await post(target, { type: 'template', template: filled.template }, signal)
      const receipt = receiptOf(told)
      if (filled.isWhole && (part as WhatsAppPart).isWholeReply) return receipt
      throw closedWindow(template.name)
    },
    check: (signal) =>
      healthOf(async () => {
        const fields = 'display_phone_number,verified_name'
        const answer = await callVendor(fetch, { url: `${number}?fields=${fields}`, headers, signal })
        const { id, display_phone_number: shown, verified_name: name } = recordOf(answer.json) ?? {}
        if (answer.status !== 200 || id === undefined) {
          throw failureOf(answer, { token: accessToken, now: now(), delivers: false })
        }
        return `Replies come from ${oneLine(`${textOf(name) ?? 'the number'}, ${textOf(shown) ?? phoneNumberId}`, longestName)}.`
      }),
  }
}
