import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  type Asked,
  assertAnswer,
  createCommandLine,
  createGatewayCommands,
  fakeGateway,
  gatewayEnv,
  testTranscript,
} from './io-fixture.ts'

const noon = Date.UTC(2026, 2, 2, 12)
const ids = ['019c5b1e-0000-7000-8000-0000000000aa', '019c5b1e-0000-7000-8000-0000000000bb'] as const

const run = {
  kind: 'run',
  endpoint: 'github',
  mapping: 'pr-opened',
  generation: 1,
  sessionKey: 'hook:github:42',
  stage: 'ran',
  runner: 'echo',
  message: 'Review this\r\nand \u001b[31mthat',
  createdAt: noon,
  deliveryIds: [],
  attempts: [],
}
const coalesce = { key: 'k', keep: 'all', deadline: noon, maxPerHour: 60, count: 3, requests: 3 }
const error = { code: 'timeout', message: 'It took too long.', retryable: false }
const runs = [
  { ...run, id: ids[0], state: 'succeeded', coalesce },
  { ...run, id: ids[1], state: 'failed', error },
]
const event = { id: ids[0], text: `Hook: ${'word '.repeat(100)}`, state: 'pending', mode: 'now', origin: {} }
const status = {
  heartbeat: { state: 'idle', failures: 0 },
  runs: { queued: 2, running: 1, parked: 0 },
  budgets: [],
  nodes: [],
}

const standard: Readonly<Record<string, object>> = {
  '/readyz': { ok: true },
  '/api/runs': { items: runs, next: 'later' },
  [`/api/runs/${ids[1]}`]: runs[1] ?? {},
  '/api/route': { route: { channel: 'terminal', to: 'stdout' } },
  '/api/status': status,
  '/api/events': { items: [event] },
  [`/api/events/${ids[0]}`]: event,
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
}

/** Answers by the path of a route, and finds runs by the ends of their ids. */
function answering(more: Readonly<Record<string, object>> = {}) {
  const known = { ...standard, ...more }
  return ({ route }: Asked) => {
    const { pathname, searchParams } = new URL(route.slice(4), 'http://gateway')
    if (pathname !== '/api/find') return known[pathname] ?? { items: [] }
    const found = runs.filter(({ id }) => id.endsWith(searchParams.get('q') ?? ''))
    return known[pathname] ?? { items: found.map(({ id }) => ({ kind: 'run', id })) }
  }
}

const withGateway = (t: TestContext, more: Readonly<Record<string, object>> = {}, columns?: number) =>
  createGatewayCommands(t, answering(more), { ...(columns !== undefined && { columns }) })

testTranscript(
  {},
  `
# a list is a table of time, short id, endpoint, state and reason, with the way to the next page
$ runs
TIME …ID …ENDPOINT …STATE …RUNNER …SESSION …DETAIL
…:00:00  0000aa  github …succeeded, ran …echo …hook:github:42 …pr-opened (3 requests)
… 0000bb …timeout: It took too long.
! More: reveille list runs --cursor later

# the command for the next page repeats the options
$ runs --session-key 'hook:a b' --limit 2 --cursor x
…
! More: reveille list runs --session-key 'hook:a b' --limit 2 --cursor later

# an empty list says so
$ deliveries
No deliveries.

# each kind is listed by its own columns
$ list jobs
… 0000aa  done …3 …2 …1 …0
$ list endpoints
github …signature …github …never …2 accepted
$ list mappings
pushed …(all) …wake …3 …:00:00  mappings/a.yaml:1:1

# an id that matches none or several records is an error
1 $ runs ${ids[0].replace('aa', 'cc')}
! Nothing is called 019c5b1e-0000-7000-8000-0000000000cc: give an id whole, or at least its last 4 characters.
1 $ show ''
! "" names several records: run 0000aa and run 0000bb. Give the id of one.

# a wrong token is reported in one line
1 $ REVEILLE_GATEWAY_TOKEN=another runs
! The gateway at http://127.0.0.1:1 refused the token from REVEILLE_GATEWAY_TOKEN.
`,
  fakeGateway(answering()).io,
)

