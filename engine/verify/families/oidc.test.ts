import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import type { OidcScheme } from '../../providers/scheme.ts'
import { UnavailableError, type VerifyDependencies, type VerifyResult } from '../verifier.ts'
import { createOidcVerifier } from './oidc.ts'

const keysAddress = 'https://www.googleapis.com/oauth2/v3/certs'
const issuers = ['https://accounts.google.com', 'accounts.google.com']
const scheme: OidcScheme = { family: 'oidc', name: 'oidc', keys: keysAddress, issuers }
const seconds = Date.UTC(2026, 0, 15, 12) / 1000
const audience = 'https://hooks.example.com/hooks/google'
const serviceAccount = 'push@project.iam.gserviceaccount.com'
const iat = seconds - 10
const exp = seconds + 3590
const claims = { iss: issuers[0], aud: audience, email: serviceAccount, email_verified: true, iat, exp }

const rsa = (modulusLength = 2048) => generateKeyPairSync('rsa', { modulusLength })
const [first, second] = [rsa(), rsa()]
const keySet = (...keys: [string, { publicKey: KeyObject }][]) =>
  JSON.stringify({
    keys: keys.map(([kid, { publicKey }]) => ({ ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256' })),
  })
const oneKey = keySet(['first', first])
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const signBy = ({ privateKey }: { privateKey: KeyObject }, hash = 'sha256') => {
  return (text: string) => sign(hash, Buffer.from(text), privateKey)
}

/** Differences from a good request. */
interface Sent {
  /** Others than the good ones, or all. */
  readonly claims?: object
  readonly header?: object
  readonly sign?: (text: string) => Buffer
  readonly token?: (good: string) => string
  readonly policy?: VerifyPolicy
  readonly keys?: string
  /** Answer to a request for fresh keys. */
  readonly freshKeys?: string
  /** Seconds since the token was made. */
  readonly after?: number
  readonly download?: VerifyDependencies['download']
}

/** Returns the result, and for each download of keys whether fresh ones were asked for. */
async function verify(sent: Sent = {}): Promise<{ result: VerifyResult; asked: readonly boolean[] }> {
  const { keys = oneKey, freshKeys = keys, after = 0 } = sent
  const asked: boolean[] = []
  const download: VerifyDependencies['download'] = async (url, { fresh = false } = {}) => {
    assert.equal(url, keysAddress)
    asked.push(fresh)
    return fresh ? freshKeys : keys
  }
  const header = { alg: 'RS256', kid: 'first', typ: 'JWT', ...sent.header }
  const text = `${encode(header)}.${encode(Array.isArray(sent.claims) ? [] : { ...claims, ...sent.claims })}`
  const good = `${text}.${(sent.sign ?? signBy(first))(text).toString('base64url')}`
  const headers = { authorization: `Bearer ${sent.token?.(good) ?? good}` }
  const verifier = createOidcVerifier(scheme, sent.policy ?? { audience, serviceAccount })
  const at = { method: 'POST', target: '/hooks/google', now: (seconds + after) * 1000 }
  if (!verifier?.isPresent(headers)) return { result: { ok: false, code: 'SIGNATURE_MISSING' }, asked }
  const request = { ...at, headers, rawBody: Buffer.from('{}') }
  return { result: await verifier.verify(request, { download: sent.download ?? download }), asked }
}

const publicText = first.publicKey.export({ type: 'spki', format: 'pem' })
const byHmac = (text: string) => createHmac('sha256', publicText).update(text).digest()
const jwk = second.publicKey.export({ format: 'jwk' })
const bySecond = { header: { kid: 'second' }, sign: signBy(second) }

const wrongSender = (claims: object): [string, Sent] => ['WRONG_SENDER', { claims }]

/** Under each title, the code of a request, and perhaps the downloads that it takes: whether each is of fresh keys. */
const requests: Readonly<Record<string, readonly (readonly [string, Sent, (readonly boolean[])?])[]>> = {
  'a token of the configured account for the configured audience is accepted': [
    ['ok', {}, [false]],
    ['ok', { claims: { iss: 'accounts.google.com' } }],
  ],
  'without a configured audience it is the public address': [
    ['ok', { policy: { publicUrl: audience, serviceAccount } }],
    ['WRONG_AUDIENCE', { policy: { audience: 'mine', publicUrl: audience, serviceAccount } }],
  ],
  'a genuine token of another Google Cloud account is refused': [
    ...['attacker@other.iam.gserviceaccount.com', undefined, [serviceAccount]].map((email) =>
      wrongSender({ email }),
    ),
    ...[false, 'true', undefined].map((email_verified) => wrongSender({ email_verified })),
    wrongSender({ iss: 'https://accounts.google.com.evil.example' }),
    ['WRONG_AUDIENCE', { claims: { aud: 'https://other.example' } }],
  ],
  'a token is valid in its period, with a tolerance of a minute on both sides': [
    ['ok', { after: 3649 }],
    ['TOKEN_EXPIRED', { after: 3650 }],
    ['ok', { claims: { iat: seconds + 60 } }],
    ['TOKEN_EXPIRED', { claims: { iat: seconds + 61 } }],
    ['TOKEN_EXPIRED', { claims: { iat: seconds - 90_000 } }],
  ],
  'only RS256 is accepted, whatever the token claims': [
    ['SIGNATURE_MALFORMED', { header: { alg: 'HS256' }, sign: byHmac }, []],
    ['SIGNATURE_MALFORMED', { header: { alg: 'none' }, sign: () => Buffer.alloc(0) }, []],
    ['SIGNATURE_MALFORMED', { header: { alg: 'RS512' }, sign: signBy(first, 'sha512') }, []],
    ['SIGNATURE_MISMATCH', { sign: byHmac }],
  ],
  'a token that contains its own key is verified with ours': [
    ['SIGNATURE_MISMATCH', { header: { jwk, jku: 'https://evil.example/keys' }, sign: signBy(second) }],
  ],
  'for an unknown key the key set is fetched again': [
    ['ok', { ...bySecond, freshKeys: keySet(['first', first], ['second', second]) }, [false, true]],
    ['KEY_UNKNOWN', bySecond, [false, true]],
  ],
  'a token that names no key is refused without fetching keys': [
    ...[undefined, '', 7].map((kid): [string, Sent, boolean[]] => [
      'SIGNATURE_MALFORMED',
      { header: { kid } },
      [],
    ]),
  ],
  'an error page with a successful status is not cached in place of the keys': [
    ['ok', { keys: '<html>we are sorry</html>', freshKeys: oneKey }, [false, true]],
  ],
  'no header makes it throw': [
    ...['', 'a-hook-token', 'a.b'].map((token): [string, Sent] => [
      'SIGNATURE_MISSING',
      { token: () => token },
    ]),
    ['SIGNATURE_MALFORMED', { token: () => 'a.b.c' }],
    ['SIGNATURE_MISMATCH', { token: (good) => good.replace(/[^.]*$/, '') }],
    ['SIGNATURE_MISMATCH', { token: (good) => good.replace(/\.[^.]*\./, '.e30.') }],
    ['SIGNATURE_MALFORMED', { claims: [] }],
    ['SIGNATURE_MALFORMED', { claims: { exp: undefined, iat: undefined } }],
    ['SIGNATURE_MALFORMED', { claims: { exp: 'soon' } }],
  ],
}

for (const [title, rows] of Object.entries(requests))
  test(title, async () => {
    for (const [index, [code, sent, downloads]] of rows.entries()) {
      const { result, asked } = await verify(sent)
      assert.equal(result.ok ? 'ok' : result.code, code, `row ${index + 1}`)
      if (downloads !== undefined) assert.deepEqual(asked, downloads, `row ${index + 1}`)
    }
  })

test('the result names the scheme, and by how much an expired token is late', async () => {
  assert.deepEqual((await verify()).result, { ok: true, scheme: 'oidc', secret: 0 })
  const late = { ok: false, code: 'TOKEN_EXPIRED', skewSeconds: -100 }
  assert.partialDeepStrictEqual((await verify({ after: 3690 })).result, late)
})

test('without an account or an audience no token can be verified, and two headers are none', () => {
  for (const missing of [{ audience }, { serviceAccount }, { audience: '', serviceAccount }, {}])
    assert.equal(createOidcVerifier(scheme, missing), undefined)
  const headers = { authorization: ['Bearer a.b.c'] }
  assert.equal(createOidcVerifier(scheme, { audience, serviceAccount })?.isPresent(headers), false)
})

test('keys that cannot be fetched, read or used leave the result undecided', async () => {
  const unusable = ['<html>', '{}', '{"keys":7}', keySet(['first', rsa(1024)])]
  for (const keys of [...unusable, keySet(['first', first], ['first', second])])
    await assert.rejects(verify({ keys }), UnavailableError, keys.slice(0, 40))
  const down = () => Promise.reject(new UnavailableError('down'))
  await assert.rejects(verify({ download: down }), UnavailableError)
})
