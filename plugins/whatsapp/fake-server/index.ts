/** A fake of WhatsApp's Cloud API, as Meta documents it: refusals, the window of 24 hours, the pair rate limit and templates. */

import { asList, asRecord, type Facts, type Part } from '@reveille/kit'
import {
  type FakeServerAnswer,
  type FakeServerRequest,
  openFakeServer,
  type VendorMessage,
} from '@reveille/kit/fake-server'
import { readMarkup } from './markup.ts'

export interface WhatsAppMessage extends VendorMessage {
  readonly id: string
  readonly type: 'text' | 'template'
  /** The text or the template's variable, as it was received. */
  readonly body: string
  readonly recipientType: string
  readonly hasPreview: boolean
}

export interface FakeWhatsAppOptions {
  /** Messages that one user may be sent before the pair rate limit. Default: 1000, which no test reaches by chance. */
  readonly burst?: number
}

/** Returns what a person reads of a part. */
export function visibleText({ text }: Part): string {
  return readMarkup(text)
}

const token = 'EAAGfake-token-of-a-system-user'
const phoneNumberId = '106540352242922'
const open = '16505551234'
const silent = '16505559876'
const group = 'Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD'
const template = { name: 'reply_ready', language: 'en_US' }
const maxTextLength = 4096
const maxTemplateLength = 1024

