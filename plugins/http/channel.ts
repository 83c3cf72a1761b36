/** Sends replies to a webhook: each part is one signed request, whose id is the same for each attempt. */

import { randomUUID } from 'node:crypto'
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import {
  type Channel,
  callVendor,
  channelError,
  checkDefaultTo,
  foreignAnswer,
  hasDoneNothing,
  healthOf,
  type PluginError,
  readRetryAfter,
  signWebhook,
  type Target,
  type VendorAnswer,
  type VendorContext,
} from '@reveille/kit'
import { splitMarkdown } from '@reveille/kit/markdown'
import { isPublicAddress } from './addresses.ts'

/** A configuration that `config.schema.json` has accepted, with its defaults filled in. */
export interface HttpConfig {
  readonly url: string
  readonly secret: string
  readonly defaultTo?: string
  readonly allowPrivateAddresses: boolean
}

export interface HttpContext extends VendorContext<HttpConfig> {
  /** Returns all addresses of a host. Default: the system's resolver. */
  readonly lookup?: (host: string) => Promise<readonly { readonly address: string }[]>
}

/** Bounds one request. A receiver gets a longer reply in several. */
const limits = { part: 16_384, unit: 'utf16' } as const

export function createHttpChannel(context: HttpContext): Channel {
  const { config, fetch, now, lookup = (host) => systemLookup(host, { all: true }) } = context
  const { url, secret, defaultTo, allowPrivateAddresses } = config
  checkConfig(config)

  /** @throws PluginError for every answer that is not a success */
  async function post(
    id: string,
    event: { readonly type: string; readonly data?: object },
    signal: AbortSignal,
  ) {
    if (!allowPrivateAddresses) await checkAddress(url, lookup)
    const at = now()
    const timestamp = new Date(at).toISOString()
    const body = JSON.stringify({ ...event, timestamp })
    const headers = { 'content-type': 'application/json', ...signWebhook(id, at, body, secret) }
    const answer = await callVendor(fetch, { url, headers, body, signal })
    if (isPage(answer) || answer.status >= 300) throw errorFrom(answer, now())
    return { id, at: timestamp }
  }

  return {
    id: 'http',
    limits,
    defaultTo,
    target: parseTarget,
    render: (markdown) => splitMarkdown(markdown, limits).map((text) => ({ text })),

    send: (part, { target, key, signal }) =>
      post(key, { type: 'message', data: { to: target.key, text: part.text } }, signal),

    check: (signal) =>
      healthOf(async () => {
        await post(`ping_${randomUUID()}`, { type: 'ping' }, signal)
        return 'The webhook has accepted an event `ping`.'
      }),
  }
}

/** The receiver gives names their meaning. @throws PluginError `bad-target` */
export function parseTarget(to: string): Target {
  const key = to.trim()
  if (/^[\p{L}\p{N}_.:@+/#-]{1,128}$/u.test(key)) return { key, kind: 'channel' }
  throw channelError(
    'bad-target',
    'An address of this channel is a name of up to 128 letters, digits and `_.:@+/#-`.',
  )
}

/** @throws PluginError that names the key */
export function checkConfig({ defaultTo, url, allowPrivateAddresses }: HttpConfig): void {
  checkDefaultTo(defaultTo, parseTarget)
  if (!allowPrivateAddresses) checkUrl(url)
}

const howToAllow = 'set `allowPrivateAddresses: true` if that is meant'

/** Refuses what a name does not have to be resolved for. @throws PluginError `bad-request` that names the key */
function checkUrl(url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:')
    throw channelError('bad-request', `\`url\` is not an https address; ${howToAllow}.`)
  const address = hostname.replace(/^\[|\]$/g, '')
  if (isIP(address) !== 0 && !isPublicAddress(address))
    throw channelError('bad-request', `\`url\` is a private address; ${howToAllow}.`)
}

/**
 * Refuses a host with a private address. A name that gets another address until the connection is made reaches no private service that
 * way: the service would need a certificate for that name.
 */
async function checkAddress(url: string, lookup: NonNullable<HttpContext['lookup']>): Promise<void> {
  // The connection reports a name that is not found.
  const found = await lookup(new URL(url).hostname.replace(/^\[|\]$/g, '')).catch(() => [])
  if (found.every(({ address }) => isPublicAddress(address))) return
  throw channelError('forbidden', `The host of \`url\` has a private address; ${howToAllow}.`)
}

/** A page is of something between the gateway and the receiver. */
function isPage({ headers }: VendorAnswer): boolean {
  return headers.get('content-type')?.startsWith('text/html') === true
}

function errorFrom(answer: VendorAnswer, now: number): PluginError {
  const { status, headers } = answer
  const sentence = `The webhook answered ${status}`
  const retryAfter = readRetryAfter(headers.get('retry-after'), now)
  if (isPage(answer)) return foreignAnswer(answer, { vendor: 'the webhook', addressKey: 'url', now })
  if (status === 401) return channelError('bad-credential', `${sentence}: it has another secret.`)
  if (status === 403) return channelError('forbidden', `${sentence}.`)
  if (status === 404 || status === 410)
    return channelError('bad-target', `${sentence}: it knows no such address, or is not there any more.`)
  if (status === 413) return channelError('too-long', `${sentence}: the message is too long for it.`)
  if (status === 429) return channelError('rate-limited', `${sentence}: too many requests.`, { retryAfter })
  if (status === 408 || status === 425 || status >= 500) {
    const maybeDelivered = status >= 500 && !hasDoneNothing(status) && status !== 502
    return channelError('unavailable', `${sentence}.`, { retryAfter, maybeDelivered })
  }
  return channelError('bad-request', `${sentence}.`)
}
