import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import { signatureData } from '../../../test/sample-data.ts'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { createProvider } from '../provider.ts'
import type { Headers, VerifyResult } from '../verifier.ts'

const now = Date.UTC(2026, 0, 15, 12)
const time = String(now / 1000)
const body = '{"type":2,"name":"Grüße"}'

const noDependencies = { download: () => assert.fail('nothing is downloaded') }

function verify(policy: VerifyPolicy, headers: Headers, rawBody: string, at = now): VerifyResult {
  const request = { method: 'POST', target: '/hooks/a', headers, rawBody: Buffer.from(rawBody), now: at }
  const { verifier } = createProvider(policy)
  assert.ok(verifier)
  const result = verifier.verify(request, noDependencies)
  assert.ok(!(result instanceof Promise))
  return result
}

function codeOf(...args: Parameters<typeof verify>): string {
  const result = verify(...args)
  return result.ok ? 'ok' : result.code
}

interface Vector {
  readonly id: string
  readonly provider: string
  readonly publicKey: string
  readonly headers: Readonly<Record<string, string>>
  readonly rawBody: string
  readonly now: number
  readonly expect: 'valid' | 'invalid'
  readonly why: string
}

const vectors = signatureData('vectors') as Vector[] | undefined

for (const provider of ['discord', 'sendgrid']) {
  const own = vectors?.filter((vector) => vector.provider === provider)
  test(`every known request of ${provider} gets its result`, { skip: own ? false : 'no ../shared' }, () => {
    for (const { id, publicKey, headers, rawBody, now, expect, why } of own ?? []) {
      const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
      const code = codeOf({ provider, publicKey }, Object.fromEntries(lower), rawBody, now * 1000)
      assert.equal(code === 'ok', expect === 'valid', `${id}: ${why} (${code})`)
    }
  })
}

const edwards = generateKeyPairSync('ed25519')
const raw = rawKey(edwards.publicKey)

function rawKey(key: KeyObject): Buffer {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url')
}

function discordHeaders(signed: string, at = time, key = edwards.privateKey): Headers {
  const signature = sign(null, Buffer.from(signed), key).toString('hex')
  return { 'x-signature-ed25519': signature, 'x-signature-timestamp': at }
}

const discord: VerifyPolicy = { provider: 'discord', publicKey: raw.toString('hex') }

test('Discord signs its time and the body, with nothing between them', () => {
  assert.deepEqual(verify(discord, discordHeaders(`${time}${body}`), body), {
    ok: true,
    scheme: 'default',
    secret: 0,
  })
  assert.equal(codeOf(discord, discordHeaders(`${time}.${body}`), body), 'SIGNATURE_MISMATCH')
  assert.equal(codeOf(discord, discordHeaders(`${time}${body}`), `${body} `), 'SIGNATURE_MISMATCH')
  // These are the same bytes, divided elsewhere.
  const moved = discordHeaders(`${time}${body}`, `${time}1`)
  assert.equal(codeOf(discord, moved, body), 'SIGNATURE_MISMATCH')
})

test('while keys rotate each of them is accepted, and the result says which', () => {
  const other = generateKeyPairSync('ed25519')
  const publicKey = [rawKey(other.publicKey).toString('hex'), raw.toString('hex').toUpperCase()]
  const result = verify({ ...discord, publicKey }, discordHeaders(`${time}${body}`), body)
  assert.equal(result.ok && result.secret, 1)
  const stranger = generateKeyPairSync('ed25519').privateKey
  const headers = discordHeaders(`${time}${body}`, time, stranger)
  assert.equal(codeOf({ ...discord, publicKey }, headers, body), 'SIGNATURE_MISMATCH')
})

test('a signature of Discord that is an hour old is refused, because interactions expire earlier', () => {
  const old = String(now / 1000 - 3600)
  const result = verify(discord, discordHeaders(`${old}${body}`, old), body)
  assert.ok(!result.ok)
  assert.deepEqual([result.code, result.skewSeconds], ['TIMESTAMP_OUTSIDE', -3600])
  assert.equal(codeOf({ ...discord, tolerance: '2h' }, discordHeaders(`${old}${body}`, old), body), 'ok')
  assert.equal(codeOf(discord, discordHeaders(`x${body}`, old), body), 'SIGNATURE_MISMATCH')
})