test('a missing gateway is reported in one line', async (t) => {
  const { play } = await createCommandLine(t, {}, { env: gatewayEnv })
  await play('1 $ runs\n! No gateway answers at http://127.0.0.1:1. Is it running?')
})

test('a list shows the beginning of a text, and rows are cut to the width of a terminal', async (t) => {
  const { run, runIn } = await withGateway(t)
  assert.match((await run('events')).out, /\n(?!.{180}).*Hook: (word )+w?o?r?d?…\n/)
  assert.match((await runIn({ columns: 30 }, 'runs')).out, /^.{30}\n.{30}\n.{30}\n/)
})

test("filters, limit and cursor are passed to the gateway, and --json prints the gateway's answer", async (t) => {
  const { run, asked } = await withGateway(t)
  const filters = ['--limit', '7', '--cursor', 'x', '--state', 'failed', '--session-key', 'hook:a b']
  const { out } = await run('runs', ...filters, '--json')
  assert.deepEqual(
    asked.map(({ route }) => route),
    ['GET /api/runs?limit=7&cursor=x&state=failed&sessionKey=hook%3Aa+b'],
  )
  assert.deepEqual(JSON.parse(out), JSON.parse(JSON.stringify({ items: runs, next: 'later' })))
})

test('one record is shown whole, by its id or by the end of it, and cannot control the terminal', async (t) => {
  const { run } = await withGateway(t)
  const whole = await run('runs', ids[1])
  assert.equal(whole.code, 0)
  assert.match(whole.out, /^next: reveille retry 0000bb\n/)
  assert.ok(whole.out.includes('\nmessage: |-\n  Review this\n  and  [31mthat\n'), whole.out)
  assert.match(whole.out, /^createdAt: 2026-03-02T12:00:00\.000Z$/m)
  assert.equal((await run('runs', '0000bb')).out, whole.out)
  const ofEvent = await withGateway(t, { '/api/find': { items: [{ kind: 'event', id: ids[0] }] } })
  assert.ok((await ofEvent.run('events', ids[0])).out.includes(event.text.trim()))
})

test('times are spans or moments', async (t) => {
  const { run, asked } = await withGateway(t)
  for (const [given, expected] of [
    ['8h', '2026-03-02T04:00:00.000Z'],
    ['1 w', '2026-02-23T12:00:00.000Z'],
    ['1769846400', '2026-01-31T08:00:00.000Z'],
    ['2026-01-31T08:00Z', '2026-01-31T08:00:00.000Z'],
    ['2026-01-31 08:00:30.5+01:00', '2026-01-31T07:00:30.500Z'],
    ['yesterday', undefined],
    ['2026-13-01', undefined],
  ] as const) {
    const { code, err } = await run('list', 'requests', '--since', given)
    assert.equal(code, expected === undefined ? 2 : 0, given)
    if (expected === undefined) assert.match(err, /^--since takes a span such as 30m, 8h or 7d/)
    else assert.ok(asked.at(-1)?.route.endsWith(`since=${encodeURIComponent(expected)}`))
  }
})

const counts = { 'losing-events': 12, failing: 345, degraded: 67, suspicious: 8 }
const key = `TRANSFORM_FAILING:${'order-'.repeat(20)}`
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

const node = {
  id: '1',
  version: '1.0.0',
  role: 'all',
  startedAt: noon,
  generation: 3,
  leads: [],
  isSelf: false,
}
const time = String.raw`\d\d:0\d:00`

