import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Io } from './io.ts'
import { createCommandLine } from './io-fixture.ts'

const noon = Date.UTC(2026, 2, 2, 12)
const token = 'gateway-token-never-to-be-printed'
const ids = ['019c5b1e-0000-7000-8000-0000000000aa', '019c5b1e-0000-7000-8000-0000000000bb'] as const

const runs = ids.map((id, index) => ({
  id,
  kind: 'run',
  endpoint: 'github',
  mapping: 'pr-opened',
  generation: 1,
  sessionKey: 'hook:github:42',
  state: index === 0 ? 'succeeded' : 'failed',
  stage: 'ran',
  runner: 'echo',
  message: 'Review this\nand \u001b[31mthat',
  error: index === 0 ? undefined : { code: 'timeout', message: 'It took too long.', retryable: false },
  createdAt: noon,
  deliveryIds: [],
  attempts: [],
  ...(index === 0 && {
    coalesce: { key: 'k', keep: 'all', deadline: noon, maxPerHour: 60, count: 3, requests: 3 },
  }),
}))

/** Answers requests in the place of a gateway, and notes them. */
async function createFakeGateway(t: TestContext, answers: Record<string, unknown> = {}) {
  const asked: string[] = []
  const known: Record<string, unknown> = {
    '/readyz': { ok: true },
    '/api/runs': { items: runs, next: 'later' },
    [`/api/runs/${ids[1]}`]: runs[1],
    ...Object.fromEntries(
      ['requests', 'events', 'deliveries', 'issues', 'generations'].map((list) => [
        `/api/${list}`,
        { items: [] },
      ]),
    ),
    '/api/route': { route: { channel: 'terminal', to: 'stdout' } },
    '/api/status': { heartbeat: { state: 'idle', failures: 0 }, day: '2026-01-01', budgets: [] },
    ...answers,
  }
  async function fetch(input: unknown, init?: RequestInit): Promise<Response> {
    const url = new URL(String(input))
    asked.push(`${url.pathname}${url.search}`)
    const given = new Headers(init?.headers).get('authorization')
    if (url.pathname.startsWith('/api') && given !== `Bearer ${token}`)
      return Response.json({ ok: false, error: 'no' }, { status: 401 })
    const text = url.searchParams.get('q') ?? ''
    const found = runs.filter(({ id }) => id.endsWith(text)).map(({ id }) => ({ kind: 'run', id }))
    const answer = known[url.pathname] ?? (url.pathname === '/api/find' ? { items: found } : undefined)
    if (answer instanceof Error) throw answer
    if (answer instanceof Response) return answer
    return answer === undefined
      ? Response.json({ ok: false, error: 'There is no such run.' }, { status: 404 })
      : Response.json(answer)
  }
  const env: Record<string, string | undefined> = {
    REVEILLE_URL: 'http://127.0.0.1:1/',
    REVEILLE_GATEWAY_TOKEN: token,
  }
  /** A test may change it; the next command sees the change. */
  const world: Partial<Omit<Io, 'columns'>> & { columns?: number } = { env, fetch }
  const { cwd, run } = await createCommandLine(t, {}, world)
  return {
    cwd,
    asked,
    env,
    world,
    async run(...args: string[]) {
      const { code, out, err } = await run(...args)
      assert.ok(!`${out}${err}`.includes(token), 'no secret is printed')
      return { code, out, err }
    },
  }
}

test('a list is a table of time, short id, endpoint, state and reason, with the way to the next page', async (t) => {
  const { run } = await createFakeGateway(t)
  const { code, out, err } = await run('runs')
  assert.equal(code, 0)
  const [header, first, second] = out.split('\n')
  assert.match(header ?? '', /^TIME +ID +ENDPOINT +STATE +RUNNER +SESSION +DETAIL$/)
  assert.match(
    first ?? '',
    /^\d\d:00:00 +0000aa +github +succeeded, ran +echo +hook:github:42 +pr-opened \(3 requests\)$/,
  )
  assert.match(second ?? '', /0000bb .* timeout: It took too long\.$/)
  assert.equal(err, 'More: reveille list runs --cursor later\n')
})

