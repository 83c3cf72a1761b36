import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { logMessages } from './log-messages.ts'
import { createPrettyStream } from './pretty.ts'

const levels = { debug: 20, info: 30, warn: 40, error: 50 }

/** The terminal's text of one record, without its time of day. */
function shown(
  facts: object,
  {
    level = 'info',
    colour = false,
    columns,
  }: { level?: keyof typeof levels; colour?: boolean; columns?: number } = {},
) {
  let text = ''
  const stream = createPrettyStream(
    {
      write(part: string) {
        text += part
      },
      columns,
    },
    { colour },
  )
  stream.write(`${JSON.stringify({ level: levels[level], time: '2026-01-01T00:00:00.000Z', ...facts })}\n`)
  const plain = stripVTControlCharacters(text)
  assert.match(plain, /^\d\d:\d\d:\d\d {2}\S?/)
  assert.ok(text.endsWith('\n'))
  return colour ? text : text.slice('00:00:00  '.length, -1)
}

const requestId = '01a1fd97-8f22-7000-8029-fcfcbff544ad'
const runId = '01a1fd97-8f22-7001-bb92-c4f805b88539'
const run = { runId, requestId, endpoint: 'github', sessionKey: 'hook:pr:42' }
const request = { requestId, endpoint: 'github', mapping: 'opened', generation: 3, client: '127.0.0.1' }
const delivery = { deliveryId: runId, runId, channel: 'slack', to: 'C01' }
const agent = (id: string, became: object = {}) => ({ kind: 'agent', id, ...became })
const refused = { ...request, status: 401, code: 'UNAUTHORIZED', reason: 'It is none.' }
const hour = 3_600_000

/** An event of each form that a line, a fact or a phrase can have. */
const lines: readonly (readonly [event: string, facts: object, line: string])[] = [
  [
    'request-accepted',
    { ...request, ms: 4.26, actions: [agent(runId), { kind: 'wake', id: requestId }] },
    'accepted    /github matched opened  agent b88539, wake f544ad  4.3 ms  request f544ad',
  ],
  [
    'request-accepted',
    { ...request, ms: 4.26, actions: [agent(runId, { became: 'joined' }), agent(runId, { became: 'busy' })] },
    'accepted    /github matched opened  agent b88539 (joined), agent b88539 (busy: cancelled)  4.3 ms  request f544ad',
  ],
  [
    'request-duplicate',
    { ...request, actions: [agent(runId, { became: 'duplicate', request: runId })] },
    'duplicate   /github matched opened  agent b88539 (came before, in request b88539)  request f544ad',
  ],
  [
    'request-duplicate',
    { ...request, mapping: undefined, status: 409, code: 'IDEMPOTENCY_CONFLICT', reason: 'Used before.' },
    'duplicate   /github  409 IDEMPOTENCY_CONFLICT  Used before.  request f544ad',
  ],
  [
    'request-ignored',
    { ...request, mapping: undefined, reason: 'none' },
    'ignored     /github  none  request f544ad',
  ],
  ['request-refused', refused, 'refused     /github  401 UNAUTHORIZED  It is none.  request f544ad'],
  [
    'request-refused',
    { ...refused, failure: 'TOKEN_WRONG' },
    'refused     /github  401 TOKEN_WRONG  It is none.  from 127.0.0.1  request f544ad',
  ],
  [
    'request-refused',
    { ...refused, status: 429, code: 'TOO_MANY_TRIES', failure: 'TOKEN_WRONG' },
    'refused     /github  429 TOO_MANY_TRIES, TOKEN_WRONG  It is none.  from 127.0.0.1  request f544ad',
  ],
  [
    'request-refused',
    { ...refused, status: 429, code: 'RATE_LIMITED' },
    'refused     /github  429 RATE_LIMITED  It is none.  from 127.0.0.1  request f544ad',
  ],
  ['run-succeeded', { ...run, runner: 'ai', ms: 5 }, 'ran         hook:pr:42  ai  5 ms  run b88539'],
  ['run-succeeded', { ...run, runner: 'ai', ms: 83_214 }, 'ran         hook:pr:42  ai  83 s  run b88539'],
  [
    'run-retried',
    { ...run, code: 'network', reason: 'No answer.', inMs: 2140 },
    'retry       hook:pr:42  network  No answer.  in 2.1 s  run b88539',
  ],
  ['heartbeat-succeeded', { runId, events: 1, ms: 12 }, 'heartbeat   main saw 1 event  12 ms  run b88539'],
  [
    'heartbeat-succeeded',
    { runId, events: 50, waiting: 7, ms: 12 },
    'heartbeat   main saw 50 events, 7 waiting  12 ms  run b88539',
  ],
  ['channel-opened', { channel: 'slack', heldMs: hour }, 'open        slack sends again  after 60 min'],
  [
    'delivery-parked',
    { ...delivery, to: undefined, code: 'NO_ROUTE', reason: 'no recipient' },
    'parked      slack  NO_ROUTE  no recipient  delivery b88539',
  ],
  ['delivery-delivered', { ...delivery, ms: 3 }, 'delivered   slack:C01  3 ms  delivery b88539'],
  [
    'transform-output',
    { module: 'a.ts', msg: 'got 7', requestId },
    'info        a.ts  got 7  request f544ad',
  ],
  [
    'snapshot-swapped',
    { generation: 4, digest: 'bde8cff3c9519c54', tookMs: 28.04, mappings: 1 },
    'live        generation 4, 1 mapping  28 ms  bde8cff3c951',
  ],
  [
    'snapshot-swapped',
    { generation: 5, digest: 'bde8', tookMs: 3, mappings: 2, changes: '+1 mapping (a)' },
    'live        generation 5, 2 mappings: +1 mapping (a)  3 ms  bde8',
  ],
  [
    'snapshot-swapped',
    { generation: 4, digest: 'bde8', tookMs: 3, mappings: 1, rolledBack: true },
    'rollback    generation 4 serves again until the files change, 1 mapping  3 ms  bde8',
  ],
  [
    'candidate-rejected',
    { errors: 2, tookMs: 3 },
    'rejected    the change has 2 errors; the live generation is unchanged  3 ms',
  ],
  [
    'candidate-rejected',
    { errors: 2, isAgain: true, tookMs: 3 },
    'rejected    the change still has 2 errors, as above; the live generation is unchanged  3 ms',
  ],
  [
    'candidate-rejected',
    { errors: 1, tookMs: 3, rollbackTo: 4 },
    'rejected    generation 4 has 1 error; the live generation is unchanged  3 ms',
  ],
  [
    'restart-required',
    { keys: ['gateway.host', 'gateway.port'] },
    'restart     gateway.host, gateway.port changed; a restart will apply it',
  ],
  ['gateway-listening', { address: 'http://a:1', admin: true }, 'listening   http://a:1'],
  [
    'gateway-listening',
    { address: 'http://a:1', admin: false },
    'listening   http://a:1  no admin surface: gateway.auth.token is not set',
  ],
]

