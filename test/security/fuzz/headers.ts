/** Makes the headers of a hostile request: for authentication, about its body, and unexpected ones. */

import { endpointToken, gatewayToken, hookToken } from './gateway.ts'
import { chosen, type Random, sizeOf, textOf } from './words.ts'

/** The lines of all headers but those of the framing. */
export function headersOf(random: Random): string[] {
  return [
    ...(random.chance(0.65) ? [`Authorization: Bearer ${hookToken}`] : []),
    ...(random.chance(0.3) ? [chosen(random, credentials)] : []),
    ...(random.chance(0.4) ? chosen(random, signatures) : []),
    ...(random.chance(0.5) ? [`Content-Type: ${random.pick(contentTypes)}`] : []),
    ...(random.chance(0.1) ? [`Content-Encoding: ${random.pick(contentEncodings)}`] : []),
    ...(random.chance(0.3) ? chosen(random, outsiders) : []),
  ].map((line) => line.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?'))
}

type Line = (random: Random) => string
type Lines = (random: Random) => readonly string[]

const tokens = [hookToken, endpointToken, gatewayToken, 'wrong', '', ' ', hookToken.slice(1), `${hookToken} `]
const credentials: readonly Line[] = [
  (random) => `Authorization: Bearer ${random.pick(tokens)}`,
  (random) => `authorization: bearer  ${random.pick(tokens)}\t`,
  (random) => `Authorization: Basic ${btoa(`a:${random.pick(tokens)}`)}`,
  (random) => `AUTHORIZATION: ${textOf(random)}`,
  (random) => `Authorization: Bearer ${random.pick(tokens)}, Bearer ${random.pick(tokens)}`,
  (random) => `Authorization: Bearer ${'x'.repeat(sizeOf(random, 9000))}`,
  (random) => `X-Gateway-Token: ${random.pick(tokens)}`,
  (random) => `X-OpenClaw-Token: ${random.pick(tokens)}`,
  (random) => `X-Gitlab-Token: ${random.pick(tokens)}`,
  (random) => `Cookie: token=${random.pick(tokens)}; ${textOf(random)}`,
]

const digests: readonly Line[] = [
  () => 'a'.repeat(64),
  () => 'A'.repeat(40),
  () => 'zz'.repeat(32),
  (random) => 'ab'.repeat(sizeOf(random, 3000)),
  (random) => Buffer.from(textOf(random, 9)).toString('base64'),
  (random) => `${'='.repeat(sizeOf(random, 3000))}`,
  (random) => textOf(random),
]
const digestOf: Line = (random) => chosen(random, digests)
const timeOf: Line = (random) =>
  random.pick([
    `${Math.floor(Date.now() / 1000)}`,
    '',
    '0',
    '-1',
    '1e9',
    '99999999999999999999',
    'NaN',
    ' 1 ',
  ])
const partOf: Line = (random) => `${random.pick(['t', 'v1', 'v0', ''])}=${digestOf(random)}`
const repeated = (random: Random, make: Line, divider: string) =>
  Array.from({ length: 1 + sizeOf(random, 120) }, () => make(random)).join(divider)

/** Signature headers with the vendors' names and random values. */
const signatures: readonly Lines[] = [
  (random) => [`X-Hub-Signature-256: sha256=${digestOf(random)}`],
  (random) => [`X-Hub-Signature: sha1=${digestOf(random)}`, `X-GitHub-Delivery: ${textOf(random)}`],
  (random) => [`Stripe-Signature: ${repeated(random, partOf, ',')}`],
  (random) => [`Stripe-Signature: t=${timeOf(random)},v1=${digestOf(random)}`],
  (random) => [`X-Slack-Signature: v0=${digestOf(random)}`, `X-Slack-Request-Timestamp: ${timeOf(random)}`],
  (random) => [`X-Signature-Ed25519: ${digestOf(random)}`, `X-Signature-Timestamp: ${timeOf(random)}`],
  (random) => [`X-Twilio-Signature: ${digestOf(random)}`],
  (random) => [
    `webhook-id: ${textOf(random)}`,
    `webhook-timestamp: ${timeOf(random)}`,
    `webhook-signature: ${repeated(random, (each) => `v1,${digestOf(each)}`, ' ')}`,
  ],
  (random) => [`svix-id: ${textOf(random)}`, `svix-signature: ${repeated(random, digestOf, ' ')}`],
  (random) => [`X-Shopify-Hmac-Sha256: ${digestOf(random)}`, `X-Shopify-Webhook-Id: ${textOf(random)}`],
  (random) => [`X-PagerDuty-Signature: ${repeated(random, (each) => `v1=${digestOf(each)}`, ',')}`],
  (random) => [`X-Zm-Signature: v0=${digestOf(random)}`, `X-Zm-Request-Timestamp: ${timeOf(random)}`],
  (random) => [`Paddle-Signature: ts=${timeOf(random)};h1=${digestOf(random)}`],
  (random) => [
    `X-Hubspot-Signature-v3: ${digestOf(random)}`,
    `X-Hubspot-Request-Timestamp: ${timeOf(random)}`,
  ],
  (random) => [
    `X-Twilio-Email-Event-Webhook-Signature: ${digestOf(random)}`,
    `X-Twilio-Email-Event-Webhook-Timestamp: ${timeOf(random)}`,
  ],
  (random) => [`X-DocuSign-Signature-1: ${digestOf(random)}`, `X-DocuSign-Signature-99: ${digestOf(random)}`],
  (random) => [`Authorization: Bearer ${repeated(random, digestOf, '.')}`],
  (random) => [
    `x-amz-sns-message-type: ${random.pick(['Notification', 'SubscriptionConfirmation', textOf(random)])}`,
  ],
  (random) => [`Linear-Signature: ${digestOf(random)}`, `Sentry-Hook-Signature: ${digestOf(random)}`],
]

const contentTypes = [
  ...'application/json|application/x-www-form-urlencoded|text/plain|multipart/form-data; boundary=a|'.split(
    '|',
  ),
  ...['application/json; charset=utf-16', 'APPLICATION/JSON;charset="latin1"', 'a/b;'.repeat(500)],
  'application/cloudevents+json',
]
const contentEncodings = 'gzip|deflate|br|identity|gzip, gzip|zstd| GZIP ||__proto__|x-gzip'.split('|')

const outsiders: readonly Lines[] = [
  (random) => [`X-Event: ${textOf(random, 8)}`],
  (random) => [
    `${random.pick(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])}: ${textOf(random)}`,
  ],
  (random) => Array.from({ length: sizeOf(random, 1500) }, (_, index) => `x-${index}: a`),
  (random) => Array.from({ length: 1 + sizeOf(random, 1500) }, () => `X-Same: ${textOf(random, 1)}`),
  (random) => [`X-Long: ${'a'.repeat(sizeOf(random, 20_000))}`],
  (random) => [`Prefer: ${random.pick(['wait=1', 'wait=0', 'wait=99999999999', textOf(random)])}`],
  (random) => [`Idempotency-Key: ${textOf(random)}`],
  (random) => [`X-Forwarded-For: ${textOf(random)}`, `Forwarded: for=${textOf(random)}`],
  (random) => [`WebHook-Request-Origin: ${textOf(random)}`, `X-Hook-Secret: ${textOf(random)}`],
  (random) => [`Connection: ${random.pick(['close', 'keep-alive', 'upgrade', textOf(random)])}`],
]
