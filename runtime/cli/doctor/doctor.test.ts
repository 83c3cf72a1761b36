import assert from 'node:assert/strict'
import { chmod, rename, stat } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { configuration, gatewayToken, hookToken, install } from '../../../test/installation.ts'
import type { Io } from '../io.ts'
import { type Answer, assertAnswer, createCommandLine, testTranscript } from '../io-fixture.ts'

const limit = { timeout: 30_000 }

interface CheckResult {
  readonly check: string
  readonly state: string
  readonly code?: string
  readonly message: string
  readonly fix?: string
  readonly place?: string
}

/** Returns the results of one check, and asserts that no answer holds a secret. */
function resultsOf({ out }: Answer, check: string): readonly CheckResult[] {
  for (const secret of [gatewayToken, hookToken, typed]) assert.ok(!out.includes(secret), 'a secret is shown')
  const { results } = JSON.parse(out) as { results: readonly CheckResult[] }
  return results.filter((result) => result.check === check)
}

/** Returns `state CODE` for each result of a check. */
function states(answer: Answer, check: string): readonly string[] {
  return resultsOf(answer, check).map(({ state, code = '' }) => `${state} ${code}`.trimEnd())
}

/** The states of a check, and the message of its last result. */
function assertCheck(answer: Answer, check: string, expected: readonly string[], message = /(?:)/): void {
  assert.deepEqual(states(answer, check), expected, check)
  assert.match(resultsOf(answer, check).at(-1)?.message ?? '', message)
}

const typed = 'changeme-changeme-changeme'

/** Starts a gateway, and a command line in its folder that finds it where the configuration says port 0. */
async function createBench(
  t: TestContext,
  files: Readonly<Record<string, string>> = {},
  io: Partial<Io> = {},
  folder?: string,
) {
  const installed = await install(t, files, { ...(folder !== undefined && { folder }) })
  const url = await installed.gateway.listen()
  const reach: typeof fetch = (address, init) =>
    fetch(String(address).replace(/^http:\/\/127\.0\.0\.1:0(?=\/)/, url), init)
  const world = { cwd: installed.folder, fetch: reach, now: Date.now, ...io }
  const { run } = await createCommandLine(t, {}, world)
  // The file holds its tokens.
  await chmod(path.join(installed.folder, 'reveille.yaml'), 0o600)
  return { ...installed, run, diagnose: () => run('doctor', '--json') }
}

/** Writes a configuration without starting a gateway. */
async function withoutGateway(t: TestContext, files: Readonly<Record<string, string>>, io: Partial<Io> = {}) {
  const line = await createCommandLine(t, files, io)
  return { ...line, diagnose: (...options: string[]) => line.run('doctor', '--json', ...options) }
}

const plain = `gateway: { auth: { token: ${gatewayToken} } }\nhooks: { enabled: true, token: ${hookToken} }\n`

testTranscript(
  {},
  `
# the files of init have no problems; a missing gateway is a warning with the next step
$ init local
wrote local/reveille.yaml
$ doctor --config local/reveille.yaml
  ✓ files …they load: 5 mappings
  ! answers …no gateway answers at http://127.0.0.1:8787 [GATEWAY_DOWN]
… → Start it: \`reveille start\`…
  - - …hooks, admin and live not checked: no gateway answers
local/reveille.yaml: 1 warning, … ok, … not checked.
1 $ doctor --config local/reveille.yaml --strict
local/reveille.yaml: 1 warning, …

# the fix is below each finding
+ reveille.yaml: hooks: { endpoints: { shop: { verify: { provider: shopify } } } }
$ doctor
  ! signatures  /shop takes the hook token: \`secret\` of Shopify is not set [NO_SECRET]
                → Write \`secret\` under \`hooks.endpoints.shop.verify\`

# without a configuration, or with a misspelt option, it is bad usage
2 $ doctor
! There is no reveille.yaml in this folder…
2 $ doctor --onlin
! …
`,
)

