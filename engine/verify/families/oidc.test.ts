import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import type { OidcScheme } from '../../providers/scheme.ts'
import { UnavailableError, type VerifyDependencies, type VerifyResult } from '../verifier.ts'
import { createOidcVerifier } from './oidc.ts'

const keysAddress = 'https://www.googleapis.com/oauth2/v3/certs'
const scheme: OidcScheme = {
  family: 'oidc',
  name: 'oidc',
  keys: keysAddress,
  issuers: ['https://accounts.google.com', 'accounts.google.com'],
}
const seconds = Date.UTC(2026, 0, 15, 12) / 1000
const policy = {
  audience: 'https://hooks.example.com/hooks/google',
  serviceAccount: 'push@project.iam.gserviceaccount.com',
}
const claims = {
  iss: 'https://accounts.google.com',
  aud: policy.audience,
  email: policy.serviceAccount,
  email_verified: true,
  iat: seconds - 10,
  exp: seconds + 3590,
}

const [first, second] = [
  generateKeyPairSync('rsa', { modulusLength: 2048 }),
  generateKeyPairSync('rsa', { modulusLength: 2048 }),
]

function keySet(...keys: [string, KeyObject][]): string {
  const written = keys.map(([kid, key]) => ({
    ...key.export({ format: 'jwk' }),
    kid,
    alg: 'RS256',
    use: 'sig',
  }))
  return JSON.stringify({ keys: written })
}

const oneKey = keySet(['first', first.publicKey])
const bothKeys = keySet(['first', first.publicKey], ['second', second.publicKey])

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function createToken(
  payload: object = claims,
  header: object = { alg: 'RS256', kid: 'first', typ: 'JWT' },
  signWith: (text: string) => Buffer = (text) => sign('sha256', Buffer.from(text), first.privateKey),
): string {
  const text = `${encode(header)}.${encode(payload)}`
  return `${text}.${signWith(text).toString('base64url')}`
}

interface Host extends VerifyDependencies {
  readonly asked: { url: string; fresh: boolean }[]
}

/** Answers the first key set until a fresh one is requested, and then the second. */
function createHost(keys: string, freshKeys = keys): Host {
  const asked: { url: string; fresh: boolean }[] = []
  return {
    asked,
    async download(url, { fresh = false } = {}) {
      asked.push({ url, fresh })
      return fresh ? freshKeys : keys
    },
  }
}

async function verify(
  token: string | undefined,
  by: { policy?: VerifyPolicy; host?: VerifyDependencies; now?: number } = {},
): Promise<VerifyResult> {
  const request = {
    method: 'POST',
    target: '/hooks/google',
    headers: { authorization: token === undefined ? undefined : `Bearer ${token}` },
    rawBody: Buffer.from('{}'),
    now: by.now ?? seconds * 1000,
  }
  const verifier = createOidcVerifier(scheme, by.policy ?? policy)
  assert.ok(verifier)
  if (!verifier.isPresent(request.headers)) return { ok: false, code: 'SIGNATURE_MISSING' }
  return verifier.verify(request, by.host ?? createHost(oneKey))
}

async function codeOf(...args: Parameters<typeof verify>): Promise<string> {
  const result = await verify(...args)
  return result.ok ? 'ok' : result.code
}

test('a token of the configured account for the configured audience is accepted', async () => {
  const host = createHost(oneKey)
  assert.deepEqual(await verify(createToken(), { host }), { ok: true, scheme: 'oidc', secret: 0 })
  assert.deepEqual(host.asked, [{ url: keysAddress, fresh: false }])
  assert.equal(await codeOf(createToken({ ...claims, iss: 'accounts.google.com' })), 'ok')
})

test('without a configured audience it is the public address', async () => {
  const { audience, serviceAccount } = policy
  assert.equal(await codeOf(createToken(), { policy: { publicUrl: audience, serviceAccount } }), 'ok')
  const both = { audience: 'mine', publicUrl: audience, serviceAccount }
  assert.equal(await codeOf(createToken(), { policy: both }), 'WRONG_AUDIENCE')
})

test('without an account or an audience no token can be verified', () => {
  for (const missing of [
    { audience: 'a' },
    { serviceAccount: 'a' },
    { audience: '', serviceAccount: 'a' },
    {},
  ])
    assert.equal(createOidcVerifier(scheme, missing), undefined)
})

test('a genuine token of another Google Cloud account is refused', async () => {
  const others = [
    { email: 'attacker@other.iam.gserviceaccount.com' },
    { email: undefined },
    { email: [policy.serviceAccount] },
    { email_verified: false },
    { email_verified: 'true' },
    { email_verified: undefined },
    { iss: 'https://accounts.google.com.evil.example' },
  ]
  for (const other of others)
    assert.equal(await codeOf(createToken({ ...claims, ...other })), 'WRONG_SENDER', JSON.stringify(other))
  assert.equal(await codeOf(createToken({ ...claims, aud: 'https://other.example' })), 'WRONG_AUDIENCE')
})

