/**
 * Turns an answer that is not in the vendor's form into an error. Such an answer comes from a proxy, a tunnel or a firewall
 * before the vendor, or the configured address leads somewhere else.
 */

import { channelError } from './channel-error.ts'
import type { PluginError } from './plugin-error.ts'
import { readRetryAfter } from './retry.ts'
import type { VendorAnswer } from './vendor-call.ts'

export interface ForeignAnswerOptions {
  /** The vendor that did not answer, such as `Slack's Web API`. */
  readonly vendor: string
  /** The key of the configuration that has the vendor's address. Default: `baseUrl`. */
  readonly addressKey?: string
  /** True if the call was the one that sends the message. Default: true. */
  readonly isDelivery?: boolean
  /** The time in milliseconds since the Unix epoch. Default: the system's clock. */
  readonly now?: number
}

/** The call that was answered. */
export type AnsweredCall = Required<Omit<ForeignAnswerOptions, 'vendor' | 'addressKey'>>

/**
 * The statuses with which a proxy says that it did not reach the vendor: 502, 503, and Cloudflare's own
 * (developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors). A 502 may also mean that the
 * vendor broke off its answer. In an outage nearly every 502 means that the vendor was not reached, and a reply that arrives
 * late automatically is worth more than one that waits for an operator.
 */
const unreached: ReadonlySet<number> = new Set([502, 503, 521, 522, 523, 525, 526, 530])

/** The statuses that refuse the way to the vendor and not the message: a missing pass, or an unknown address. */
const noWay: ReadonlySet<number> = new Set([401, 404, 405, 407])

/**
 * Returns the error for an answer that is not the vendor's. Whatever refuses a request has not passed it on; whatever fails
 * may have. A firewall may refuse one message for its words, so only a refusal of the way affects the whole channel.
 */
export function foreignAnswer(
  { status, headers }: VendorAnswer,
  { vendor, addressKey = 'baseUrl', isDelivery = true, now = Date.now() }: ForeignAnswerOptions,
): PluginError {
  const retryAfter = readRetryAfter(headers.get('retry-after'), now)
  if (status === 429) {
    const text = `A proxy before ${vendor} asks for fewer requests (429).`
    return channelError('rate-limited', text, { retryAfter, wholeService: true })
  }
  if (status === 413) {
    return channelError(
      'too-long',
      `A proxy before ${vendor} refuses the message because of its length (413).`,
    )
  }
  const isRefusal = status >= 300 && status < 500
  if (unreached.has(status)) {
    const text = `${vendor} was not reached: a proxy before it answers ${status}.`
    return channelError('unavailable', text, { retryAfter })
  }
  const text = `What answers at \`${addressKey}\` is not ${vendor} (${status}): fix the address, or the proxy before it.`
  const maybeDelivered = isDelivery && !isRefusal
  return channelError('unavailable', text, { retryAfter, maybeDelivered, wholeService: noWay.has(status) })
}