test('--json answers the same with stable names', async (t) => {
  const { diagnose, cwd } = await withoutGateway(t, { 'reveille.yaml': 'gateway: {}\n' })
  const { code, out, err } = await diagnose()
  assert.deepEqual([code, err], [0, ''])
  const { ok, file, counts, results } = JSON.parse(out)
  assert.deepEqual([ok, file], [true, path.join(cwd, 'reveille.yaml')])
  assert.equal(counts.problem, 0)
  const sum = Object.values(counts as Record<string, number>).reduce((all, each) => all + each)
  assert.equal(sum, results.length)
  for (const { check, group, state, message } of results) {
    assert.match(check, /^[a-z]+(-[a-z]+)*$/)
    assert.ok(group && state && message)
  }
})

test('a configuration with errors is a problem with its place, and what needs none of it is checked all the same', async (t) => {
  const text = `gateway: { auth: { token: ${gatewayToken} } }\nhooks:\n  token: ${typed}\n  pth: /hooks\n`
  const { diagnose } = await withoutGateway(t, { 'reveille.yaml': text })
  const answer = await diagnose()
  assert.equal(answer.code, 1)
  assert.deepEqual(
    resultsOf(answer, 'configuration').map(({ state, code, place }) => [state, code, place]),
    [
      ['problem', 'UNKNOWN_KEY', 'reveille.yaml:4:3'],
      ['warning', 'TOKEN_WEAK', 'reveille.yaml:3:10'],
    ],
  )
  assertCheck(answer, 'signatures', ['not-checked CONFIGURATION_BROKEN'])
  assertCheck(answer, 'gateway', ['warning GATEWAY_DOWN'])
  assertCheck(answer, 'node-version', ['ok'])
})

test(
  'a running gateway that matches the files has no problems, and the diagnosis is not among its requests',
  limit,
  async (t) => {
    const { run, diagnose } = await createBench(t)
    const answer = await diagnose()
    assert.equal(answer.code, 0, answer.out)
    const ofGateway = ['gateway', 'hooks', 'admin-token', 'exposure', 'live-files', 'issues', 'clock-gateway']
    for (const check of ofGateway) assertCheck(answer, check, ['ok'])
    assert.deepEqual(JSON.parse((await run('requests', '--json')).out).items, [])
  },
)

test(
  'files that differ from the running gateway are reported, and what needs them is not checked',
  limit,
  async (t) => {
    const { diagnose, write, post } = await createBench(t)
    await post('/hooks/wake', { text: 'hello' })
    await write('reveille.yaml', configuration.replace('enabled: true', 'enabled: true, path: /other'))
    assertCheck(await diagnose(), 'hooks', ['warning HOOKS_NOT_ANSWERED'])

    await write('reveille.yaml', configuration.replace(gatewayToken, `other-${gatewayToken}`))
    const answer = await diagnose()
    assertCheck(answer, 'admin-token', ['problem ADMIN_TOKEN_REFUSED'])
    assertCheck(answer, 'issues', ['not-checked ADMIN_TOKEN_REFUSED'])

    await write('mappings/broken.yaml', 'mappings: [ { id: a,\n')
    assertCheck(await diagnose(), 'hooks', ['not-checked CONFIGURATION_BROKEN'])
  },
)

test(
  'files that are not live are a warning, refused ones a problem, also after a restart',
  limit,
  async (t) => {
    const { diagnose, write, gateway, folder } = await createBench(t, {
      'mappings/a.yaml':
        'mappings: [{ match: { path: bell }, action: wake, text: x, transform: { module: deep/bell.ts, with: { a: b } } }]\n',
      'transforms/deep/bell.ts': "import { text } from './text.ts'\nexport default () => ({ text })\n",
      'transforms/deep/text.ts': "export const text = 'ding'\n",
    })
    // The doctor bundles the transform in another folder.
    assertCheck(await diagnose(), 'live-files', ['ok'])
    await write('transforms/deep/text.ts', "export const text = 'dong'\n")
    assertCheck(await diagnose(), 'live-files', ['warning FILES_NOT_LIVE'])
    await write('mappings/a.yaml', 'mappings: [{ acton: wake }]\n')
    await gateway.reload()
    const refused = await diagnose()
    assertCheck(refused, 'issues', ['warning RELOAD_REFUSED'])
    assertCheck(refused, 'live-files', ['not-checked CONFIGURATION_BROKEN'])
    assert.equal(refused.code, 1)

    await gateway.close({ graceMs: 0 })
    const again = await createBench(t, {}, {}, folder)
    assertCheck(await again.diagnose(), 'issues', ['warning RELOAD_REFUSED'])
    const lastGood = /^lastGood +generation 1, files mappings\/a\.yaml$/m
    assert.match((await again.run('status')).out, lastGood)
  },
)

