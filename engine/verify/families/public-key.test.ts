import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { createProvider } from '../provider.ts'
import { now, type Row, type Sent, testRows, verifyBy } from '../signing-fixture.ts'

const time = String(now / 1000)
const body = '{"type":2,"name":"Grüße"}'

const edwards = generateKeyPairSync('ed25519')
const [other, unknown] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')]
const rawKey = (key: KeyObject) => Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')
const raw = rawKey(edwards.publicKey)

const discord: VerifyPolicy = { provider: 'discord', publicKey: raw.toString('hex') }
const discordHeaders = (signed = `${time}${body}`, at = time, key = edwards.privateKey): Sent['headers'] => ({
  'x-signature-ed25519': sign(null, Buffer.from(signed), key).toString('hex'),
  'x-signature-timestamp': at,
})
const byDiscord = (...table: readonly (string | Row)[]) => testRows(discord, { body }, ...table)

byDiscord(
  'Discord signs its time and the body, with nothing between them',
  ['good', discordHeaders()],
  ['SIGNATURE_MISMATCH', discordHeaders(`${time}.${body}`)],
  ['SIGNATURE_MISMATCH', discordHeaders(), { body: `${body} ` }],
  // These are the same bytes, divided elsewhere.
  ['SIGNATURE_MISMATCH', discordHeaders(undefined, `${time}1`)],
)

test('while keys rotate each of them is accepted, and the result says which', async () => {
  const publicKey = [rawKey(other.publicKey).toString('hex'), raw.toString('hex').toUpperCase()]
  const ask = (key?: KeyObject) =>
    verifyBy({ ...discord, publicKey }, { body, headers: discordHeaders(undefined, time, key) })
  assert.deepEqual(await ask(), { ok: true, scheme: 'default', secret: 1 })
  assert.deepEqual(await ask(unknown.privateKey), { ok: false, code: 'SIGNATURE_MISMATCH' })
})

const old = String(now / 1000 - 3600)
byDiscord(
  'a signature of Discord that is an hour old is refused, because interactions expire earlier',
  ['TIMESTAMP_OUTSIDE', discordHeaders(`${old}${body}`, old)],
  ['good', discordHeaders(`${old}${body}`, old), { policy: { tolerance: '2h' } }],
  ['SIGNATURE_MISMATCH', discordHeaders(`x${body}`, old)],
)

const signature = String(discordHeaders()?.['x-signature-ed25519'])
const signed = (value: string | readonly string[] | undefined): Sent['headers'] => ({
  ...discordHeaders(),
  'x-signature-ed25519': value,
})
const timed = (value: string | undefined) => ({ ...discordHeaders(), 'x-signature-timestamp': value })
byDiscord(
  'a malformed signature or time of Discord is refused, and nothing throws',
  ...['zz'.repeat(64), signature.slice(2), `${signature}00`, [signature, signature]].map(
    (value): Row => ['SIGNATURE_MALFORMED', signed(value)],
  ),
  ...['0', 'f'].map((digit): Row => ['SIGNATURE_MISMATCH', signed(digit.repeat(128))]),
  ['SIGNATURE_MISSING', signed(undefined)],
  ['TIMESTAMP_MISSING', timed(undefined)],
  ['TIMESTAMP_MALFORMED', timed('soon')],
)

test('without a key nothing can be verified', () => {
  for (const publicKey of [undefined, '', ['', ' ']])
    assert.equal(createProvider({ provider: 'discord', publicKey }).verifier, undefined)
})
byDiscord(
  'with an invalid key nothing matches',
  ...['abc', raw.toString('base64'), raw.toString('hex').slice(2), 'g'.repeat(64)].map(
    (publicKey): Row => ['SIGNATURE_MISMATCH', discordHeaders(), { policy: { publicKey } }],
  ),
)

