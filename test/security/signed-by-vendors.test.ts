/**
 * Sends requests that the vendors' own libraries sign, over a socket, and asserts that they are accepted and changed
 * ones refused. The same libraries verify each request too, as an independent witness.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sign as signForGitHub, verify as verifyAsGitHub } from '@octokit/webhooks-methods'
import { isValidSlackRequest } from '@slack/bolt/dist/receivers/verify-request.js'
import { verifyKey as verifyAsDiscord } from 'discord-interactions'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import nacl from 'tweetnacl'
import twilio from 'twilio'
import { gatewayToken, hookToken, install } from '../installation.ts'
import { seconds, signedBySlack } from '../signed.ts'

interface Post {
  /** The part of the address after the endpoint's name. */
  readonly query?: string
  readonly headers: Record<string, string>
  readonly body: string
}

interface Vendor {
  /** The endpoint's `verify`, as one line of YAML. */
  readonly verify: string
  /** Makes a payload that was not signed before. */
  readonly fresh: (number: number) => string
  readonly contentType?: string
  readonly sign: (body: string) => Post | Promise<Post>
  /** Asks the library whether a request is genuine. */
  readonly isGenuine: (post: Post) => boolean | Promise<boolean>
}

const publicUrl = 'https://hooks.example.com/hooks/twilio'
const secrets = {
  github: 'a github secret with ümlauts and spaces',
  stripe: 'whsec_ThisIsNotDecodedAtStripeItIsTheKeyItself',
  slack: '8f742231b10e8888abcd99yyyzzz85a5',
  standard: `whsec_${Buffer.from('a standard webhooks secret of 32').toString('base64')}`,
  svix: `whsec_${Buffer.from('24 bytes are the minimum').toString('base64')}`,
  twilio: '12345678901234567890123456789012',
}
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const discordKeys = nacl.sign.keyPair()
const stripe = new Stripe('sk_test_of_nobody')

const vendors: Readonly<Record<string, Vendor>> = {
  github: {
    verify: `{ provider: github, secret: "${secrets.github}" }`,
    fresh: (number) => JSON.stringify({ action: 'opened', number, title: 'Zażółć gęślą jaźń 🚀' }),
    async sign(body) {
      return { body, headers: { 'x-hub-signature-256': await signForGitHub(secrets.github, body) } }
    },
    isGenuine: ({ body, headers }) =>
      verifyAsGitHub(secrets.github, body, headers['x-hub-signature-256'] ?? ''),
  },
  stripe: {
    verify: `{ provider: stripe, secret: ${secrets.stripe} }`,
    fresh: (number) =>
      JSON.stringify({ id: `evt_${number}`, object: 'event', type: 'invoice.paid' }, null, 2),
    sign(body) {
      const signature = stripe.webhooks.generateTestHeaderString({ payload: body, secret: secrets.stripe })
      return { body, headers: { 'stripe-signature': signature } }
    },
    isGenuine: ({ body, headers }) =>
      holds(() => stripe.webhooks.constructEvent(body, headers['stripe-signature'] ?? '', secrets.stripe)),
  },
  slack: {
    verify: `{ provider: slack, secret: ${secrets.slack} }`,
    fresh: (number) =>
      JSON.stringify({ type: 'event_callback', event_id: `Ev${number}`, event: { text: 'hi' } }),
    // Slack's libraries can only verify.
    sign: (body) => ({ body, headers: signedBySlack(body, secrets.slack) }),
    isGenuine: ({ body, headers }) =>
      isValidSlackRequest({ signingSecret: secrets.slack, body, headers: headers as never }),
  },
  standard: {
    verify: `{ provider: standard-webhooks, secret: ${secrets.standard} }`,
    fresh: (number) => JSON.stringify({ type: 'response.completed', data: { number } }),
    sign: (body) => standardSigned('webhook', new StandardWebhook(secrets.standard), body),
    isGenuine: ({ body, headers }) =>
      holds(() => new StandardWebhook(secrets.standard).verify(body, headers)),
  },
  svix: {
    verify: `{ provider: svix, secret: ${secrets.svix} }`,
    fresh: (number) => JSON.stringify({ type: 'user.created', data: { number } }),
    sign: (body) => standardSigned('svix', new SvixWebhook(secrets.svix), body),
    isGenuine: ({ body, headers }) => holds(() => new SvixWebhook(secrets.svix).verify(body, headers)),
  },
  twilio: {
    verify: `{ provider: twilio, secret: "${secrets.twilio}", publicUrl: "${publicUrl}" }`,
    contentType: 'application/x-www-form-urlencoded',
    fresh: (number) =>
      new URLSearchParams({ MessageSid: `SM${number}`, Body: 'né à l’été + 1', From: '+4912' }).toString(),
    sign(body) {
      const signature = twilio.getExpectedTwilioSignature(secrets.twilio, publicUrl, fieldsOf(body))
      return { body, headers: { 'x-twilio-signature': signature } }
    },
    isGenuine: ({ body, headers }) =>
      twilio.validateRequest(secrets.twilio, headers['x-twilio-signature'] ?? '', publicUrl, fieldsOf(body)),
  },
  discord: {
    verify: `{ provider: discord, publicKey: "${hex(discordKeys.publicKey)}" }`,
    fresh: (number) => JSON.stringify({ type: 2, id: String(number), data: { name: 'ask' } }),
    sign(body) {
      const timestamp = String(seconds())
      const signature = hex(nacl.sign.detached(Buffer.from(timestamp + body), discordKeys.secretKey))
      return { body, headers: { 'x-signature-timestamp': timestamp, 'x-signature-ed25519': signature } }
    },
    isGenuine({ body, headers }) {
      const { 'x-signature-ed25519': signature = '', 'x-signature-timestamp': timestamp = '' } = headers
      return verifyAsDiscord(body, signature, timestamp, hex(discordKeys.publicKey))
    },
  },
}