test('without a gateway token the gateway cannot be asked, and the report says so', limit, async (t) => {
  const { diagnose } = await createBench(t, {
    'reveille.yaml': configuration.replace(`auth: { token: ${gatewayToken} }, `, ''),
  })
  const answer = await diagnose()
  assertCheck(answer, 'admin-token', ['warning NO_ADMIN_TOKEN'])
  assertCheck(answer, 'live-files', ['not-checked NO_ADMIN_TOKEN'])
})

test('another server at the address is not taken for a gateway', async (t) => {
  const others = [() => Response.json({ hello: 1 }), () => new Response('<html>'), () => Response.json(null)]
  for (const other of others) {
    const { diagnose } = await withoutGateway(t, { 'reveille.yaml': plain }, { fetch: async () => other() })
    const answer = await diagnose()
    assertCheck(answer, 'gateway', ['problem NOT_A_GATEWAY'])
    assertCheck(answer, 'hooks', ['not-checked GATEWAY_DOWN'])
  }
})

test('an endpoint without any request is reported', limit, async (t) => {
  const mappings = ['bell', 'door', 'repo/:id', 'shop/:id/order'].map(
    (name) => `  - { match: { path: "${name}" }, action: wake, text: x }\n`,
  )
  const clock = { now: Date.now }
  const files = { 'mappings/a.yaml': `mappings:\n${mappings.join('')}` }
  const { diagnose, post } = await createBench(t, files, { now: () => clock.now() })
  await post('/hooks/repo/42', {})
  await post('/hooks/shop/7', {})
  await post('/hooks/door', {}, { authorization: 'Bearer wrong' })
  assertCheck(await diagnose(), 'traffic', ['ok'], /^nothing for \/bell, .* among 1 request since /)
  for (let count = 0; count < 9; count += 1) await post('/hooks/bell', { count })
  clock.now = () => Date.now() + 86_400_000
  const late = /^nothing for \/door and \/shop\/:id\/order among 10 requests since /
  assertCheck(await diagnose(), 'traffic', ['warning NO_TRAFFIC'], late)
})