/** What `/api/status` answers in addition, and what the command shows of it. */
const shown: readonly (readonly [name: string, facts: object, out: readonly RegExp[], more?: object])[] = [
  [
    'readiness, the route and what waits',
    {},
    [
      /^ready +yes$/m,
      /^route +terminal:stdout$/m,
      /^heartbeat +state idle, failures 0$/m,
      /^runs +queued 2, running 1, parked 0$/m,
      /^latestRequest +none yet$/m,
    ],
  ],
  [
    'the worst open issue first with its next step, and the number of open ones by severity',
    { issues: counts },
    [
      /^worst +losing-events: TRANSFORM_FAILING:order-[\w-]+\nnext +Fix it: `reveille check`\n/,
      /^issues +losing-events 12, failing 345, degraded 67, suspicious 8$/m,
    ],
    {
      '/api/issues': {
        items: [{ key, severity: 'losing-events', next: { label: 'Fix it', command: 'reveille check' } }],
      },
    },
  ],
  [
    'that hooks are off and that log lines were dropped',
    { hooks: { enabled: false, path: '/hooks' }, log: { droppedLines: 1234 } },
    [/^hooks +enabled no, path \/hooks$/m, /^log +droppedLines 1,234$/m],
  ],
  [
    'the rest of the budgets',
    { budgets: [spent, open] },
    [
      /^budgets +agents\.budget 1,000,001 of 1,000,000 tokens \(spent\)\n +endpoints\.github\.budget 12 of 200 runs, 1 of 5 tokens$/m,
    ],
  ],
  [
    'how channels, sources, nodes and the database fare',
    {
      heartbeat: { state: 'failing', failures: 2, since: noon, nextAt: noon, code: 'timeout' },
      day: '2026-03-02',
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
          times: { readAt: noon },
          counts: { posted: 1200 },
        },
      ],
      nodes: [
        { ...node, name: 'a', digest: 'abc', sharedDigest: 'abc', isSelf: true, leads: ['retention'] },
        { ...node, name: 'b', digest: 'abd', sharedDigest: 'abd', wakeUp: 'poll' },
      ],
      database: { version: '18.1', oldestTransaction: { ageMs: 360_000, by: 'a report' } },
    },
    [
      `heartbeat +state failing, failures 2, since ${time}, nextAt ${time}, code timeout`,
      `channels +slack, state held, until \\d\\d:04:00, pending 3, parked 1, code bad-credential, reason Slack refuses the token: {2}\\[31mno \\[0m\\.`,
      ' +pager, state unconfigured, pending 2, parked 0',
      ` +mail, state open, pending 0, parked 0, health ok no, at ${time}`,
      `nodes +a, version 1\\.0\\.0, role all, startedAt ${time}, generation 3, leads retention, isSelf yes, digest abc, .*`,
      'differ +they serve different configurations: abc on a; abd on b',
      'database +version 18\\.1, oldestTransaction ageMs 360,000, by a report',
      `sources +gmail, state waiting, detail Run setup\\., since ${time}, times readAt ${time}, counts posted 1,200`,
    ].map((line) => new RegExp(`^${line}$`, 'm')),
  ],
]

for (const [name, facts, out, more] of shown)
  test(`status shows ${name}`, async (t) => {
    const { run } = await withGateway(t, { '/api/status': { ...status, ...facts }, ...more })
    assertAnswer(await run('status'), { out })
  })

test('status as JSON has the issues, and names the problem of a gateway that cannot accept', async (t) => {
  const { run } = await withGateway(t, {
    '/readyz': Response.json({ ok: false, reason: 'draining' }, { status: 503 }),
    '/api/status': { ...status, issues: counts },
    '/api/issues': { items: [{ key, severity: 'losing-events' }] },
  })
  const { code, out } = await run('status', '--json')
  const { ready, reason, issues, worst } = JSON.parse(out)
  assert.deepEqual([code, ready, reason], [1, false, 'draining'])
  assert.deepEqual([issues, worst], [counts, { key, severity: 'losing-events' }])
})