test('the command for the next page repeats the options and the name of the program', async (t) => {
  const { run, env } = await createFakeGateway(t)
  env['npm_command'] = 'exec'
  const { err } = await run('runs', '--session-key', 'hook:a b', '--limit', '2', '--cursor', 'x')
  assert.equal(err, "More: npx reveille list runs --session-key 'hook:a b' --limit 2 --cursor later\n")
})

test('a list shows the beginning of a text, also without a terminal', async (t) => {
  const event = {
    id: ids[0],
    text: `Hook: ${'word '.repeat(100)}`,
    state: 'pending',
    mode: 'now',
    origin: {},
  }
  const { run } = await createFakeGateway(t, {
    '/api/events': { items: [event] },
    '/api/find': { items: [{ kind: 'event', id: ids[0] }] },
    [`/api/events/${ids[0]}`]: event,
  })
  const line = (await run('events')).out.split('\n')[1] ?? ''
  assert.match(line, /Hook: (word )+w?o?r?d?…$/)
  assert.ok(line.length < 180)
  assert.ok((await run('events', ids[0])).out.includes(event.text.trim()))
})

test('rows are cut to the width of a terminal, and left whole elsewhere', async (t) => {
  const gateway = await createFakeGateway(t)
  gateway.world.columns = 30
  const { out } = await gateway.run('runs')
  const rows = out.split('\n').slice(0, 3)
  assert.deepEqual(
    rows.map((row) => row.length),
    [30, 30, 30],
  )
})

test("--json prints the gateway's answer", async (t) => {
  const { run } = await createFakeGateway(t)
  const { out } = await run('runs', '--json')
  assert.deepEqual(JSON.parse(out), JSON.parse(JSON.stringify({ items: runs, next: 'later' })))
})

test('filters, limit and cursor are passed to the gateway', async (t) => {
  const { run, asked } = await createFakeGateway(t)
  await run('runs', '--limit', '7', '--cursor', 'x', '--state', 'failed', '--session-key', 'hook:a b')
  assert.deepEqual(asked, ['/api/runs?limit=7&cursor=x&state=failed&sessionKey=hook%3Aa+b'])
})