test('a malformed signature or time of Discord is refused, and nothing throws', () => {
  const good = discordHeaders(`${time}${body}`)
  const signature = String(good['x-signature-ed25519'])
  const cases: [Headers, string][] = [
    [{ ...good, 'x-signature-ed25519': 'zz'.repeat(64) }, 'SIGNATURE_MALFORMED'],
    [{ ...good, 'x-signature-ed25519': signature.slice(2) }, 'SIGNATURE_MALFORMED'],
    [{ ...good, 'x-signature-ed25519': `${signature}00` }, 'SIGNATURE_MALFORMED'],
    [{ ...good, 'x-signature-ed25519': '0'.repeat(128) }, 'SIGNATURE_MISMATCH'],
    [{ ...good, 'x-signature-ed25519': 'f'.repeat(128) }, 'SIGNATURE_MISMATCH'],
    [{ ...good, 'x-signature-ed25519': [signature, signature] }, 'SIGNATURE_MALFORMED'],
    [{ ...good, 'x-signature-ed25519': undefined }, 'SIGNATURE_MISSING'],
    [{ ...good, 'x-signature-timestamp': undefined }, 'TIMESTAMP_MISSING'],
    [{ ...good, 'x-signature-timestamp': 'soon' }, 'TIMESTAMP_MALFORMED'],
  ]
  for (const [headers, code] of cases) assert.equal(codeOf(discord, headers, body), code)
  assert.equal(createProvider(discord).verifier?.isPresent({}), false)
})

test('without a key nothing can be verified, and with an invalid key nothing matches', () => {
  for (const publicKey of [undefined, '', ['', ' ']])
    assert.equal(createProvider({ provider: 'discord', publicKey }).verifier, undefined)
  for (const publicKey of ['abc', raw.toString('base64'), raw.toString('hex').slice(2), 'g'.repeat(64)])
    assert.equal(
      codeOf({ ...discord, publicKey }, discordHeaders(`${time}${body}`), body),
      'SIGNATURE_MISMATCH',
    )
})

test('a key with which anybody could sign is refused, such as a placeholder of zeros', () => {
  const zeros = '00'.repeat(31)
  // The key itself or the neutral point with a factor of zero fits every message, or one in four or eight.
  const points = ['00', '01'].map((first) => first + zeros).concat(`ec${'ff'.repeat(30)}7f`, `${zeros}80`)
  for (const publicKey of points) {
    const found = Array.from({ length: 64 }, (_, index) => {
      const signed = { 'x-signature-timestamp': String(Number(time) + index) }
      return [publicKey, `01${zeros}`].map((point) =>
        codeOf(
          { ...discord, publicKey },
          { ...signed, 'x-signature-ed25519': `${point}${'00'.repeat(32)}` },
          body,
        ),
      )
    })
    assert.deepEqual(new Set(found.flat()), new Set(['SIGNATURE_MISMATCH']), publicKey)
  }
})

const standard: VerifyPolicy = { provider: 'standard-webhooks', publicKey: `whpk_${raw.toString('base64')}` }

function standardHeaders(prefix = 'v1a,', at = time): Headers {
  const signature = sign(null, Buffer.from(`msg_1.${at}.${body}`), edwards.privateKey).toString('base64')
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': at, 'webhook-signature': `${prefix}${signature}` }
}

test('a sender of Standard Webhooks may sign with its private key', () => {
  assert.deepEqual(verify(standard, standardHeaders(), body), { ok: true, scheme: 'asymmetric', secret: 0 })
  const among = `v1,bm8= v1a,${'A'.repeat(86)}== v2,bm8= v1a,`
  assert.equal(codeOf(standard, standardHeaders(among), body), 'ok')
  assert.equal(codeOf(standard, standardHeaders('v1,'), body), 'SIGNATURE_MALFORMED')
  assert.equal(codeOf(standard, { ...standardHeaders(), 'webhook-id': 'msg_2' }, body), 'SIGNATURE_MISMATCH')
  const old = String(now / 1000 - 301)
  assert.equal(codeOf(standard, standardHeaders('v1a,', old), body), 'TIMESTAMP_OUTSIDE')
})

