/** Makes the bodies of hostile requests: valid and broken, deep and wide, and compressed. */

import { deflateRawSync, gzipSync } from 'node:zlib'
import { bytesOf, chosen, piece, type Random, sizeOf, textOf } from './words.ts'

export function bodyOf(random: Random): Buffer {
  const body = chosen(random, makers)
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return random.chance(0.1) ? bytes.subarray(0, random.below(bytes.length + 1)) : bytes
}

/** A megabyte of zeros in a thousand bytes. */
const bomb = gzipSync(Buffer.alloc(1024 * 1024))
const rawBomb = deflateRawSync(Buffer.alloc(1024 * 1024, '['))

const makers: readonly ((random: Random) => string | Buffer)[] = [
  () => '',
  () => '{}',
  (random) => JSON.stringify({ text: textOf(random), mode: 'next-heartbeat' }),
  (random) => JSON.stringify({ message: textOf(random), wakeMode: 'next-heartbeat', deliver: false }),
  (random) => JSON.stringify(anyValue(random, 4)),
  (random) => JSON.stringify({ id: random.below(50), a: anyValue(random, 3) }),
  (random) => `{"a":${'['.repeat(sizeOf(random, 30_000))}`,
  (random) => nested(random, '[', ']'),
  (random) => nested(random, '{"a":', '}'),
  (random) =>
    `{"a":${'9'.repeat(1 + sizeOf(random, 9000))},"b":-0.${'0'.repeat(sizeOf(random, 9000))}1,"c":1e${random.below(9999)}}`,
  () => '{"__proto__":{"a":1},"constructor":{"prototype":{"b":2}},"toString":null,"then":{}}',
  (random) =>
    `{${Array.from({ length: sizeOf(random, 2000) }, (_, index) => `"${piece(random).replaceAll(/["\\]/g, '')}${index}":0`).join()}}`,
  (random) => `payload=${encodeURIComponent(JSON.stringify(anyValue(random, 3)))}`,
  (random) =>
    Array.from({ length: sizeOf(random, 1500) }, () => `${textOf(random)}=${textOf(random)}`).join('&'),
  (random) => JSON.stringify({ type: 'url_verification', challenge: textOf(random), token: piece(random) }),
  (random) => JSON.stringify({ type: 1, challenge: anyValue(random, 2) }),
  (random) =>
    JSON.stringify({ event: 'endpoint.url_validation', payload: { plainToken: anyValue(random, 1) } }),
  (random) =>
    `{"signature":${JSON.stringify({ timestamp: anyValue(random, 1), token: anyValue(random, 1), signature: anyValue(random, 1) })}}`,
  (random) => snsMessage(random),
  () => Buffer.from('\ufeff{"text":"a"}', 'utf16le'),
  (random) => bytesOf(random, sizeOf(random, 5000)),
  (random) =>
    Buffer.concat([
      Buffer.from('{"text":"'),
      Buffer.from([0xc0, 0xaf, 0xff, random.below(256)]),
      Buffer.from('"}'),
    ]),
  () => bomb,
  () => rawBomb,
  (random) => gzipSync(JSON.stringify({ text: textOf(random), mode: 'next-heartbeat' })),
  (random) => 'x'.repeat(random.below(160_000)),
]

function nested(random: Random, open: string, close: string): string {
  const levels = sizeOf(random, 1500)
  return `{"a":${open.repeat(levels)}0${close.repeat(levels)}}`
}

const snsTypes = ['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']
const certificateUrls = [
  'https://sns.us-east-1.amazonaws.com.evil.invalid/a.pem',
  'http://sns.us-east-1.amazonaws.com/a.pem',
  'https://sns.us-east-1.amazonaws.com@evil.invalid/a.pem',
]

/** The address of its certificate does not exist, and is not fetched. */
function snsMessage(random: Random): string {
  return JSON.stringify({
    Type: random.pick([...snsTypes, textOf(random)]),
    MessageId: textOf(random),
    TopicArn: random.pick(['arn:aws:sns:us-east-1:123456789012:a', textOf(random)]),
    Message: textOf(random),
    Timestamp: new Date().toISOString(),
    SignatureVersion: random.pick(['1', '2', textOf(random)]),
    Signature: Buffer.from(textOf(random, 9)).toString('base64'),
    SigningCertURL: random.pick([...certificateUrls, textOf(random)]),
    SubscribeURL: `https://evil.invalid/${textOf(random)}`,
  })
}

function anyValue(random: Random, depth: number): unknown {
  const makers: (() => unknown)[] = [
    () => textOf(random),
    () => random.below(1_000_000) / 7,
    () => random.pick([null, true, false, 0, -0, 1e308, 2 ** 53]),
  ]
  if (depth > 0) {
    makers.push(
      () => Array.from({ length: random.below(4) }, () => anyValue(random, depth - 1)),
      () =>
        Object.fromEntries(
          Array.from({ length: random.below(4) }, () => [piece(random), anyValue(random, depth - 1)]),
        ),
    )
  }
  return random.pick(makers)()
}