test('bad usage exits with 2 and suggests the likely command', async (t) => {
  const { run } = await withGateway(t)
  for (const [words, expected] of [
    ['strat', /Did you mean start\?/],
    ['runs --limt 3', /Did you mean --limit\?/],
    ['runs --limit 501', /whole number from 1 to 500/],
    ['events --state lost', /pending, consumed/],
    ['list events --state lost', /--state of events is one of pending, consumed/],
    ['list runs --channel slack', /--channel is not for runs\./],
    ['list horses', /Allowed choices are requests, runs, /],
    ['list runs --all', /--all is for issues\./],
    ['store backup', /missing required argument 'file'/],
    ['runs aaaa bbbb', /too many arguments/],
    [`runs ${ids[0]} --session-key x`, /--session-key is not for an id, which names one record\./],
  ] as const) {
    const { code, err } = await run(...words.split(' '))
    assert.match(err, expected)
    assert.equal(code, 2, words)
  }
})

test('each command has help with examples, which exits with 0', async (t) => {
  const { run } = await createCommandLine(t, {})
  const { out } = await run('--help')
  const commands = [...out.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => String(name))
  assert.ok(commands.length >= 9)
  const withExamples = commands.filter((name) => name !== 'help' && name !== 'store')
  for (const name of [...withExamples, 'store backup']) {
    const { code, out } = await run(...name.split(' '), '--help')
    assert.equal(code, 0)
    assert.match(out, /Examples:\n {2}reveille /, name)
  }
})

test('help is never that of another command than the one asked for', async (t) => {
  const { run } = await createCommandLine(t, {})
  const meant = (hint: string) => `\n(Did you mean ${hint}?)`
  for (const [words, unknown, hint] of [
    ['backup --help', 'backup', meant('store backup')],
    ['help backup', 'backup', meant('store backup')],
    ['strt --help', 'strt', meant('start')],
    ['store bakup -h', 'bakup', meant('backup')],
    ['xyzzy', 'xyzzy', ''],
  ] as const) {
    const err = `error: unknown command '${unknown}'${hint}\n(--help says more)\n`
    assert.deepEqual(await run(...words.split(' ')), { code: 2, out: '', err })
  }
  for (const [words, usage] of [
    ['store backup --help', 'reveille store backup'],
    ['help store', 'reveille store'],
    ['init github --help', 'reveille init'],
    ['help', 'reveille'],
  ] as const)
    assert.ok((await run(...words.split(' '))).out.startsWith(`Usage: ${usage} [options]`), words)
})

test('--version prints the version of the package', async (t) => {
  const { run } = await createCommandLine(t, {})
  const { version } = JSON.parse(await readFile(path.join(import.meta.dirname, '..', 'package.json'), 'utf8'))
  assert.deepEqual(await run('--version'), { code: 0, out: `${version}\n`, err: '' })
})

testTranscript(
  {},
  `
# init writes a configuration in which check and lint find nothing, and never a second one
$ init
wrote reveille.yaml
$ init --json
  "written": []
$ check
reveille.yaml is good: 5 mappings.
$ lint
reveille.yaml: no findings.
`,
)

const bell = {
  'bell/package.json':
    '{ "name": "bell", "type": "module", "exports": "./index.js", "reveille": { "kit": 1, "channels": ["bell"], "configSchema": "./s.json" } }',
  'bell/s.json': '{ "type": "object" }',
  'bell/index.js': `export default { name: 'bell', setup: async ({ fetch }) => {
  const seen = await fetch('http://127.0.0.1:9/').then(() => 'reached', (error) => error.message)
  throw new Error('no clapper; the service: ' + seen)
} }`,
}
const butler = (runner: string, command: string, more = '') =>
  `agents: { defaults: { runner: ${runner}, model: openai/gpt-5.2 }, runners: { butler: { kind: command, command: ${command} } }${more} }\n`
