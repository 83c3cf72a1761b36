/** Signs requests as senders do, by their guides, and returns the headers. */

import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

type Body = string | Uint8Array

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
export function signedByGitHub(body: Body, secret: string) {
  return { 'x-hub-signature-256': `sha256=${hmacOf(body, secret)}` }
}

/** https://docs.slack.dev/authentication/verifying-requests-from-slack/ `at`: seconds since the Unix epoch. Default: now. */
export function signedBySlack(body: string, secret: string, at = seconds()) {
  return {
    'x-slack-request-timestamp': String(at),
    'x-slack-signature': `v0=${hmacOf(`v0:${at}:${body}`, secret)}`,
  }
}

/** https://docs.stripe.com/webhooks/signature `at`: seconds since the Unix epoch. Default: now. */
export function signedByStripe(body: string, secret: string, at = seconds()) {
  return { 'stripe-signature': `t=${at},v1=${hmacOf(`${at}.${body}`, secret)}` }
}

/** https://docs.discord.com/developers/interactions/overview `at`: seconds since the Unix epoch. Default: now. */
export function signedByDiscord(body: string, key: KeyObject, at = seconds()) {
  const signature = sign(null, Buffer.from(at + body), key)
  return { 'x-signature-timestamp': String(at), 'x-signature-ed25519': signature.toString('hex') }
}

/** `publicKey` is as Discord shows it: 32 bytes in hex. */
export function createDiscordKeys(): { publicKey: string; privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  // The last 32 bytes of the DER encoding are the key itself.
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
  return { publicKey: raw.toString('hex'), privateKey }
}

/** HMAC-SHA-256 in hex, as most senders write it. */
export function hmacOf(body: Body, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

/** Whole seconds since the Unix epoch. */
export function seconds(): number {
  return Math.floor(Date.now() / 1000)
}
