import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { EndpointPolicy } from './configuration.ts'
import type { Diagnostic } from './file/diagnostic.ts'
import { createDiagnostics } from './file/diagnostics.ts'
import type { ParsedFile } from './file/parsed-file.ts'
import { loadConfiguration } from './load.ts'
import { checkPolicies } from './rules/policy-rules.ts'
import { createSampleFolder } from './sample-folder.ts'
import type { CheckedFile } from './schema/checked-file.ts'
import type { ConfigurationValue } from './schema/configuration-schema.ts'

const hook = 'p0Yt7RcB1WmX8vZq4LsK2fNd'
const admin = '4fK29sLq0ZpVx81mWnB7cRtY'
const good = 'uG3jQ9dT5hE1oS6xAaVzP8yM'
const start = `gateway: { auth: { token: ${admin} } }\nhooks:\n  enabled: true\n  token: ${hook}\n`

/** Returns code and place of every finding, and asserts that none shows a secret. */
async function diagnose(
  context: TestContext,
  files: string | Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<{ ok: boolean; codes: string[]; diagnostics: readonly Diagnostic[] }> {
  const written = typeof files === 'string' ? { 'reveille.yaml': files } : files
  const folder = await createSampleFolder(context, written)
  const loaded = await loadConfiguration({
    file: folder.at('reveille.yaml'),
    env,
    presets: folder.at('shipped'),
  })
  const diagnostics = loaded.ok ? loaded.configuration.warnings : loaded.diagnostics
  const text = JSON.stringify(diagnostics)
  for (const secret of [hook, admin, good, 'changeme', 'k3v9', ...Object.values(env).filter(Boolean)])
    assert.ok(!text.includes(secret), 'a secret is shown')
  const codes = diagnostics.map(({ severity, code, place }) => {
    const name = place?.calledFile ?? place?.file.slice(folder.path.length + 1)
    return `${severity} ${code} ${name}:${place?.line}:${place?.column}`
  })
  return { ok: loaded.ok, codes, diagnostics }
}

/** Makes the policy of one endpoint in the configuration. */
const policy = (text: string) => `${start}  endpoints:\n    forge:\n${text.replace(/^/gm, '      ')}\n`

test('tokens and secrets that cannot be guessed give no warning', async (context) => {
  const text = policy(
    `auth: both\ntoken: [${good}, ${good}x]\nverify: { provider: github, secret: ${good}y }`,
  )
  assert.deepEqual(await diagnose(context, text), { ok: true, codes: [], diagnostics: [] })
})

test('a token of fewer than 24 characters gives a warning, and so does one that was typed by hand', async (context) => {
  const text = `gateway: { auth: { token: k3v9-pq2x-77 } }
hooks:
  token: [${hook}, changeme-changeme-changeme]
  endpoints:
    forge: { token: [${good}, aaaaaaaaaaaaaaaaaaaaaaaaaaaa, k3v9] }
`
  const { ok, codes, diagnostics } = await diagnose(context, text)
  assert.ok(ok)
  assert.deepEqual(codes, [
    'warning TOKEN_SHORT reveille.yaml:1:27',
    'warning TOKEN_WEAK reveille.yaml:3:37',
    'warning TOKEN_WEAK reveille.yaml:5:48',
    'warning TOKEN_SHORT reveille.yaml:5:78',
  ])
  assert.match(diagnostics[0]?.message ?? '', /^`gateway\.auth\.token` is shorter than 24 characters$/)
  for (const { hint } of diagnostics) assert.match(hint ?? '', /openssl rand -hex 24/)
})

test('an endpoint’s token must fit in a header, and must not be the gateway token', async (context) => {
  const text = policy(`token: ["", "two\\nlines of k3v9 text to be long", ${admin}]`)
  const { ok, codes } = await diagnose(context, text)
  assert.ok(!ok)
  assert.deepEqual(codes.sort(), [
    'error TOKEN_EMPTY reveille.yaml:7:15',
    'error TOKEN_INVALID reveille.yaml:7:19',
    'error TOKEN_SHARED reveille.yaml:7:57',
  ])
})

test('an endpoint’s token that equals the hook token has no effect, also if both are references', async (context) => {
  const files = {
    'reveille.yaml': 'hooks: { enabled: true, token: "${HOOK}" }\n',
    'mappings/forge.yaml': 'endpoints:\n  forge:\n    token: "${FORGE}"\n',
  }
  const { codes, diagnostics } = await diagnose(context, files, { HOOK: hook, FORGE: hook })
  assert.deepEqual(codes, ['warning TOKEN_REPEATED mappings/forge.yaml:3:12'])
  assert.match(diagnostics[0]?.message ?? '', /adds nothing: it equals `hooks\.token`/)
  assert.deepEqual((await diagnose(context, files, { HOOK: hook, FORGE: good })).codes, [])
})

test('a token that no request needs is reported as without effect', async (context) => {
  const signed = `verify: { provider: github, secret: ${good}x }`
  const cases: [string, string[]][] = [
    [`auth: none\ntoken: ${good}`, ['warning UNUSED_FIELD reveille.yaml:8:7']],
    [`auth: signature\n${signed}\ntoken: ${good}`, ['warning UNUSED_FIELD reveille.yaml:9:7']],
    [`${signed}\ntoken: ${good}`, ['warning UNUSED_FIELD reveille.yaml:8:7']],
    [
      `verify: { provider: github, secret: "" }\ntoken: ${good}`,
      ['warning VERIFY_NOT_YET reveille.yaml:7:35'],
    ],
    [`auth: both\n${signed}\ntoken: ${good}`, []],
    [`auth: token\n${signed}\ntoken: ${good}`, []],
  ]
  for (const [text, expected] of cases)
    assert.deepEqual((await diagnose(context, policy(text))).codes, expected, text)
})

test('`auth: none` is allowed only for a gateway that listens on loopback', async (context) => {
  const text = (gateway: string) =>
    `gateway: { ${gateway} }\nhooks:\n  endpoints:\n    door:\n      auth: none\n`
  for (const host of ['127.0.0.1', '127.8.9.10', '"::1"', 'localhost'])
    assert.deepEqual((await diagnose(context, text(`host: ${host}`))).codes, [], host)
  for (const host of ['0.0.0.0', '"::"', '192.168.1.5', 'gateway.example']) {
    const { ok, codes } = await diagnose(context, text(`host: ${host}`))
    assert.deepEqual({ ok, codes }, { ok: false, codes: ['error AUTH_NONE_PUBLIC reveille.yaml:5:7'] }, host)
  }
  const proxied = await diagnose(context, text('trustedProxies: [loopback]'))
  assert.deepEqual(proxied, { ...proxied, ok: true, codes: ['warning AUTH_NONE_PROXIED reveille.yaml:5:7'] })
})

test('an error about `auth` is reported at the effective key, and not at one that it overrides', async (context) => {
  const mappings = 'endpoints:\n  door: { auth: none }\n'
  const files = (own: string) => ({
    'reveille.yaml': `gateway: { host: 0.0.0.0 }\nhooks:\n  endpoints:\n    door: { ${own} }\n`,
    'mappings/door.yaml': mappings,
  })
  assert.deepEqual((await diagnose(context, files('auth: token'))).codes, [])
  assert.deepEqual((await diagnose(context, files('concurrency: 1'))).codes, [
    'error AUTH_NONE_PUBLIC mappings/door.yaml:2:11',
  ])
  assert.deepEqual((await diagnose(context, files('auth: none'))).codes, [
    'error AUTH_NONE_PUBLIC reveille.yaml:4:13',
  ])
})

test('a provider’s secret of fewer than 16 characters is a warning, and values that are no secrets are not measured', async (context) => {
  const text = policy(`verify:
  provider: meta
  secret: [k3v9-pq2x, "", changemechangeme]
  publicKey: abc
  verifyToken: abc`)
  const { ok, codes, diagnostics } = await diagnose(context, text)
  assert.ok(ok)
  assert.deepEqual(codes, [
    'warning SECRET_SHORT reveille.yaml:9:18',
    'warning SECRET_WEAK reveille.yaml:9:33',
    'warning UNUSED_FIELD reveille.yaml:10:9',
  ])
  assert.match(diagnostics[0]?.message ?? '', /^`hooks\.endpoints\.forge\.verify\.secret` is shorter than 16/)
})

test('blanks around a secret are part of it, and reported', async (context) => {
  const env = { PASTED: `${good}\n` }
  const { ok, codes } = await diagnose(
    context,
    policy(`verify: { provider: github, secret: ["\${PASTED}", " ${good}", ${good}] }`),
    env,
  )
  assert.deepEqual(
    [ok, codes],
    [true, ['warning SECRET_PADDED reveille.yaml:7:44', 'warning SECRET_PADDED reveille.yaml:7:57']],
  )
})

test('the kind of authentication of an endpoint is no secret, so its line is shown', async (context) => {
  const line = async (text: string) =>
    (await diagnose(context, policy(text))).diagnostics[0]?.place?.text.trim()
  assert.equal(await line('auth: both'), 'auth: both')
  const { diagnostics } = await diagnose(context, `${start}  endpoints:\n    open: { auth: both }\n`)
  assert.equal(diagnostics[0]?.place?.text.trim(), 'open: { auth: both }')
  assert.equal(await line(`auth: ${good}`), 'auth: …')
})

test("the secret of a preset is reported at the preset's name", async (context) => {
  const files = {
    'reveille.yaml': `${start}  presets: [forge]\n`,
    'shipped/forge.yaml':
      'endpoints:\n  forge: { verify: { provider: github, secret: "${FORGE:-}" } }\nmappings:\n  - id: f\n    match: { path: forge }\n    message: x\n',
  }
  assert.deepEqual((await diagnose(context, files)).codes, [])
  assert.deepEqual((await diagnose(context, files, { FORGE: 'k3v9-pq' })).codes, [
    'warning SECRET_SHORT preset forge:2:48',
  ])
})

test('a secret that a provider has must not open anything else', async (context) => {
  const cases = [
    [`verify: { provider: github, secret: ${hook} }`, '7:43', /equals `hooks\.token`/],
    [`verify: { provider: github, secret: [${good}, ${admin}] }`, '7:70', /equals `gateway\.auth\.token`/],
    [`auth: both\ntoken: ${good}\nverify: { provider: github, secret: ${good} }`, '9:43', /a token of the/],
    [
      `verify: { provider: meta, secret: ${good}, verifyToken: ${hook} }`,
      '7:80',
      /verifyToken` equals `hooks\.token`/,
    ],
  ] as const
  for (const [text, place, message] of cases) {
    const { ok, codes, diagnostics } = await diagnose(context, policy(text))
    assert.deepEqual(
      { ok, codes },
      { ok: false, codes: [`error SECRET_SHARED reveille.yaml:${place}`] },
      text,
    )
    assert.match(diagnostics[0]?.message ?? '', message)
  }
})

test('a public address without TLS is a warning, and one of this machine is not', async (context) => {
  const text = (url: string) =>
    policy(`verify: { provider: twilio, secret: ${good}, publicUrl: "${url}/hooks/forge" }`)
  assert.deepEqual((await diagnose(context, text('http://hooks.example.com'))).codes, [
    'warning PUBLIC_URL_PLAIN reveille.yaml:7:80',
  ])
  for (const url of [
    'https://hooks.example.com',
    'http://127.0.0.1:8787',
    'http://[::1]:8787',
    'http://localhost',
  ])
    assert.deepEqual((await diagnose(context, text(url))).codes, [], url)
})

test('`wake` and `agent` accept only signatures of senders whose bodies the operator writes', async (context) => {
  const text = (verify: string) =>
    `${start}  endpoints:\n    wake: { verify: { ${verify}, secret: ${good} } }\n    agent: { verify: { ${verify}, secret: ${good} } }\n`
  assert.deepEqual((await diagnose(context, text('provider: standard-webhooks'))).codes, [])
  const hmac = 'provider: hmac, hmac: { header: x-signature, signed: "{body}" }'
  assert.deepEqual((await diagnose(context, text(hmac))).codes, [])
  assert.deepEqual((await diagnose(context, text('provider: github'))).codes, [
    'warning PROVIDER_UNFIT reveille.yaml:6:33',
    'warning PROVIDER_UNFIT reveille.yaml:7:34',
  ])
})

test('a gateway that others can reach gets a hint about the setting that forbids tokens in addresses', async (context) => {
  const text = (hooks: string) => `gateway:\n  host: 0.0.0.0\nhooks:\n  token: ${hook}\n${hooks}`
  const { codes, diagnostics } = await diagnose(context, text('  enabled: true\n'))
  assert.deepEqual(codes, ['warning QUERY_TOKEN_PUBLIC reveille.yaml:2:9'])
  assert.match(diagnostics[0]?.hint ?? '', /^Write `allowQueryToken: false` under `hooks:`/)
  assert.deepEqual((await diagnose(context, text('  enabled: true\n  allowQueryToken: false\n'))).codes, [])
  assert.deepEqual((await diagnose(context, text('  enabled: false\n'))).codes, [])
})

test('checking ten thousand policies yields to the event loop', async () => {
  const policyOf = (index: number): EndpointPolicy => ({
    auth: 'both',
    token: `${good}${index}`,
    verify: { provider: 'github', secret: index === 9_999 ? 'k3v9-pq' : `${good}x${index}` },
  })
  const endpoints = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`e${index}`, policyOf(index)]),
  )
  const place = () => ({ file: '/reveille.yaml', line: 1, column: 1, text: '' })
  const source = { place } as unknown as ParsedFile
  const writtenAbout = (name: string) => [
    { source, path: ['endpoints', name], policy: endpoints[name] ?? {}, from: 'file' as const },
  ]
  const gateway = { host: '127.0.0.1', trustedProxies: [], auth: { token: admin }, metrics: {} }
  const value = { gateway, hooks: { token: hook } } as unknown as ConfigurationValue

  const diagnostics = createDiagnostics()
  let iterations = 0
  let checked = false
  const others = () => {
    iterations += 1
    if (!checked) setImmediate(others)
  }
  setImmediate(others)
  const file = { source, value } as CheckedFile<ConfigurationValue>
  await checkPolicies({ endpoints, writtenAbout }, file, diagnostics).finally(() => {
    checked = true
  })
  assert.ok(iterations > 2, 'the event loop did not go on')
  assert.deepEqual(
    diagnostics.warnings().map(({ code, message }) => [code, message]),
    [['SECRET_SHORT', '`endpoints.e9999.verify.secret` is shorter than 16 characters']],
  )
})