test('an event with a message is laid out in one line', () => {
  for (const [event, facts, line] of lines) assert.equal(shown({ event, ...facts }), line)
})

test('an event without a message of its own shows its `msg` and its facts', () => {
  assert.equal(
    shown({ event: 'rate-limited', channel: 'slack', after: 3, parts: ['a'] }, { level: 'warn' }),
    'warn        rate limited  channel=slack  after=3  parts=["a"]',
  )
  assert.equal(shown({ event: 'x', msg: 'what happened', absent: undefined }), 'info        what happened')
  assert.equal(shown({ event: 'toString' }), 'info        toString', 'no story is inherited')
})

test('the event of a plugin is shown in words after the name of its owner', () => {
  const plugin = '@reveille/plugin-gmail'
  const posted = { event: 'gmail-mails-posted', plugin, source: 'gmail', count: 2, historyId: '7' }
  assert.equal(shown(posted), 'source      gmail  mails posted  count=2  historyId=7')
  const moved = { event: 'telegram-group-moved', plugin, channel: 'work', hint: 'Write to 7.' }
  assert.equal(shown(moved, { level: 'warn' }), 'warn        work  telegram group moved  hint=Write to 7.')
})

test('a diagnostic keeps its lines and its caret under its place', () => {
  const msg = 'a.yaml:2:3: error: no [X]\n  2 | \tfoo\n    | \t^\n  hint: try bar'
  const margin = ' '.repeat(22)
  assert.equal(
    shown({ event: 'diagnostic', msg, file: 'a.yaml', line: 2, column: 3 }, { level: 'error' }),
    [
      '            a.yaml:2:3: error: no [X]',
      `${margin}  2 |  foo`,
      `${margin}    |  ^`,
      `${margin}  hint: try bar`,
    ].join('\n'),
  )
})

test('a line that is wider than the terminal goes on under the beginning of its text', () => {
  const margin = ' '.repeat(22)
  const facts = { ...request, event: 'request-refused', status: 400, code: 'BLANK_TEXT' }
  assert.equal(
    shown({ ...facts, reason: 'The text or message is missing or blank.' }, { columns: 80 }),
    [
      'refused     /github  400 BLANK_TEXT  The text or message is missing or',
      `${margin}blank.  request f544ad`,
    ].join('\n'),
  )
  assert.equal(
    shown({ ...facts, reason: 'The text is missing or blank.' }, { columns: 80 }),
    ['refused     /github  400 BLANK_TEXT  The text is missing or blank.', `${margin}request f544ad`].join(
      '\n',
    ),
    'the small print is not torn',
  )
})