test('a digest made with a public key is refused', () => {
  const digest = createHmac('sha256', raw).update(`msg_1.${time}.${body}`).digest('base64')
  const headers = { ...standardHeaders(), 'webhook-signature': `v1,${digest}` }
  assert.notEqual(codeOf(standard, headers, body), 'ok')
})

test('only a limited number of signatures in one header is tried', () => {
  const wrong = `v1a,${'A'.repeat(86)}== `
  assert.equal(codeOf(standard, standardHeaders(`${wrong.repeat(3)}v1a,`), body), 'ok')
  assert.equal(codeOf(standard, standardHeaders(`${wrong.repeat(4)}v1a,`), body), 'SIGNATURE_MISMATCH')
})

const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const spki = (key: KeyObject) => key.export({ type: 'spki', format: 'der' }).toString('base64')
const sendgrid: VerifyPolicy = { provider: 'sendgrid', publicKey: spki(curve.publicKey) }
const events = '[{"event":"open"},\r\n{"event":"click"}]\r\n'

function sendgridHeaders(signature: Buffer | string, at = time): Headers {
  const text = typeof signature === 'string' ? signature : signature.toString('base64')
  return {
    'x-twilio-email-event-webhook-signature': text,
    'x-twilio-email-event-webhook-timestamp': at,
  }
}

const signEvents = (text: string, dsaEncoding: 'der' | 'ieee-p1363' = 'der', hash = 'sha256') =>
  sign(hash, Buffer.from(text), { key: curve.privateKey, dsaEncoding })

test('SendGrid signs its time and the body, down to the last line break', () => {
  const headers = sendgridHeaders(signEvents(`${time}${events}`))
  assert.equal(codeOf(sendgrid, headers, events), 'ok')
  assert.equal(codeOf(sendgrid, headers, events.trimEnd()), 'SIGNATURE_MISMATCH')
  assert.equal(codeOf(sendgrid, headers, events, now + 86_400_000), 'ok')
  const strict = { ...sendgrid, tolerance: '5m' }
  assert.equal(codeOf(strict, headers, events, now + 86_400_000), 'TIMESTAMP_OUTSIDE')
})

test('a signature of SendGrid is DER over SHA-256, and nothing else', () => {
  const bare = signEvents(`${time}${events}`, 'ieee-p1363')
  assert.equal(codeOf(sendgrid, sendgridHeaders(bare), events), 'SIGNATURE_MISMATCH')
  const shorter = signEvents(`${time}${events}`, 'der', 'sha1')
  assert.equal(codeOf(sendgrid, sendgridHeaders(shorter), events), 'SIGNATURE_MISMATCH')
  const trailing = Buffer.concat([signEvents(`${time}${events}`).subarray(0, 70), Buffer.alloc(2)])
  assert.equal(codeOf(sendgrid, sendgridHeaders(trailing), events), 'SIGNATURE_MISMATCH')
  // Without a check, r and s of zero fit every message.
  const zero = Buffer.from('3006020100020100', 'hex')
  assert.equal(codeOf(sendgrid, sendgridHeaders(zero), events), 'SIGNATURE_MISMATCH')
  for (const signature of ['***', '', 'A'.repeat(200)])
    assert.notEqual(codeOf(sendgrid, sendgridHeaders(signature), events), 'ok')
})

test('a key on another curve or of another kind is no key of SendGrid', () => {
  const headers = sendgridHeaders(signEvents(`${time}${events}`))
  const keys = [
    generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey,
    edwards.publicKey,
    generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey,
  ]
  for (const key of keys)
    assert.equal(codeOf({ ...sendgrid, publicKey: spki(key) }, headers, events), 'SIGNATURE_MISMATCH')
})
