/** Sends replies to WhatsApp: each part becomes one message of the business number, or a template if free text is not allowed. */

import {
  asList,
  asRecord,
  asString,
  type Channel,
  callVendor,
  checkDefaultTo,
  healthOf,
  joinUrl,
  oneLine,
  type Receipt,
  type VendorAnswer,
  type VendorContext,
} from '@reveille/kit'
import { closedWindow, codeOf, errorFrom, pausedTemplate, windowClosed } from './errors.ts'
import { limits, renderReply, type WhatsAppPart } from './render.ts'
import { parseTarget, type WhatsAppTarget } from './target.ts'

/** A configuration that `config.schema.json` has accepted, with its defaults filled in. */
export interface WhatsAppConfig {
  readonly accessToken: string
  readonly phoneNumberId: string
  readonly apiVersion: string
  readonly baseUrl: string
  readonly defaultTo?: string
  readonly linkPreviews: boolean
  readonly template?: TemplateConfig
}

/** An approved template, which reaches people who have not written for 24 hours. */
interface TemplateConfig {
  readonly name: string
  readonly language: string
  /** The name of the variable. Default: the variable has no name and is the first. */
  readonly parameter?: string
}

/** Meta's description of the API requires this form (facebook/openapi); `node`, the default, does not have it. */
export const userAgent = 'reveille/0.1.0'

/** Maximum length of a quoted name, in UTF-16 units. */
const maxNameLength = 120

/** Maximum length of the template's variable, in UTF-16 units. A filled template has 1024; the rest is for the template's own words. */
const maxVariableLength = 900

/** @throws PluginError `bad-target` if `defaultTo` is not an address of this channel */
export function createWhatsAppChannel({ config, fetch, now }: VendorContext<WhatsAppConfig>): Channel {
  const { accessToken, phoneNumberId, apiVersion, defaultTo, linkPreviews, template } = config
  checkDefaultTo(defaultTo, parseTarget)
  const number = joinUrl(config.baseUrl, `/${apiVersion}/${phoneNumberId}`)
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
    const [message] = asList(asRecord(answer.json)?.['messages'])
    const { id, message_status: status } = asRecord(message) ?? {}
    if (status === 'paused') throw pausedTemplate()
    if (answer.status === 200 && typeof id === 'string' && id !== '') return { id }
    throw errorFrom(answer, { token: accessToken, now: now() })
  }

  return {
    id: 'whatsapp',
    // WhatsApp allows one message in 6 s to one user on average, with bursts, and 80 a second from one number.
    limits: {
      ...limits,
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
      const receipt = receiptOf(await post(target, { type: 'template', template: filled.template }, signal))
      if (filled.isWhole && (part as WhatsAppPart).isWholeReply) return receipt
      throw closedWindow(template.name)
    },
    check: (signal) =>
      healthOf(async () => {
        const fields = 'display_phone_number,verified_name'
        const answer = await callVendor(fetch, { url: `${number}?fields=${fields}`, headers, signal })
        const { id, display_phone_number: shown, verified_name: name } = asRecord(answer.json) ?? {}
        if (answer.status !== 200 || id === undefined) {
          throw errorFrom(answer, { token: accessToken, now: now(), isDelivery: false })
        }
        return `Replies come from ${oneLine(`${asString(name) ?? 'the number'}, ${asString(shown) ?? phoneNumberId}`, maxNameLength)}.`
      }),
  }
}

/**
 * Fills a template with a text as one line, since its variable may hold no line break, no tab and no run of spaces. Source:
 * developers.facebook.com/docs/whatsapp/cloud-api, "Message templates".
 */
function fillTemplate({ name, language, parameter }: TemplateConfig, text: string) {
  const line = oneLine(text, maxVariableLength)
  const variable = {
    type: 'text',
    ...(parameter !== undefined && { parameter_name: parameter }),
    text: line,
  }
  const components = [{ type: 'body', parameters: [variable] }]
  return {
    template: { name, language: { code: language }, components },
    /** True if the template holds the whole text. */
    isWhole: line === oneLine(text, Number.POSITIVE_INFINITY),
  }
}