test('a key, an excerpt and a narrow window are left whole', () => {
  const sessionKey = `hook:${'x'.repeat(90)}`
  const lines = shown({ ...run, sessionKey, event: 'run-failed' }, { columns: 80 }).split('\n')
  assert.equal(lines[0], `run failed  ${sessionKey}`)
  const excerpt = `  2 | ${'y '.repeat(60)}`
  assert.ok(
    shown({ event: 'diagnostic', msg: `a.yaml:2:1: error\n${excerpt}` }, { columns: 80 }).includes(excerpt),
  )
  assert.equal(shown({ event: 'x', msg: 'word '.repeat(40) }, { columns: 40 }).split('\n').length, 1)
  const hint = shown(
    { event: 'diagnostic', msg: `a.yaml:2:1: error\n  hint: ${'word '.repeat(30)}` },
    { columns: 80 },
  )
  for (const line of hint.split('\n')) assert.ok(line.length <= 80, line)
  assert.match(hint, /\n {24}hint: word.*\n {30}word/)
})

test('an error is shown with its frames and its causes', () => {
  const err = {
    type: 'StoreError',
    message: 'the disk is full',
    stack: 'StoreError\n    at commit (writer.ts:1:2)',
    cause: { type: 'Error', stack: 'Error: ENOSPC\n    at write' },
  }
  const expectedLines = [
    'the disk is full',
    'StoreError',
    '    at commit (writer.ts:1:2)',
    'caused by: Error: ENOSPC',
    '    at write',
  ].map((line) => `\n${' '.repeat(22)}${line}`)
  const reason = { status: 503, code: 'STORE_FULL', reason: 'No room.' }
  assert.equal(
    shown({ ...request, ...reason, event: 'request-refused', err }, { level: 'error' }),
    `refused     /github  503 STORE_FULL  No room.  request f544ad${expectedLines.join('')}`,
  )
  assert.equal(
    shown({ event: 'task-faulted', err: 'text' }, { level: 'error' }),
    `error       task faulted\n${' '.repeat(22)}text`,
  )
})

test('no name that a client chose can steer the terminal in any message', () => {
  const evil = 'a\u001b[2J\u009b1m\u202eb\r\n\u0007\u2028\u200bc'
  const facts = {
    endpoint: evil,
    mapping: evil,
    sessionKey: evil,
    reason: evil,
    code: evil,
    status: evil,
    requestId: evil,
    runId: evil,
    eventId: evil,
    deliveryId: evil,
    channel: evil,
    to: evil,
    runner: evil,
    address: evil,
    digest: evil,
    hint: evil,
    msg: evil,
    keys: [evil],
    changes: evil,
    found: [evil],
    by: evil,
    generation: evil,
    rollbackTo: evil,
    actions: [{ kind: evil, id: evil }],
    ms: evil,
    waiting: evil,
    err: { message: evil, stack: evil, cause: evil },
    [evil]: evil,
  }
  for (const event of [...Object.keys(logMessages), evil]) {
    const text = shown({ ...facts, event })
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u, event)
    for (const line of text.split('\n').slice(1)) assert.match(line, /^ {22}/, 'no line can pose as another')
  }
})

test('colour marks the level and dims the small print; without it a line holds no escapes', () => {
  const facts = { ...run, event: 'run-failed', code: 'network', reason: 'No answer.' }
  const painted = (level: keyof typeof levels) =>
    shown(facts, { level, colour: true }).replaceAll('\u001b', 'ESC')
  assert.match(painted('info'), /^ESC\[2m\d\d:\d\d:\d\dESC\[22m {2}ESC\[32mrun failedESC\[39m {2}/)
  assert.match(painted('warn'), /ESC\[33mrun failedESC\[39m/)
  assert.match(painted('error'), /ESC\[31mrun failedESC\[39m/)
  assert.match(painted('info'), /ESC\[2mrun b88539ESC\[22m\n$/)
  const plain = stripVTControlCharacters(shown(facts, { level: 'warn', colour: true }))
  assert.equal(shown(facts), plain.slice('00:00:00  '.length, -1))
})

test('every message is for an event that something logs', () => {
  const runtime = join(import.meta.dirname, '..')
  const engine = join(runtime, '..', 'engine', 'reload')
  const sources = [runtime, engine].flatMap((cwd) =>
    globSync('**/*.ts', { cwd, exclude: ['**/*.test.ts', '**/log-messages.ts'] }).map((file) =>
      readFileSync(join(cwd, file), 'utf8'),
    ),
  )
  const all = sources.join('\n')
  // These are put together of a word and an outcome or a state.
  const isBuilt = (event: string) => /^(request-.*|run-(failed|timed-out|cancelled))$/.test(event)
  const dead = Object.keys(logMessages).filter((event) => !all.includes(`'${event}'`) && !isBuilt(event))
  assert.deepEqual(dead, [])
})