test('an open issue is reported with its next step', limit, async (t) => {
  const { diagnose, post, line } = await createBench(t, {
    'reveille.yaml': `${configuration.replace('agents: {', 'agents: { budget: { runs: 1 },')}`,
  })
  await post('/hooks/agent', { message: 'one', deliver: false })
  await line('run-succeeded')
  await post('/hooks/agent', { message: 'two', deliver: false })
  await line('run-parked')
  const results = resultsOf(await diagnose(), 'issues')
  const spent = results.find(({ code }) => code === 'BUDGET_SPENT')
  assert.equal(spent?.state, 'warning')
  assert.match(spent?.fix ?? '', /`reveille resume --all/)
})

test('a preset without its secret names the variable, and the policy of an endpoint the keys', async (t) => {
  const { diagnose, write } = await withoutGateway(t, {
    'reveille.yaml': `${plain.replace(`${hookToken} }`, `${hookToken}, presets: [github, discord, twilio] }`)}`,
  })
  const results = resultsOf(await diagnose(), 'signatures')
  assert.deepEqual(
    results.map(({ state, code = '' }) => `${state} ${code}`),
    ['ok ', ...Array(3).fill('warning NO_SECRET')],
  )
  const fixOf = (endpoint: string) =>
    results.find(({ message }) => message.startsWith(`/${endpoint} takes the hook token`))?.fix
  assert.match(fixOf('github') ?? '', /^Set GITHUB_WEBHOOK_SECRET in \.env/)
  assert.match(fixOf('discord') ?? '', /^Set DISCORD_PUBLIC_KEY in \.env/)
  assert.match(
    fixOf('twilio') ?? '',
    /^Write `secret` and `publicUrl` under `hooks\.endpoints\.twilio\.verify`$/,
  )

  await write('.env', 'GITHUB_WEBHOOK_SECRET=4fK29sLq0ZpVx81mWnB7cRtY\n')
  const later = resultsOf(await diagnose(), 'signatures')
  assert.deepEqual(
    later.map(({ state }) => state),
    ['ok', 'warning', 'warning'],
  )
})

const endpoints = (text: string) => `hooks:\n  endpoints:\n    ${text}\n`
const anyIsVerified =
  '":any": { auth: signature, verify: { provider: github, secret: 4fK29sLq0ZpVx81mWnB7cRtY } }'

/** Each configuration with a check, its results, and the message of the last. */
const judged: readonly (readonly [
  text: string,
  check: string,
  states: readonly string[],
  message: RegExp,
])[] = [
  ['{}\n', 'hooks', ['warning HOOKS_DISABLED'], /disabled: every request is answered 404/],
  [
    endpoints('open: { auth: none }'),
    'open-endpoints',
    ['warning OPEN_ENDPOINT'],
    /may post without a token to \/open$/,
  ],
  [endpoints('shut: { auth: signature }'), 'configuration', ['problem AUTH_UNVERIFIABLE'], /signature/],
  [
    endpoints(`${anyIsVerified}\n    shut: { verify: { provider: stripe } }`),
    'signatures',
    ['ok', 'problem NOTHING_TO_VERIFY_WITH'],
    /^\/shut refuses all/,
  ],
  ['gateway: { host: 0.0.0.0 }\n', 'exposure', ['warning NO_TLS'], /does not use TLS/],
  ['gateway: { host: 0.0.0.0, trustedProxies: [10.0.0.0/8] }\n', 'exposure', ['ok'], /has to terminate TLS$/],
  ['gateway: { host: localhost }\n', 'exposure', ['ok'], /^only this machine/],
]

test('a configuration is judged: hooks, open and closed endpoints, signatures, exposure', async (t) => {
  for (const [text, check, expected, message] of judged) {
    const { diagnose } = await withoutGateway(t, { 'reveille.yaml': text })
    assertCheck(await diagnose(), check, expected, message)
  }
})

test('a report about thousands of endpoints stays short enough to read', async (t) => {
  const names = Array.from({ length: 500 }, (_, index) => `    e${index}: { verify: { provider: github } }\n`)
  const { diagnose } = await withoutGateway(t, { 'reveille.yaml': `hooks:\n  endpoints:\n${names.join('')}` })
  const results = resultsOf(await diagnose(), 'signatures')
  assert.equal(results.length, 52)
  assert.deepEqual(
    [results[51]?.state, results[51]?.code, results[51]?.message],
    ['warning', 'MORE_FINDINGS', 'there are 450 more like these'],
  )
})

test('files that others can read or change are reported with the chmod', {
  skip: process.platform === 'win32',
}, async (t) => {
  const { diagnose, cwd } = await withoutGateway(t, {
    'reveille.yaml': plain.replace(gatewayToken, '${REVEILLE_GATEWAY_TOKEN}').replace(hookToken, '${HOOK}'),
    '.env': `REVEILLE_GATEWAY_TOKEN=${gatewayToken}\nHOOK=${hookToken}\n`,
    'data/stored-secrets/a-token': 'x',
    'mappings/a.yaml': 'mappings: []\n',
  })
  const at = (name: string) => path.join(cwd, name)
  const modes = async () => {
    const results = resultsOf(await diagnose(), 'file-modes')
    return results.map(({ state, code, message, fix }) =>
      [state, code, message, fix].filter(Boolean).join(' | '),
    )
  }
  await chmod(at('.env'), 0o600)
  await chmod(at('data'), 0o700)
  await chmod(at('mappings'), 0o755)
  assert.deepEqual(await modes(), ['ok | other users cannot read what is secret, or change what is run'])

  await chmod(at('.env'), 0o640)
  assert.deepEqual(await modes(), [
    'warning | READABLE_BY_GROUP | others of its group can read .env | chmod go-rwx .env',
  ])
  await chmod(at('.env'), 0o644)
  await chmod(at('data'), 0o755)
  await chmod(at('mappings'), 0o777)
  assert.deepEqual(await modes(), [
    'problem | READABLE_BY_OTHERS | everybody on this machine can read .env and data | chmod go-rwx .env data',
    'problem | WRITABLE_BY_OTHERS | everybody on this machine can change mappings | chmod o-w mappings',
  ])
  assert.equal((await stat(at('.env'))).mode & 0o777, 0o644, 'it changes nothing')
})

test('the configuration is secret when a secret is in it', {
  skip: process.platform === 'win32',
}, async (t) => {
  const codes = async (text: string) => {
    const { diagnose, cwd } = await withoutGateway(t, {
      'reveille.yaml': text,
      '.env': `HOOK=${hookToken}\n`,
    })
    await chmod(path.join(cwd, '.env'), 0o600)
    await chmod(path.join(cwd, 'reveille.yaml'), 0o644)
    return states(await diagnose(), 'file-modes')
  }
  const written = [
    `hooks: { token: ${hookToken} }`,
    `hooks:\n  token: [ "${hookToken}" ]`,
    `{"hooks":{"token":"${hookToken}"}}`,
  ]
  for (const text of written) assert.deepEqual(await codes(text), ['problem READABLE_BY_OTHERS'], text)
  const referred = ['hooks: { token: "${HOOK}" }', 'hooks: { allowQueryToken: true }']
  for (const text of referred) assert.deepEqual(await codes(text), ['ok'], text)
})

test('the clock is compared with a public server only with --online', async (t) => {
  const asked: string[] = []
  const now = () => Date.UTC(2026, 2, 2, 12)
  const answering = (date: string): Partial<Io> => ({
    now,
    fetch: async (address) => {
      asked.push(new URL(String(address)).host)
      if (String(address).startsWith('http:')) throw new TypeError('no network')
      return new Response(null, { headers: { date } })
    },
  })
  const statesAt = async (date: string, ...options: string[]) => {
    const { diagnose } = await withoutGateway(t, { 'reveille.yaml': plain }, answering(date))
    return states(await diagnose(...options), 'clock-online')
  }
  assert.deepEqual(await statesAt('Mon, 02 Mar 2026 12:00:00 GMT'), ['not-checked NOT_ASKED'])
  assert.deepEqual([...new Set(asked)], ['127.0.0.1:8787'])
  assert.deepEqual(await statesAt('Mon, 02 Mar 2026 12:00:01 GMT', '--online'), ['ok'])
  assert.deepEqual(await statesAt('Mon, 02 Mar 2026 12:01:00 GMT', '--online'), ['warning CLOCK_SKEW'])
  assert.deepEqual(await statesAt('Mon, 02 Mar 2026 11:50:00 GMT', '--online'), ['problem CLOCK_SKEW'])
  assert.deepEqual(await statesAt('sometime', '--online'), ['not-checked OFFLINE'])
})

test(
  'doctor and status report a gateway whose data folder was moved away, with what to do',
  limit,
  async (t) => {
    const { folder, post, run, diagnose } = await createBench(t)
    await rename(path.join(folder, 'data'), path.join(folder, 'away'))
    const posted = await post('/hooks/wake', { text: 'hello' })
    assert.deepEqual([posted.status, posted.body['code']], [503, 'STORE_UNAVAILABLE'])
    assert.ok(Number(posted.headers['retry-after']) > 0)

    assertAnswer(await run('status'), {
      code: 1,
      out: [
        /^ready +no\nreason +the database .*reveille\.db is gone while the gateway runs/m,
        /Put the data folder .* back as it was, or restart the gateway/,
      ],
    })
    const message = /not ready: the database .* is gone .*Put the data folder/
    assertCheck(await diagnose(), 'gateway', ['problem NOT_READY'], message)
    await rename(path.join(folder, 'away'), path.join(folder, 'data'))
  },
)

test('a data folder that lost its database is reported before a start refuses it', limit, async (t) => {
  const { run, diagnose, write } = await withoutGateway(t, { 'reveille.yaml': plain })
  await write('data/generations/1.json', '{}')
  assertCheck(await diagnose(), 'gateway', ['problem STORE_MISSING'])
  assertAnswer(await run('start'), {
    code: 1,
    err: /reveille\.db is missing, but generations beside it tells of an earlier store\. Put the/,
  })
})
