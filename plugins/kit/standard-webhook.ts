/** Signs outgoing webhooks as the specification of Standard Webhooks asks. */

import { createHmac } from 'node:crypto'

/**
 * The headers of a webhook.
 *
 * Source: github.com/standard-webhooks/standard-webhooks, `spec/standard-webhooks.md`, "Signature scheme".
 *
 * @param id - the same for each attempt at one message: receivers leave out what they have seen
 * @param at - milliseconds since the Unix epoch
 * @param secret - base64, after `whsec_` or alone
 */
export function signWebhook(id: string, at: number, body: string, secret: string): Record<string, string> {
  const seconds = Math.floor(at / 1000)
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` }
}