const configuration = `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: info, format: json } }
hooks:
  enabled: true
  token: ${hookToken}
  endpoints:
${Object.entries(vendors)
  .map(([name, { verify }]) => `    ${name}: { verify: ${verify} }\n`)
  .join('')}  mappings:
    - { id: any, action: agent, message: "Something came from {{path}}.", deliver: false }
`

/** Number of fresh payloads that each vendor signs. */
const payloads = 5

test("a signature of each vendor's library is accepted for its own body alone, and the hook token does not replace it", async (t) => {
  const { gateway, read } = await install(t, { 'reveille.yaml': configuration })
  const address = await gateway.listen()
  async function send(name: string, { query = '', headers, body }: Post, type = 'application/json') {
    const response = await fetch(`${address}/hooks/${name}${query}`, {
      method: 'POST',
      headers: { 'content-type': type, ...headers },
      body,
    })
    const { code } = (await response.json()) as { code?: string }
    return [response.status, code]
  }

  for (const [name, { fresh, sign, isGenuine, contentType }] of Object.entries(vendors))
    await t.test(name, async () => {
      for (let number = 1; number <= payloads; number++) {
        const post = await sign(fresh(number))
        assert.equal(await isGenuine(post), true)
        assert.deepEqual(await send(name, post, contentType), [202, undefined])
        const changed = { ...post, body: (await sign(fresh(number + 1000))).body }
        assert.equal(await isGenuine(changed), false)
        assert.deepEqual(await send(name, changed, contentType), [401, 'UNAUTHORIZED'])
        const bare = { headers: { authorization: `Bearer ${hookToken}` }, body: post.body }
        assert.deepEqual(
          await send(name, bare, contentType),
          [401, 'UNAUTHORIZED'],
          'the token is no signature',
        )
      }
      const { items } = await read<{ items: unknown[] }>(`/api/runs?kind=run&endpoint=${name}`)
      assert.equal(items.length, payloads)
    })

  await t.test(
    'a JSON body is accepted from Twilio, which signs its digest in the public address',
    async () => {
      const body = JSON.stringify({ CallSid: 'CA1', CallStatus: 'completed' })
      for (const [query, sent, status] of [
        [`?bodySHA256=${twilio.getExpectedBodyHash(body)}&of=1`, body, 202],
        [`?bodySHA256=${twilio.getExpectedBodyHash(body)}&of=1`, `${body} `, 401],
        ['?of=1', body, 401],
      ] as const) {
        const signature = twilio.getExpectedTwilioSignature(secrets.twilio, `${publicUrl}${query}`, {})
        const answer = await send('twilio', {
          query,
          headers: { 'x-twilio-signature': signature },
          body: sent,
        })
        assert.equal(answer[0], status, `${query} ${sent}`)
      }
    },
  )
})

function standardSigned(
  brand: 'webhook' | 'svix',
  webhook: { sign(id: string, timestamp: Date, body: string): string },
  body: string,
): Post {
  const [id, now] = [`msg_${crypto.randomUUID()}`, new Date()]
  return {
    body,
    headers: {
      [`${brand}-id`]: id,
      [`${brand}-timestamp`]: String(Math.floor(now.getTime() / 1000)),
      [`${brand}-signature`]: webhook.sign(id, now, body),
    },
  }
}

function fieldsOf(form: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(form))
}

function holds(check: () => unknown): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}