test('a token is valid in its period, with a tolerance of a minute on both sides', async () => {
  const at = (offset: number) => codeOf(createToken(), { now: (claims.exp + offset) * 1000 })
  assert.equal(await at(59), 'ok')
  assert.equal(await at(60), 'TOKEN_EXPIRED')
  const ahead = { ...claims, iat: seconds + 61 }
  assert.equal(await codeOf(createToken({ ...ahead, iat: seconds + 60 })), 'ok')
  assert.equal(await codeOf(createToken(ahead)), 'TOKEN_EXPIRED')
  const ancient = { ...claims, iat: seconds - 90_000 }
  assert.equal(await codeOf(createToken(ancient)), 'TOKEN_EXPIRED')
  const late = await verify(createToken(), { now: (claims.exp + 100) * 1000 })
  assert.equal(late.ok ? undefined : late.skewSeconds, -100)
})

test('only RS256 is accepted, whatever the token claims', async () => {
  const host = createHost(oneKey)
  const publicText = first.publicKey.export({ type: 'spki', format: 'pem' })
  const byHmac = (text: string) => createHmac('sha256', publicText).update(text).digest()
  const header = { kid: 'first', typ: 'JWT' }
  assert.equal(
    await codeOf(createToken(claims, { ...header, alg: 'HS256' }, byHmac), { host }),
    'SIGNATURE_MALFORMED',
  )
  const unsigned = createToken(claims, { ...header, alg: 'none' }, () => Buffer.alloc(0))
  assert.equal(await codeOf(unsigned, { host }), 'SIGNATURE_MALFORMED')
  const longer = (text: string) => sign('sha512', Buffer.from(text), first.privateKey)
  assert.equal(
    await codeOf(createToken(claims, { ...header, alg: 'RS512' }, longer), { host }),
    'SIGNATURE_MALFORMED',
  )
  assert.deepEqual(host.asked, [])
  assert.equal(
    await codeOf(createToken(claims, { ...header, alg: 'RS256' }, byHmac), { host }),
    'SIGNATURE_MISMATCH',
  )
})

test('a token that contains its own key is verified with ours', async () => {
  const bySecond = (text: string) => sign('sha256', Buffer.from(text), second.privateKey)
  const jwk = second.publicKey.export({ format: 'jwk' })
  const header = { alg: 'RS256', kid: 'first', jwk, jku: 'https://evil.example/keys' }
  assert.equal(await codeOf(createToken(claims, header, bySecond)), 'SIGNATURE_MISMATCH')
})

test('for an unknown key the key set is fetched again', async () => {
  const bySecond = (text: string) => sign('sha256', Buffer.from(text), second.privateKey)
  const token = createToken(claims, { alg: 'RS256', kid: 'second' }, bySecond)
  const rotated = createHost(oneKey, bothKeys)
  assert.equal(await codeOf(token, { host: rotated }), 'ok')
  assert.deepEqual(
    rotated.asked.map(({ fresh }) => fresh),
    [false, true],
  )
  const same = createHost(oneKey)
  assert.equal(await codeOf(token, { host: same }), 'KEY_UNKNOWN')
  assert.equal(same.asked.length, 2)
})

test('a token that names no key is refused without fetching keys', async () => {
  const host = createHost(oneKey)
  for (const kid of [undefined, '', 7])
    assert.equal(await codeOf(createToken(claims, { alg: 'RS256', kid }), { host }), 'SIGNATURE_MALFORMED')
  assert.deepEqual(host.asked, [])
})

test('an error page with a successful status is not cached in place of the keys', async () => {
  const host = createHost('<html>we are sorry</html>', oneKey)
  assert.equal(await codeOf(createToken(), { host }), 'ok')
  assert.deepEqual(
    host.asked.map(({ fresh }) => fresh),
    [false, true],
  )
})

test('keys that cannot be fetched, read or used leave the result undecided', async () => {
  const weak = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const unusable = [
    '<html>',
    '{}',
    '{"keys":7}',
    keySet(['first', weak.publicKey]),
    keySet(['first', first.publicKey], ['first', second.publicKey]),
  ]
  for (const keys of unusable)
    await assert.rejects(
      verify(createToken(), { host: createHost(keys) }),
      UnavailableError,
      keys.slice(0, 40),
    )
  const down: VerifyDependencies = { download: () => Promise.reject(new UnavailableError('down')) }
  await assert.rejects(verify(createToken(), { host: down }), UnavailableError)
})

test('no header makes it throw', async () => {
  assert.equal(await codeOf(undefined), 'SIGNATURE_MISSING')
  assert.equal(await codeOf('a-hook-token'), 'SIGNATURE_MISSING')
  assert.equal(await codeOf('a.b'), 'SIGNATURE_MISSING')
  assert.equal(await codeOf('a.b.c'), 'SIGNATURE_MALFORMED')
  const [header, payload, signature] = createToken().split('.')
  assert.equal(await codeOf(`${header}.${payload}.`), 'SIGNATURE_MISMATCH')
  assert.equal(await codeOf(`${header}.e30.${signature}`), 'SIGNATURE_MISMATCH')
  assert.equal(await codeOf(createToken([])), 'SIGNATURE_MALFORMED')
  assert.equal(await codeOf(createToken({})), 'SIGNATURE_MALFORMED')
  assert.equal(await codeOf(createToken({ ...claims, exp: 'soon' })), 'SIGNATURE_MALFORMED')
  assert.equal(createOidcVerifier(scheme, policy)?.isPresent({ authorization: ['Bearer a.b.c'] }), false)
})