for (const [what, text, code, expected] of [
  [
    'a budget without prices',
    butler('echo', 'node', ', budget: { usd: 5 }'),
    1,
    /counts what turns cost, and the runner butler reports no tokens/,
  ],
  [
    'a plugin that cannot be set up',
    'plugins: [./bell]\nchannels: { bell: {} }\n',
    1,
    /channels\.bell cannot be set up: no clapper; the service: .* could not be reached \(DRY_RUN\)/,
  ],
  [
    'a missing program',
    butler('butler', 'no-such-butler'),
    0,
    /agents\.runners\.butler cannot run: The program no-such-butler was not found: install/,
  ],
] as const)
  test(`check and doctor report the same as a start: ${what}`, async (t) => {
    const { run } = await createCommandLine(t, { ...bell, 'reveille.yaml': text })
    const answers = [await run('check'), await run('doctor')]
    assert.equal(answers[0]?.code, code)
    for (const { out, err } of answers) assert.match(`${out}${err}`.replace(/\s+/g, ' '), expected)
  })

const slack = 'botToken: xoxb-1234567890-abcdefghij'
const refused = `1 $ check
! …hint: a gateway has one account of each channel: for another one of slack, start a second gateway with…`

testTranscript(
  {},
  `
# check reports errors with file, line and column, and as JSON, and exits with 1
+ reveille.yaml: gateway: { prot: 1 }
1 $ check
! reveille.yaml:1:12: error: …prot…
! …1 error.
1 $ check --json
  "ok": false,
        "line": 1,

# check validates the configuration of a plugin by its own schema
+ reveille.yaml: channels: { terminal: { colour: 3 } }
1 $ check
! reveille.yaml:1:…: error: channels.terminal…

# a second account of a channel is refused with what to do instead: another name that resembles it
+ reveille.yaml: channels: { slack: { ${slack} }, slack2: { kind: slack, ${slack} } }
${refused}

# a second account of a channel is refused with what to do instead: another name
+ reveille.yaml: channels: { slack: { ${slack} }, work: { kind: slack, ${slack} } }
${refused}

# a second account of a channel is refused with what to do instead: an id of its account
+ reveille.yaml: channels: { slack: { ${slack}, accountId: work } }
${refused}

# a second account of a channel is refused with what to do instead: a map of accounts
+ reveille.yaml: channels: { slack: { ${slack}, accounts: { work: { ${slack} } } } }
${refused}

# for a misspelt channel the nearest one is suggested
+ reveille.yaml: channels: { imsg: {}, teams: {} }
1 $ check
! …did you mean \`imessage\`?…
! …did you mean \`msteams\`?…

# the backup of a missing store is a problem that is reported in one line
+ reveille.yaml: {}
1 $ store backup copy.db
! There is no store in …data.
`,
)

testTranscript(
  {
    'reveille.yaml': `channels:
  terminal: {}
  slack: { ${slack} }
agents: { route: { channel: terminal, to: stdot } }
hooks:
  enabled: true
  token: hook-4fK29sLq0ZpVx81mWnB7
  presets:
    - { name: github, channel: slack, to: C123 }
  mappings:
    - { match: { path: a }, message: x, channel: Slack, to: "@ada" }
    - { match: { path: b }, message: x, deliverTo: [{ channel: slack, to: "#ok" }, { channel: slack, to: ok }] }
    - { match: { path: c }, message: x, channel: slack, to: "{{to}}", allowPayloadRouting: true }
    - { match: { path: d }, message: x, channel: slack, to: nowhere, deliver: false }
`,
  },
  `
# check reports each address that its channel would refuse, with its place and the form of a good one
1 $ check
! reveille.yaml:4:…[INVALID_ADDRESS]
!   hint: The terminal takes \`stdout\` or \`stderr\` as an address.
! reveille.yaml:11:…[INVALID_ADDRESS]
!   hint: This is no address of Slack: Slack reaches a person by the id of their profile …, as \`user:U0123456789\`, not by a name.
! reveille.yaml:12:…[INVALID_ADDRESS]
!   hint: This is no address of Slack: write \`#ok\` for the channel of that name, or its id.
! reveille.yaml:9:…[INVALID_ADDRESS]
!   hint: This is no address of Slack: it takes \`C0123456789\`, …
! reveille.yaml: 4 errors.
`,
)
