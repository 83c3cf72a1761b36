/** Owns what a refusal of BlueBubbles means: whether a retry can help, and whether the message may be there all the same. */

import {
  compileRedaction,
  oneLine,
  PluginError,
  type PluginErrorOptions,
  readRetryAfter,
  type VendorAnswer,
} from '@reveille/kit'

export interface RefusalOptions {
  /** Whether the call is one that sends a message. */
  readonly sends: boolean
  /** What must not be quoted: the password, and the text of the message. */
  readonly hidden: readonly string[]
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

/** Of its own words in ours. Characters. */
const longestQuote = 160

/** Its error shape: `packages/server/src/server/api/http/api/v1/responses` of BlueBubblesApp/bluebubbles-server, 1.9.9. */
interface Refusal {
  readonly error?: { readonly type?: unknown; readonly message?: unknown }
  readonly data?: { readonly error?: unknown } | null
}

export function refusalOf(answer: VendorAnswer, options: RefusalOptions): PluginError {
  const { status, json } = answer
  const { sends, hidden } = options
  const { error, data } = (typeof json === 'object' && json !== null ? json : {}) as Refusal
  const redact = compileRedaction(hidden)
  const said = typeof error?.message === 'string' ? oneLine(redact(error.message), longestQuote) : ''
  const words = said === '' ? '' : `: ${said.replace(/[.!]$/, '')}`
  const create = (text: string, facts: PluginErrorOptions) => new PluginError(`${text}.`, facts)
  const unsure = { code: 'unavailable', retryable: true, maybeDelivered: sends }

  if (error?.type === undefined) return foreign(answer, options)
  if (status === 401 || status === 403) {
    const text = `BlueBubbles refuses the password (${status}); set the server password of BlueBubbles as \`password\``
    return create(text, { code: 'bad-credential', retryable: true, wholeChannel: true })
  }
  if (status === 400 && /already queued/i.test(said)) {
    // An earlier attempt at the same part, whose outcome nobody has heard.
    return create('BlueBubbles is still sending an earlier attempt at this message (400)', unsure)
  }
  if (status === 404) {
    const text = 'There is no such chat on the Mac (404): mend the address, or begin the chat in Messages'
    return create(text, { code: 'bad-target', retryable: false })
  }
  if (status === 500 && error.type === 'iMessage Error') {
    // It gives a message half a minute to show up in Messages; what then has not may still come.
    if (/time(?:d )?out/i.test(said))
      return create(`Messages did not confirm the message in time${words}`, unsure)
    const number = typeof data?.error === 'number' && data.error !== 0 ? ` (error ${data.error})` : ''
    return create(`Messages did not send it${number}${words}`, { code: 'bad-request', retryable: false })
  }
  if (status >= 500) return create(`BlueBubbles failed (${status})${words}`, unsure)
  return create(`BlueBubbles refuses the message (${status})${words}`, {
    code: 'bad-request',
    retryable: false,
  })
}

/**
 * What a proxy or tunnel before the Mac says when it did not reach it: 503, and Cloudflare's 521 to 523, 525, 526 and 530
 * (https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/).
 */
const unreached = new Set([503, 521, 522, 523, 525, 526, 530])

/** An answer without BlueBubbles' shape: of what stands before the Mac, or of something else altogether. */
function foreign({ status, headers }: VendorAnswer, { sends, now }: RefusalOptions): PluginError {
  const retryAfter = readRetryAfter(headers.get('retry-after'), now)
  const wait = retryAfter === undefined ? {} : { retryAfter }
  if (status === 429) {
    const options = { code: 'rate-limited', retryable: true, ...wait }
    return new PluginError('The way to BlueBubbles asks for fewer messages (429).', options)
  }
  if (status === 413) {
    const options = { code: 'too-long', retryable: false }
    return new PluginError('The way to BlueBubbles refuses the message for its length (413).', options)
  }
  const isRefusal = status >= 400 && status < 500
  const text = `What answers at \`baseUrl\` is not BlueBubbles (${status}); see that the Mac is on and its server runs.`
  const maybeDelivered = sends && !isRefusal && !unreached.has(status)
  return new PluginError(text, { code: 'unavailable', retryable: true, maybeDelivered, ...wait })
}
