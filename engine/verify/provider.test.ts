import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HmacPolicy } from '../config/schema/policy-schema.ts'
import { providerRows } from '../providers/index.ts'
import { createProvider } from './provider.ts'
import { digest, judge, seconds, verifyBy } from './signing-fixture.ts'
import { isSignatureRight } from './verifier.ts'

const day = 86_400_000

test('without a secret there is no verifier, and blank secrets count as none; an unknown name verifies nothing', () => {
  for (const secret of [undefined, '', '  ', [], ['', '\n']])
    assert.equal(createProvider({ provider: 'github', secret }).verifier, undefined)
  assert.notEqual(createProvider({ provider: 'github', secret: ['', 'old'] }).verifier, undefined)
  for (const provider of [undefined, 'githup', 'constructor', '__proto__', 'hmac']) {
    const made = createProvider({ provider, secret: 'x' })
    assert.deepEqual([made.verifier, made.retryHorizonMs], [undefined, day])
    assert.equal(made.deliveryIdOf({ headers: {}, payload: {}, rawBody: Buffer.alloc(0) }), undefined)
  }
})

test('a provider can be made from any policy, remembers deliveries for a day at least, and names headers with a secret', () => {
  for (const { name, schemes, tokenHeaders = [] } of providerRows) {
    const odd = { secret: ['not in this form', 'ÿ'], publicKey: '?', publicUrl: 'https://a' }
    assert.ok(createProvider({ provider: name, ...odd }).retryHorizonMs >= day, name)
    for (const scheme of schemes)
      assert.ok(scheme.family !== 'token' || tokenHeaders.includes(scheme.header), name)
  }
  assert.equal(createProvider({ provider: 'docusign' }).retryHorizonMs, 15 * day)
  assert.deepEqual(createProvider({ provider: 'gitlab' }).tokenHeaders, ['x-gitlab-token'])
})

test('a signature in a header is recognised as present from the headers alone', () => {
  for (const [provider, header, isPresent] of [
    ['github', {}, false],
    ['github', { 'x-hub-signature-256': '' }, false],
    ['github', { 'x-hub-signature-256': 'anything' }, true],
    // The request is refused as too weak.
    ['github', { 'x-hub-signature': 'anything' }, true],
    ['docusign', { 'x-docusign-signature-3': 'anything' }, true],
    ['mailgun', {}, true],
  ] as const)
    assert.equal(createProvider({ provider, secret: 'x' }).verifier?.isPresent(header), isPresent)
})

test('a header that came twice is joined to one text, which is not a signature', async () => {
  const good = `sha256=${digest('', 'x')}`
  const headers = { 'x-hub-signature-256': [good, good] }
  assert.equal(await judge({ provider: 'github', secret: 'x' }, { headers }), 'SIGNATURE_MALFORMED')
})

test('a correct signature at the wrong time has another code than a wrong signature', async () => {
  const policy = { provider: 'stripe', secret: 'x' }
  const headers = { 'stripe-signature': `t=${seconds - day},v1=${digest(`${seconds - day}.{}`, 'x')}` }
  assert.equal(isSignatureRight(await verifyBy(policy, { body: '{}', headers })), true)
  assert.equal(isSignatureRight(await verifyBy({ ...policy, secret: 'y' }, { body: '{}', headers })), false)
})

const hmac: HmacPolicy = {
  ...{ header: 'X-Sig', algorithm: 'sha512', encoding: 'base64url', key: 'hex', prefix: 'v9:', divider: ';' },
  signed: '{method} {url}|{id}|{timestamp}|{body}',
  ...{ timestampHeader: 'X-Time', timestampUnit: 'ms', idHeader: 'X-Id' },
}
const plain = { ...hmac, encoding: 'hex', key: 'text', prefix: undefined } as const