const zeros = '00'.repeat(31)
byDiscord(
  'a key with which anybody could sign is refused, such as a placeholder of zeros',
  // The key itself or the neutral point with a factor of zero fits every message, or one in four or eight.
  ...[`00${zeros}`, `01${zeros}`, `ec${'ff'.repeat(30)}7f`, `${zeros}80`].flatMap((publicKey) =>
    Array.from({ length: 128 }, (_, index): Row => {
      const signature = `${index % 2 === 0 ? publicKey : `01${zeros}`}${'00'.repeat(32)}`
      const at = String(Number(time) + Math.floor(index / 2))
      return [
        'SIGNATURE_MISMATCH',
        { ...timed(at), 'x-signature-ed25519': signature },
        { policy: { publicKey } },
      ]
    }),
  ),
)

const standard: VerifyPolicy = { provider: 'standard-webhooks', publicKey: `whpk_${raw.toString('base64')}` }
function standardHeaders(prefix = 'v1a,', at = time, id = 'msg_1'): Sent['headers'] {
  const signature = sign(null, Buffer.from(`msg_1.${at}.${body}`), edwards.privateKey).toString('base64')
  return { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `${prefix}${signature}` }
}
const wrong = `v1a,${'A'.repeat(86)}== `
testRows(
  standard,
  { body },
  'a sender of Standard Webhooks may sign with its private key, and only a limited number of signatures is tried',
  ['good', standardHeaders()],
  ['good', standardHeaders(`v1,bm8= ${wrong}v2,bm8= v1a,`)],
  ['SIGNATURE_MALFORMED', standardHeaders('v1,')],
  ['SIGNATURE_MISMATCH', standardHeaders('v1a,', time, 'msg_2')],
  ['TIMESTAMP_OUTSIDE', standardHeaders('v1a,', String(now / 1000 - 301))],
  ['good', standardHeaders(`${wrong.repeat(3)}v1a,`)],
  ['SIGNATURE_MISMATCH', standardHeaders(`${wrong.repeat(4)}v1a,`)],
)

const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' }).toString('base64')
const events = '[{"event":"open"},\r\n{"event":"click"}]\r\n'
const sendgrid = (signature: Buffer | string): Sent['headers'] => {
  const text = typeof signature === 'string' ? signature : signature.toString('base64')
  const prefix = 'x-twilio-email-event-webhook'
  return { [`${prefix}-signature`]: text, [`${prefix}-timestamp`]: time }
}
const signEvents = (dsaEncoding: 'der' | 'ieee-p1363' = 'der', hash = 'sha256') =>
  sign(hash, Buffer.from(`${time}${events}`), { key: curve.privateKey, dsaEncoding })
const good = sendgrid(signEvents())

testRows(
  { provider: 'sendgrid', publicKey: spki(curve.publicKey) },
  { body: events },
  'SendGrid signs its time and the body, down to the last line break, as DER over SHA-256 with a key of one curve',
  ['good', good],
  ['SIGNATURE_MISMATCH', good, { body: events.trimEnd() }],
  ['good', good, { now: now + 86_400_000 }],
  ['TIMESTAMP_OUTSIDE', good, { now: now + 86_400_000, policy: { tolerance: '5m' } }],
  ['SIGNATURE_MISMATCH', sendgrid(signEvents('ieee-p1363'))],
  ['SIGNATURE_MISMATCH', sendgrid(signEvents('der', 'sha1'))],
  ['SIGNATURE_MISMATCH', sendgrid(Buffer.concat([signEvents().subarray(0, 70), Buffer.alloc(2)]))],
  // Without a check, r and s of zero fit every message.
  ['SIGNATURE_MISMATCH', sendgrid(Buffer.from('3006020100020100', 'hex'))],
  ['SIGNATURE_MALFORMED', sendgrid('***')],
  ['SIGNATURE_MISSING', sendgrid('')],
  ['SIGNATURE_MALFORMED', sendgrid('A'.repeat(200))],
  ...[
    generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey,
    edwards.publicKey,
    generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey,
  ].map((key): Row => ['SIGNATURE_MISMATCH', good, { policy: { publicKey: spki(key) } }]),
)