export async function openVendor({ burst = 1000 }: FakeWhatsAppOptions = {}) {
  const messages: WhatsAppMessage[] = []
  const windows = new Set([open, group])

  const fakeServer = await openFakeServer({ answer, isSend: ({ path }) => path.endsWith('/messages') })

  function answer(request: FakeServerRequest): FakeServerAnswer {
    const { method, path, headers } = request
    if (!/^[\w-]+\/\d+\.\d+\.\d+(;[\w=.-]+)?(\s+[\w-]+\/[\d.-]+)?$/.test(headers['user-agent'] ?? '')) {
      return graphError(100, 'Invalid user agent')
    }
    const [, bearer] = /^Bearer\s+([A-Za-z0-9\-_.]+)$/.exec(headers['authorization'] ?? '') ?? []
    if (bearer === undefined) return graphError(104, 'An access token is required')
    if (bearer !== token) return badCredential
    const [, version = '', id = '', action] = /^\/([^/]+)\/([^/]+)(\/messages)?$/.exec(path) ?? []
    if (!/^v\d+\.\d+$/.test(version)) return graphError(2500, 'Unknown path components')
    if (id !== phoneNumberId) {
      const message = `Unsupported request. Object with ID '${id}' does not exist`
      return graphError(100, message, { type: 'GraphMethodException', error_subcode: 33 })
    }
    if (action === undefined && method === 'GET') {
      return { body: { id, display_phone_number: '+1 555-555-5555', verified_name: 'Ada’s Garage' } }
    }
    if (action === undefined || method !== 'POST') return graphError(100, 'Unsupported request')
    const body = asRecord(request.json)
    if (headers['content-type'] !== 'application/json' || body === undefined) {
      return graphError(100, 'The body is no JSON')
    }
    return send(body)
  }

  function send(body: Facts): FakeServerAnswer {
    const { messaging_product: product, recipient_type: kind = 'individual', to, type = 'text' } = body
    const known = ['messaging_product', 'recipient_type', 'to', 'type', 'context', String(type)]
    const foreign = Object.keys(body).find((key) => !known.includes(key))
    if (foreign !== undefined) return invalidParameter(`Unexpected key "${foreign}" on param.`)
    if (product !== 'whatsapp')
      return invalidParameter("Param messaging_product must be one of {'whatsapp'}.")
    if (typeof to !== 'string' || to === '') return invalidParameter('The parameter to is required.')
    if (kind !== 'individual' && kind !== 'group')
      return invalidParameter('Param recipient_type is not valid.')
    if (type !== 'text' && type !== 'template') return graphError(131051, 'Unsupported message type')
    const content = asRecord(body[type])
    if (content === undefined) return invalidParameter(`The parameter ${type} is required.`)

    const number = to.replace(/^\+/, '')
    const isKnown = kind === 'group' ? number === group : number === open || number === silent
    if (!isKnown) return graphError(131026, 'Message undeliverable')
    if (messages.filter((message) => message.to === number).length >= burst) return pairRate
    const fact = { to: number, recipientType: kind }
    return type === 'text' ? sendText(content, fact) : sendTemplate(content, fact)
  }

  function sendText({ body, preview_url: hasPreview = false, ...rest }: Facts, fact: Sent): FakeServerAnswer {
    const [foreign] = Object.keys(rest)
    if (foreign !== undefined) return invalidParameter(`Unexpected key "${foreign}" on param text.`)
    if (typeof body !== 'string' || body.trim() === '') {
      return invalidParameter("The parameter text['body'] is required.")
    }
    if (Array.from(body).length > maxTextLength) {
      return invalidParameter(`Param text['body'] must be at most ${maxTextLength} characters long.`)
    }
    if (typeof hasPreview !== 'boolean')
      return invalidParameter("Param text['preview_url'] must be a boolean.")
    if (!windows.has(fact.to)) return reEngagement
    return store({ ...fact, type: 'text', text: readMarkup(body), body, hasPreview })
  }

  function sendTemplate({ name, language, components }: Facts, fact: Sent): FakeServerAnswer {
    const code = asRecord(language)?.['code']
    if (name !== template.name || code !== template.language) {
      return graphError(132001, 'Template name does not exist in the translation')
    }
    const bodies = asList(components).filter((each) => asRecord(each)?.['type'] === 'body')
    const parameters = bodies.flatMap((each) => asRecord(each)?.['parameters'])
    if (parameters.length !== 1) return graphError(132000, 'Number of parameters does not match')
    const parameter = asRecord(parameters[0])
    const body = parameter?.['type'] === 'text' ? parameter['text'] : undefined
    if (typeof body !== 'string' || body === '') return graphError(132012, 'Parameter format does not match')
    if (/[\n\r\t]| {5}/.test(body)) {
      return invalidParameter('Param text cannot have new-line/tab characters or 5 consecutive spaces')
    }
    const text = `A reply for you: ${body}\nWrite back to read on.`
    if (text.length > maxTemplateLength) return graphError(132005, 'Translated text too long')
    return store({ ...fact, type: 'template', text, body, hasPreview: false })
  }

  function store(message: Omit<WhatsAppMessage, 'id'>): FakeServerAnswer {
    const id = `wamid.fake-${messages.length + 1}`
    messages.push({ ...message, id } as WhatsAppMessage)
    const contacts = [{ input: message.to, wa_id: message.to }]
    const accepted = { id, message_status: 'accepted' }
    return { body: { messaging_product: 'whatsapp', contacts, messages: [accepted] } }
  }

  return {
    ...fakeServer,
    messages,
    config: { accessToken: token, phoneNumberId, baseUrl: fakeServer.url },
    secrets: [token],
    to: `+${open}`,
    unknownTo: '+16505550000',
    /** The address of a user who has not written for 24 hours. */
    silentTo: `+${silent}`,
    groupTo: `group:${group}`,
    /** The only approved template, which has one variable. */
    template,
    /** Lets the user behind a number write, which opens the window. */
    write: (number: string) => void windows.add(number.replace(/^\+/, '')),
    refusals: {
      badCredential,
      forbidden: graphError(131031, 'Business Account locked'),
      // Meta does not say how long to wait.
      rateLimited: () => pairRate,
      serverError: graphError(131016, 'Service unavailable'),
      serverErrorIsSafe: true,
    },
  }
}

type Sent = Pick<WhatsAppMessage, 'to' | 'recipientType'>

/** The statuses that Meta documents for codes and advises not to rely on. Other codes have the status 400. */
const statuses: Readonly<Record<number, number>> = {
  1: 500,
  2: 503,
  104: 401,
  190: 401,
  131000: 500,
  131016: 500,
  131031: 403,
}

export function graphError(code: number, message: string, more: object = {}): FakeServerAnswer {
  const error = { message: `(#${code}) ${message}`, type: 'OAuthException', code, fbtrace_id: 'AFake1' }
  return { status: statuses[code] ?? 400, body: { error: { ...error, ...more } } }
}

function invalidParameter(details: string): FakeServerAnswer {
  return graphError(100, 'Invalid parameter', detailed(details))
}

const reEngagement = graphError(
  131047,
  'Re-engagement message',
  detailed('More than 24 hours have passed since the recipient last wrote to this number.'),
)

const pairRate = graphError(
  131056,
  '(Business Account, Consumer Account) pair rate limit hit',
  detailed('Too many messages went from this number to the same number in a short time.'),
)

function detailed(details: string): object {
  return { error_data: { messaging_product: 'whatsapp', details } }
}

const badCredential = graphError(190, 'Error validating access token', { error_subcode: 463 })