test('one record is shown whole, by its id or by the end of it, and cannot control the terminal', async (t) => {
  const { run } = await createFakeGateway(t)
  const whole = await run('runs', ids[1])
  assert.equal(whole.code, 0)
  assert.match(whole.out, /^id +019c5b1e-0000-7000-8000-0000000000bb$/m)
  assert.match(whole.out, /^message\n {2}Review this\n {2}and {2}\[31mthat$/m)
  assert.match(whole.out, /^createdAt +2026-03-02T12:00:00\.000Z$/m)
  assert.equal((await run('runs', '0000bb')).out, whole.out)
})

test('an id that matches none or several records is an error', async (t) => {
  const { run } = await createFakeGateway(t)
  assert.deepEqual(await run('runs', '0000'), {
    code: 1,
    out: '',
    err: 'Nothing is called 0000: give an id whole, or at least its last 4 characters.\n',
  })
  assert.equal(
    (await run('show', '')).err,
    '"" names several records: run 0000aa and run 0000bb. Give the id of one.\n',
  )
})

test('an empty list says so', async (t) => {
  const { run } = await createFakeGateway(t)
  assert.equal((await run('deliveries')).out, 'No deliveries.\n')
})

test('status shows readiness, the route and what waits', async (t) => {
  const { run } = await createFakeGateway(t)
  const { code, out } = await run('status')
  assert.equal(code, 0)
  assert.match(out, /^ready +yes$/m)
  assert.match(out, /^route +terminal:stdout$/m)
  assert.match(out, /^main +idle$/m)
  assert.match(out, /^runs +2\+ queued, 2\+ running, 2\+ parked$/m)
  assert.match(out, /^parked +`reveille runs --state parked` says why/m)
  assert.match(out, /^latest +no request yet$/m)
})

test('status begins with the worst open issue and counts them by severity, within 80 columns', async (t) => {
  const key = `TRANSFORM_FAILING:${'order-'.repeat(20)}`
  const counts = { 'losing-events': 12, failing: 345, degraded: 67, suspicious: 8 }
  const status = { heartbeat: null, day: '2026-01-01', budgets: [], issues: counts }
  const { run } = await createFakeGateway(t, {
    '/api/status': status,
    '/api/issues': { items: [{ key, severity: 'losing-events' }] },
  })
  const { out } = await run('status')
  const [first = '', second = ''] = out.split('\n')
  assert.match(first, /^worst +losing-events: TRANSFORM_FAILING:order-[\w-]+…$/)
  assert.match(second, /^issues +12 losing-events, 345 failing, 67 degraded, 8 suspicious$/)
  assert.ok(Math.max(first.length, second.length) <= 80, `${first.length}, ${second.length}`)
  const { issues } = JSON.parse((await run('status', '--json')).out)
  assert.deepEqual(issues, { open: counts, worst: { key, severity: 'losing-events' } })
  const none = { 'losing-events': 0, failing: 0, degraded: 0, suspicious: 0 }
  const well = await createFakeGateway(t, { '/api/status': { ...status, issues: none } })
  assert.match((await well.run('status')).out, /^issues +none open\ngateway/)
})

test('status says that hooks are off and that log lines were dropped, and is silent where all is well', async (t) => {
  const status = { heartbeat: null, day: '2026-01-01', budgets: [] }
  const troubled = await createFakeGateway(t, {
    '/api/status': { ...status, hooks: { enabled: false, path: '/hooks' }, log: { droppedLines: 1234 } },
  })
  const { out } = await troubled.run('status')
  assert.match(
    out,
    /^hooks +off: every request to \/hooks is answered 404; write `enabled: true` under `hooks:`$/m,
  )
  assert.match(out, /^log +1234 lines dropped, as nothing takes what is written to standard error$/m)
  const well = await createFakeGateway(t, {
    '/api/status': { ...status, hooks: { enabled: true, path: '/hooks' }, log: { droppedLines: 0 } },
  })
  assert.doesNotMatch((await well.run('status')).out, /^(hooks|log) /m)
})

test('status shows the rest of the budgets', async (t) => {
  const spent = {
    key: 'agents.budget',
    limit: { tokens: 1_000_000 },
    runs: 3,
    tokens: 1_000_001,
    isSpent: true,
  }
  const open = {
    key: 'endpoints.github.budget',
    limit: { runs: 200, tokens: 5 },
    runs: 12,
    tokens: 1,
    isSpent: false,
  }
  const { run } = await createFakeGateway(t, {
    '/api/status': { heartbeat: null, day: '2026-01-01', budgets: [spent, open] },
  })
  const { out } = await run('status')
  assert.match(
    out,
    /^budgets\n {2}agents\.budget 1,000,001 of 1,000,000 tokens \(spent\)\n {2}endpoints\.github\.budget 12 of 200 runs, 1 of 5 tokens$/m,
  )
})

test('a gateway that cannot accept is a problem that status names', async (t) => {
  const { run } = await createFakeGateway(t, {
    '/readyz': Response.json({ ok: false, reason: 'draining' }, { status: 503 }),
  })
  const { code, out } = await run('status', '--json')
  assert.equal(code, 1)
  assert.equal(JSON.parse(out).ready, false)
  assert.equal(JSON.parse(out).reason, 'draining')
})

test('a missing gateway, a wrong token and an unknown id are each reported in one line', async (t) => {
  const gone = await createFakeGateway(t, { '/api/runs': new TypeError('fetch failed') })
  assert.deepEqual(await gone.run('runs'), {
    code: 1,
    out: '',
    err: 'No gateway answers at http://127.0.0.1:1. Is it running?\n',
  })
  const refused = await createFakeGateway(t)
  refused.env['REVEILLE_GATEWAY_TOKEN'] = 'another'
  assert.deepEqual(await refused.run('runs'), {
    code: 1,
    out: '',
    err: 'The gateway at http://127.0.0.1:1 refused the token from REVEILLE_GATEWAY_TOKEN.\n',
  })
  const { run } = await createFakeGateway(t)
  const unknown = await run('runs', '019c5b1e-0000-7000-8000-0000000000cc')
  assert.match(unknown.err, /^Nothing is called 019c5b1e-0000-7000-8000-0000000000cc: /)
})

test('bad usage exits with 2 and suggests the likely command', async (t) => {
  const { run } = await createFakeGateway(t)
  const cases: [string[], RegExp][] = [
    [['strat'], /Did you mean start\?/],
    [['runs', '--limt', '3'], /Did you mean --limit\?/],
    [['runs', '--limit', '501'], /whole number from 1 to 500/],
    [['events', '--state', 'lost'], /pending, consumed/],
    [['list', 'events', '--state', 'lost'], /--state of events is one of pending, consumed/],
    [['list', 'runs', '--channel', 'slack'], /--channel is not for runs\./],
    [['list', 'horses'], /Allowed choices are requests, runs, /],
    [['list', 'runs', '--all'], /--all is for issues\./],
    [['store', 'backup'], /missing required argument 'file'/],
    [['runs', 'aaaa', 'bbbb'], /too many arguments/],
    [['runs', ids[0], '--session-key', 'x'], /--session-key is not for an id, which names one record\./],
  ]
  for (const [args, expected] of cases) {
    const { code, err } = await run(...args)
    assert.match(err, expected)
    assert.equal(code, 2, args.join(' '))
  }
})

test('each command has help with examples, which exits with 0', async (t) => {
  const { run } = await createFakeGateway(t)
  const all = await run('--help')
  const commands = [...all.out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => String(name))
  assert.ok(commands.length >= 9)
  for (const name of commands.filter((name) => name !== 'help' && name !== 'store')) {
    const { code, out } = await run(name, '--help')
    assert.equal(code, 0)
    assert.match(out, /Examples:\n {2}reveille /, name)
  }
  assert.match((await run('store', 'backup', '--help')).out, /Examples:/)
})

test('--version prints the version of the package', async (t) => {
  const { run } = await createFakeGateway(t)
  const { version } = JSON.parse(await readFile(path.join(import.meta.dirname, '..', 'package.json'), 'utf8'))
  assert.deepEqual(await run('--version'), { code: 0, out: `${version}\n`, err: '' })
})

test('init writes a configuration that check finds good, and never a second one', async (t) => {
  const { run, env } = await createFakeGateway(t)
  const first = await run('init')
  assert.equal(first.code, 0)
  assert.match(first.out, /^wrote reveille\.yaml$/m)
  const again = await run('init', '--json')
  assert.deepEqual(JSON.parse(again.out), { folder: '.', written: [] })

  delete env['REVEILLE_GATEWAY_TOKEN']
  const checked = await run('check')
  assert.deepEqual(checked, { code: 0, out: 'reveille.yaml is good: 5 mappings.\n', err: '' })
})

test('help is never that of another command than the one asked for', async (t) => {
  const { run } = await createFakeGateway(t)
  const cases: readonly (readonly [string, string])[] = [
    ['backup --help', "error: unknown command 'backup'\n(Did you mean store backup?)\n(--help says more)\n"],
    ['help backup', "error: unknown command 'backup'\n(Did you mean store backup?)\n(--help says more)\n"],
    ['strt --help', "error: unknown command 'strt'\n(Did you mean start?)\n(--help says more)\n"],
    ['store bakup -h', "error: unknown command 'bakup'\n(Did you mean backup?)\n(--help says more)\n"],
    ['xyzzy', "error: unknown command 'xyzzy'\n(--help says more)\n"],
  ]
  for (const [words, err] of cases)
    assert.deepEqual(await run(...words.split(' ')), { code: 2, out: '', err })
  for (const [words, usage] of [
    ['store backup --help', 'reveille store backup'],
    ['help store', 'reveille store'],
    ['init github --help', 'reveille init'],
    ['help', 'reveille'],
  ] as const)
    assert.ok((await run(...words.split(' '))).out.startsWith(`Usage: ${usage} [options]`), words)
})

test('check refuses and reports the same errors as a start: budgets, plugins that cannot be set up, missing programs', async (t) => {
  const { run, cwd } = await createFakeGateway(t)
  const write = async (name: string, text: string) => {
    await mkdir(path.dirname(path.join(cwd, name)), { recursive: true })
    await writeFile(path.join(cwd, name), text)
  }
  await write(
    'bell/package.json',
    '{ "name": "bell", "type": "module", "exports": "./index.js", "reveille": { "kit": 1, "channels": ["bell"], "configSchema": "./s.json" } }',
  )
  await write('bell/s.json', '{ "type": "object" }')
  await write(
    'bell/index.js',
    `export default { name: 'bell', setup: async ({ fetch }) => {
  const seen = await fetch('http://127.0.0.1:9/').then(() => 'reached', (error) => error.message)
  throw new Error('no clapper; the service: ' + seen)
} }`,
  )
  const base =
    'agents: { defaults: { runner: RUNNER, model: openai/gpt-5.2 }, runners: { butler: { kind: command, command: CMD } } BUDGET }\n'
  const cases = [
    [
      base.replace('BUDGET', ', budget: { usd: 5 }').replace('RUNNER', 'echo').replace('CMD', 'node'),
      1,
      /counts what turns cost, and the runner butler reports no tokens/,
    ],
    [
      `plugins: [./bell]\nchannels: { bell: {} }\n`,
      1,
      /channels\.bell cannot be set up: no clapper; the service: .* could not be reached \(DRY_RUN\)/,
    ],
    [
      base.replace('BUDGET', '').replace('RUNNER', 'butler').replace('CMD', 'no-such-butler'),
      0,
      /agents\.runners\.butler cannot run: The program no-such-butler was not found: install/,
    ],
  ] as const
  for (const [text, code, expected] of cases) {
    await write('reveille.yaml', text)
    for (const command of ['check', 'doctor']) {
      const answer = await run(command)
      if (command === 'check') assert.equal(answer.code, code, answer.err)
      assert.match(`${answer.out}${answer.err}`.replace(/\s+/g, ' '), expected, command)
    }
  }
})

test('check reports errors with file, line and column, and exits with 1', async (t) => {
  const { run, cwd } = await createFakeGateway(t)
  await writeFile(path.join(cwd, 'reveille.yaml'), 'gateway:\n  prot: 1\n')
  const { code, out, err } = await run('check')
  assert.equal(code, 1)
  assert.equal(out, '')
  assert.match(err, /^reveille\.yaml:2:3: error: .*prot/)
  assert.match(err, /1 error\.\n$/)
  const { ok, diagnostics } = JSON.parse((await run('check', '--json')).out)
  assert.equal(ok, false)
  assert.equal(diagnostics[0].place.line, 2)
})

test('check validates the configuration of a plugin by its own schema', async (t) => {
  const { run, cwd } = await createFakeGateway(t)
  await writeFile(path.join(cwd, 'reveille.yaml'), 'channels:\n  terminal: { colour: 3 }\n')
  const { code, err } = await run('check')
  assert.equal(code, 1)
  assert.match(err, /^reveille\.yaml:2:\d+: error: channels\.terminal/)
})

test('check reports each address that its channel would refuse, with its place', async (t) => {
  const { run, cwd } = await createFakeGateway(t)
  const lines = [
    'channels:',
    '  terminal: {}',
    '  slack: { botToken: xoxb-1234567890-abcdefghij }',
    'agents: { route: { channel: terminal, to: stdot } }',
    'hooks:',
    '  enabled: true',
    '  token: hook-4fK29sLq0ZpVx81mWnB7',
    '  presets:',
    '    - { name: github, channel: slack, to: C123 }',
    '  mappings:',
    '    - { match: { path: a }, message: x, channel: Slack, to: "@ada" }',
    '    - { match: { path: b }, message: x, deliverTo: [{ channel: slack, to: "#ok" }, { channel: slack, to: ok }] }',
    '    - { match: { path: c }, message: x, channel: slack, to: "{{to}}", allowPayloadRouting: true }',
    '    - { match: { path: d }, message: x, channel: slack, to: nowhere, deliver: false }',
  ]
  await writeFile(path.join(cwd, 'reveille.yaml'), `${lines.join('\n')}\n`)
  const { code, out } = await run('check', '--json')
  assert.equal(code, 1)
  const wrong = (JSON.parse(out).diagnostics as { code: string; place: { line: number }; hint: string }[])
    .filter((each) => each.code === 'INVALID_ADDRESS')
    .map(({ place, hint }) => [place.line, hint])
  assert.deepEqual(wrong, [
    [4, 'The terminal takes `stdout` or `stderr` as an address.'],
    [
      11,
      'This is no address of Slack: Slack reaches a person by the id of their profile (⋮ > Copy member ID), as `user:U0123456789`, not by a name.',
    ],
    [12, 'This is no address of Slack: write `#ok` for the channel of that name, or its id.'],
    [
      9,
      'This is no address of Slack: it takes `C0123456789`, `#name`, `user:U0123456789` or `C0123456789:thread:1700000000.000100`.',
    ],
  ])
})

test('a second account of a channel is refused with what to do instead', async (t) => {
  const { run, cwd } = await createFakeGateway(t)
  const slack = 'botToken: xoxb-1234567890-abcdefghij'
  const remedy =
    /hint: a gateway has one account of each channel: for another one of slack, start a second gateway with/
  for (const channels of [
    `slack: { ${slack} }\n  slack2: { kind: slack, ${slack} }`,
    `slack: { ${slack} }\n  work: { kind: slack, ${slack} }`,
    `slack: { ${slack}, accountId: work }`,
    `slack: { ${slack}, accounts: { work: { ${slack} } } }`,
  ]) {
    await writeFile(path.join(cwd, 'reveille.yaml'), `channels:\n  ${channels}\n`)
    const { code, err } = await run('check')
    assert.equal(code, 1)
    assert.match(err.replace(/\s+/g, ' '), remedy)
  }
  await writeFile(path.join(cwd, 'reveille.yaml'), 'channels:\n  imsg: {}\n  teams: {}\n')
  const { err } = await run('check')
  assert.match(err, /did you mean `imessage`\?/)
  assert.match(err, /did you mean `msteams`\?/)
})

test('the backup of a missing store is a problem that is reported in one line', async (t) => {
  const { run, cwd } = await createFakeGateway(t)
  await writeFile(path.join(cwd, 'reveille.yaml'), '{}\n')
  const { code, err } = await run('store', 'backup', 'copy.db')
  assert.equal(code, 1)
  assert.match(err, /^There is no store in .*data\.\n$/)
})

test('status says how channels, sources, nodes and the database fare, and what to do, in the width of the terminal', async (t) => {
  const node = {
    id: '1',
    version: '1.0.0',
    role: 'all',
    startedAt: noon,
    generation: 3,
    leads: [],
    isSelf: false,
  }
  const gateway = await createFakeGateway(t, {
    '/api/status': {
      heartbeat: { state: 'failing', failures: 2, since: noon, nextAt: noon, code: 'timeout' },
      day: '2026-03-02',
      budgets: [],
      channels: [
        {
          channel: 'slack',
          state: 'held',
          until: noon + 240_000,
          pending: 3,
          parked: 1,
          code: 'bad-credential',
          reason: 'Slack refuses the token: \u001b[31mno\u001b[0m.',
        },
        { channel: 'pager', state: 'unconfigured', pending: 2, parked: 0 },
        { channel: 'mail', state: 'open', pending: 0, parked: 0, health: { ok: false, at: noon } },
      ],
      sources: [
        {
          source: 'gmail',
          state: 'waiting',
          detail: 'Run setup.',
          since: noon,
          times: { watchEnds: noon },
          counts: { posted: 1200 },
        },
      ],
      nodes: [
        { ...node, name: 'a', digest: 'abc', sharedDigest: 'abc', isSelf: true, leads: ['retention'] },
        { ...node, name: 'b', digest: 'abd', sharedDigest: 'abd', wakeUp: 'poll' },
      ],
      database: { version: '18.1', oldestTransaction: { ageMs: 360_000, by: 'a report' } },
    },
  })
  const { out } = await gateway.run('status')
  const time = String.raw`\d\d:0\d:00`
  for (const expected of [
    `main +failing since ${time} \\(timeout, 2 failures\\), tried again at ${time}`,
    `channels\n {2}slack: held until \\d\\d:04:00, 3 pending, 1 parked: bad-credential: Slack refuses the token: {2}\\[31mno \\[0m\\.`,
    ' {2}pager: not configured, 2 pending',
    ' {2}mail: open: its check failed: no reason was given',
    `nodes\n {2}a \\(this one\\), all, 1\\.0\\.0, generation 3 \\(abc\\), since ${time}, leads retention`,
    ' {2}they serve different configurations: abc on a; abd on b',
    'database +PostgreSQL 18\\.1; a transaction of a report is open for 6 minutes, .*',
    `sources\n {2}gmail\n {4}waits for an operator since ${time}\n {4}Run setup\\.\n {4}watch ends ${time}\n {4}1,200 posted`,
    'next\n {2}add channels\\.pager: .*\n {2}fix channels\\.slack: .*\n {2}`reveille deliveries --state parked --channel slack` says .*',
  ])
    assert.match(out, new RegExp(`^${expected}$`, 'm'))
  gateway.world.columns = 60
  const narrow = (await gateway.run('status')).out.split('\n')
  assert.deepEqual(
    narrow.filter((line) => line.length > 60 && !line.includes('`')),
    [],
  )
})

test('times are spans or moments, and each kind is listed by its own columns', async (t) => {
  const { run, asked } = await createFakeGateway(t, {
    '/api/jobs': {
      items: [{ id: ids[0], state: 'done', total: 3, done: 2, failed: 1, skipped: 0, createdAt: noon }],
    },
    '/api/endpoints': {
      items: [
        {
          name: 'github',
          policy: { auth: 'signature', provider: 'github' },
          counts: { accepted: 2, failed: 0 },
        },
      ],
    },
    '/api/mappings': {
      items: [{ id: 'pushed', action: 'wake', hits: 3, place: 'mappings/a.yaml:1:1', lastMatch: noon }],
    },
  })
  for (const [given, expected] of [
    ['8h', '2026-03-02T04:00:00.000Z'],
    ['1 w', '2026-02-23T12:00:00.000Z'],
    ['2026-01-31T08:00Z', '2026-01-31T08:00:00.000Z'],
    ['2026-01-31 08:00:30.5+01:00', '2026-01-31T07:00:30.500Z'],
    ['yesterday', undefined],
    ['2026-13-01', undefined],
  ] as const) {
    const { code, err } = await run('list', 'requests', '--since', given)
    assert.equal(code, expected === undefined ? 2 : 0, given)
    if (expected === undefined) assert.match(err, /^--since takes a span such as 30m, 8h or 7d/)
    else assert.equal(new URL(`http://x${asked.at(-1)}`).searchParams.get('since'), expected)
  }
  for (const [kind, expected] of [
    ['jobs', / 0000aa +done +3 +2 +1 +0$/m],
    ['endpoints', /^github +signature +github +never +2 accepted$/m],
    ['mappings', /^pushed +\(all\) +wake +3 +\d\d:00:00 +mappings\/a\.yaml:1:1$/m],
  ] as const)
    assert.match((await run('list', kind)).out, expected)
})