test('hmac: every difference between senders can be configured', async () => {
  const key = '00ff'.repeat(16)
  const policy = { provider: 'hmac', secret: key, hmac, publicUrl: 'https://a.example/in' }
  const signed = `PUT https://a.example/in?x=1|7|${seconds}000|{}`
  const made = digest(signed, Buffer.from(key, 'hex'), 'sha512', 'base64url')
  const headers = { 'x-sig': `v8:no; v9:${made}`, 'x-time': `${seconds}000`, 'x-id': '7' }
  const sent = { method: 'PUT', target: '/in?x=1', body: '{}', headers }
  assert.equal(await judge(policy, sent), 'good')
  for (const wrong of [
    { ...sent, method: 'POST' },
    { ...sent, target: '/in?x=2' },
    { ...sent, body: '[]' },
    { ...sent, headers: { ...headers, 'x-id': '8' } },
    { ...sent, headers: { ...headers, 'x-time': `${seconds}001` } },
  ])
    assert.equal(await judge(policy, wrong), 'SIGNATURE_MISMATCH')
})

test('hmac: a signed time has a window of five minutes, or the configured one, and an unsigned time has none', async () => {
  const at = async (time: number, signed: string, tolerance?: string) => {
    const policy = { ...plain, signed, timestampUnit: 's' } as const
    const text = signed.replace('{timestamp}', String(time)).replace('{body}', '{}')
    const headers = { 'x-sig': digest(text, 'x', 'sha512'), 'x-time': String(time) }
    return judge({ provider: 'hmac', secret: 'x', hmac: policy, tolerance }, { body: '{}', headers })
  }
  assert.equal(await at(seconds - 300, '{timestamp}.{body}'), 'good')
  assert.equal(await at(seconds - 301, '{timestamp}.{body}'), 'TIMESTAMP_OUTSIDE')
  assert.equal(await at(seconds - 301, '{timestamp}.{body}', '1h'), 'good')
  assert.equal(await at(1, '{body}', '1m'), 'good')
})

test('hmac: braces around anything but a slot are literal text', async () => {
  const policy = { ...plain, algorithm: 'sha256', signed: '{x}{{body}}' } as const
  const headers = { 'x-sig': digest('{x}{[]}', 'x') }
  assert.equal(await judge({ provider: 'hmac', secret: 'x', hmac: policy }, { body: '[]', headers }), 'good')
})

test('a time in text form is read to the millisecond, in any zone, and is signed as it was written', async () => {
  const hmac = {
    ...plain,
    algorithm: 'sha256',
    signed: '{timestamp}{body}',
    timestampUnit: 'rfc3339',
  } as const
  const policy = { provider: 'hmac', secret: 's', hmac }
  const at = (time: string, now: number) =>
    judge(policy, { body: '{}', now, headers: { 'x-time': time, 'x-sig': digest(`${time}{}`, 's') } })
  const moment = Date.UTC(2026, 0, 15, 12, 0, 0, 123)
  const good = `2026-01-15T12:00:00.123Z 2026-01-15T12:00:00.123456789Z 2026-01-15t12:00:00.1234z
    2026-01-15T14:30:00.123+02:30 2026-01-15T12:00:00.123-00:00`
  for (const time of good.split(/\s+/)) {
    assert.equal(await at(time, moment + 300_000), 'good', time)
    assert.equal(await at(time, moment + 300_001), 'TIMESTAMP_OUTSIDE', time)
    assert.equal(await at(time, moment - 300_001), 'TIMESTAMP_OUTSIDE', time)
  }
  const bad = `1768478400 ¦ 2026-01-15 ¦ 2026-01-15T12:00:00 ¦ 2026-01-15 12:00:00Z ¦ 2026-13-15T12:00:00Z ¦
    2026-01-15T24:00:00Z ¦ 2026-01-15T12:00Z ¦ 2026-01-15T12:00:00.Z ¦ 2026-01-15T12:00:00+0200 ¦
    +002026-01-15T12:00:00Z ¦ Thu, 15 Jan 2026 12:00:00 GMT`
  for (const time of [...bad.split(/ ¦\s+/), ' 2026-01-15T12:00:00Z'])
    assert.equal(await at(time, moment), 'TIMESTAMP_MALFORMED', time)
})
