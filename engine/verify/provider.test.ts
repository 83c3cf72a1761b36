import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HmacPolicy } from '../config/schema/policy-schema.ts'
import { providerNames, providerRows } from '../providers/index.ts'
import { createProvider } from './provider.ts'
import { digest, judge, seconds, verifyBy } from './signing-fixture.ts'
import { isSignatureRight } from './verifier.ts'

const day = 86_400_000

test('without a secret there is a provider and no verifier, and blank secrets count as none', () => {
  for (const secret of [undefined, '', '  ', [], ['', '\n']]) {
    assert.equal(createProvider({ provider: 'github', secret }).verifier, undefined)
  }
  assert.notEqual(createProvider({ provider: 'github', secret: ['', 'old'] }).verifier, undefined)
})

test('an unknown name makes a provider that verifies nothing', () => {
  for (const provider of [undefined, 'githup', 'constructor', '__proto__', 'hmac']) {
    const made = createProvider({ provider, secret: 'x' })
    assert.equal(made.verifier, undefined)
    assert.equal(made.retryHorizonMs, day)
    assert.equal(made.deliveryIdOf({ headers: {}, payload: {}, rawBody: Buffer.alloc(0) }), undefined)
  }
})

test('a provider can be made from any policy, and remembers deliveries for at least a day', () => {
  for (const provider of providerNames) {
    const made = createProvider({
      provider,
      secret: ['not in this form', 'ÿ'],
      publicKey: '?',
      publicUrl: 'https://a',
    })
    assert.ok(made.retryHorizonMs >= day, provider)
  }
  assert.equal(createProvider({ provider: 'docusign' }).retryHorizonMs, 15 * day)
})

test('a provider names the headers that hold a secret', () => {
  assert.deepEqual(createProvider({ provider: 'gitlab' }).tokenHeaders, ['x-gitlab-token'])
  for (const { name, schemes, tokenHeaders = [] } of providerRows) {
    for (const scheme of schemes) {
      if (scheme.family === 'token') assert.ok(tokenHeaders.includes(scheme.header), name)
    }
  }
})

test('a signature in a header is recognised as present from the headers alone', () => {
  const isPresent = (provider: string, headers: Record<string, string>) =>
    createProvider({ provider, secret: 'x' }).verifier?.isPresent(headers)
  assert.equal(isPresent('github', {}), false)
  assert.equal(isPresent('github', { 'x-hub-signature-256': '' }), false)
  assert.equal(isPresent('github', { 'x-hub-signature-256': 'anything' }), true)
  // The request is refused as too weak.
  assert.equal(isPresent('github', { 'x-hub-signature': 'anything' }), true)
  assert.equal(isPresent('docusign', { 'x-docusign-signature-3': 'anything' }), true)
  assert.equal(isPresent('mailgun', {}), true)
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
  header: 'X-Sig',
  algorithm: 'sha512',
  encoding: 'base64url',
  key: 'hex',
  signed: '{method} {url}|{id}|{timestamp}|{body}',
  prefix: 'v9:',
  divider: ';',
  timestampHeader: 'X-Time',
  timestampUnit: 'ms',
  idHeader: 'X-Id',
}

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
  ]) {
    assert.equal(await judge(policy, wrong), 'SIGNATURE_MISMATCH')
  }
})

test('hmac: a signed time has a window of five minutes, or the configured one, and an unsigned time has none', async () => {
  const at = async (time: number, signed: string, tolerance?: string) => {
    const policy = {
      ...hmac,
      encoding: 'hex',
      key: 'text',
      signed,
      prefix: undefined,
      timestampUnit: 's',
    } as const
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
  const policy = {
    ...hmac,
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'text',
    prefix: undefined,
    signed: '{x}{{body}}',
  } as const
  const headers = { 'x-sig': digest('{x}{[]}', 'x') }
  assert.equal(await judge({ provider: 'hmac', secret: 'x', hmac: policy }, { body: '[]', headers }), 'good')
})

test('a time in text form is read to the millisecond, in any zone, and is signed as it was written', async () => {
  const hmac: HmacPolicy = {
    header: 'x-sig',
    algorithm: 'sha256',
    encoding: 'hex',
    key: 'text',
    signed: '{timestamp}{body}',
    timestampHeader: 'x-time',
    timestampUnit: 'rfc3339',
  }
  const policy = { provider: 'hmac', secret: 's', hmac }
  const at = (time: string, now: number) =>
    judge(policy, { body: '{}', now, headers: { 'x-time': time, 'x-sig': digest(`${time}{}`, 's') } })
  const moment = Date.UTC(2026, 0, 15, 12, 0, 0, 123)
  for (const time of [
    '2026-01-15T12:00:00.123Z',
    '2026-01-15T12:00:00.123456789Z',
    '2026-01-15t12:00:00.1234z',
    '2026-01-15T14:30:00.123+02:30',
    '2026-01-15T12:00:00.123-00:00',
  ]) {
    assert.equal(await at(time, moment + 300_000), 'good', time)
    assert.equal(await at(time, moment + 300_001), 'TIMESTAMP_OUTSIDE', time)
    assert.equal(await at(time, moment - 300_001), 'TIMESTAMP_OUTSIDE', time)
  }
  for (const time of [
    '1768478400',
    '2026-01-15',
    '2026-01-15T12:00:00',
    '2026-01-15 12:00:00Z',
    '2026-13-15T12:00:00Z',
    '2026-01-15T24:00:00Z',
    '2026-01-15T12:00Z',
    '2026-01-15T12:00:00.Z',
    '2026-01-15T12:00:00+0200',
    ' 2026-01-15T12:00:00Z',
    '+002026-01-15T12:00:00Z',
    'Thu, 15 Jan 2026 12:00:00 GMT',
  ])
    assert.equal(await at(time, moment), 'TIMESTAMP_MALFORMED', time)
})
