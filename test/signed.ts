/** Owns signing as senders sign, by the word of their guides, for tests that send: the headers that go with a body. */

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

/** `publicKey`: as Discord shows it, 32 bytes in hex. */
export function createDiscordKeys(): { publicKey: string; privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  // Of DER, the last 32 bytes are the key itself.
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)
  return { publicKey: raw.toString('hex'), privateKey }
}

/** HMAC-SHA-256 in hex, as most of them write it. */
export function hmacOf(body: Body, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

/** Since the Unix epoch, whole. */
export function seconds(): number {
  return Math.floor(Date.now() / 1000)
}
