import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { logMessages } from './log-messages.ts'
import { createPrettyStream } from './pretty.ts'

const levels = { debug: 20, info: 30, warn: 40, error: 50 }

/** What a terminal shows of one record, its time of day aside. */
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

test('each event with a message is laid out in one line', () => {
  const lines: [object, string][] = [
    [
      {
        ...request,
        event: 'request-duplicate',
        status: 200,
        actions: [{ kind: 'agent', id: runId, became: 'duplicate', request: runId }],
      },
      'duplicate   /github matched opened  agent b88539 (came before, in request b88539)  request f544ad',
    ],
    [
      {
        ...request,
        event: 'request-duplicate',
        mapping: undefined,
        endpoint: 'agent',
        status: 409,
        code: 'IDEMPOTENCY_CONFLICT',
        reason: 'Used before.',
      },
      'duplicate   /agent  409 IDEMPOTENCY_CONFLICT  Used before.  request f544ad',
    ],
    [
      {
        ...request,
        event: 'request-accepted',
        status: 202,
        ms: 4.26,
        actions: [
          { kind: 'agent', id: runId },
          { kind: 'wake', id: requestId },
        ],
      },
      'accepted    /github matched opened  agent b88539, wake f544ad  4.3 ms  request f544ad',
    ],
    [
      {
        ...request,
        event: 'request-accepted',
        ms: 4.26,
        actions: [
          { kind: 'agent', id: runId, became: 'joined' },
          { kind: 'agent', id: requestId, became: 'busy' },
        ],
      },
      'accepted    /github matched opened  agent b88539 (joined), agent f544ad (busy: cancelled)  4.3 ms  request f544ad',
    ],
    [
      { ...request, mapping: undefined, event: 'request-ignored', reason: 'no mapping matched' },
      'ignored     /github  no mapping matched  request f544ad',
    ],
    [
      { ...request, event: 'request-skipped', reason: 'the fan-out is empty' },
      'skipped     /github matched opened  the fan-out is empty  request f544ad',
    ],
    [
      { ...request, event: 'request-refused', status: 401, code: 'UNAUTHORIZED', reason: 'Wrong token.' },
      'refused     /github  401 UNAUTHORIZED  Wrong token.  request f544ad',
    ],
    [
      {
        ...request,
        event: 'request-refused',
        status: 401,
        code: 'UNAUTHORIZED',
        failure: 'TIMESTAMP_OUTSIDE',
        reason: 'the time lies outside the tolerance: 612 s in the past',
      },
      'refused     /github  401 TIMESTAMP_OUTSIDE  the time lies outside the tolerance: 612 s in the past  from 127.0.0.1  request f544ad',
    ],
    [
      {
        event: 'requests-suppressed',
        count: 1204,
        clients: 3,
        reasons: { HANDSHAKE: 4, TOKEN_WRONG: 1200 },
      },
      'refused     1204 more requests within a minute, not listed one by one: 1200 TOKEN_WRONG, 4 HANDSHAKE  from 3 clients  reveille requests sums them up',
    ],
    [
      {
        ...request,
        event: 'request-refused',
        status: 429,
        code: 'TOO_MANY_TRIES',
        failure: 'TOKEN_WRONG',
        reason: 'it is none',
      },
      'refused     /github  429 TOO_MANY_TRIES, TOKEN_WRONG  it is none  from 127.0.0.1  request f544ad',
    ],
    [
      { ...request, event: 'request-refused', status: 429, code: 'RATE_LIMITED', reason: 'one too many' },
      'refused     /github  429 RATE_LIMITED  one too many  from 127.0.0.1  request f544ad',
    ],
    [
      {
        ...request,
        mapping: undefined,
        event: 'request-handshake',
        status: 200,
        reason: 'The challenge was echoed.',
      },
      'handshake   /github  The challenge was echoed.  200  request f544ad',
    ],
    [
      {
        event: 'old-token-used',
        endpoint: 'ci',
        list: 'hooks.token',
        position: 2,
        client: '127.0.0.1',
        hint: 'Renew it.',
      },
      'old token   /ci took token 2 of hooks.token  from 127.0.0.1  Renew it.',
    ],
    [
      {
        event: 'old-secret-used',
        endpoint: 'github',
        list: 'endpoints.github.verify',
        position: 2,
        client: '127.0.0.1',
        hint: 'Renew it.',
      },
      'old secret  /github was signed with secret 2 of endpoints.github.verify  from 127.0.0.1  Renew it.',
    ],
    [
      { ...request, event: 'request-failed', status: 500, code: 'ENGINE_FAILED', reason: 'It failed.' },
      'failed      /github matched opened  500 ENGINE_FAILED  It failed.  request f544ad',
    ],
    [
      { event: 'query-token-used', endpoint: 'github', hint: 'Send a header.' },
      'deprecated  /github took its token from the address  Send a header.',
    ],
    [
      {
        event: 'unknown-fields',
        requestId: run.runId,
        endpoint: 'agent',
        client: '::1',
        fields: 2,
        problems: ['is not a field of an agent', 'is written `sessionKey`'],
      },
      'warning     /agent was sent 2 fields without effect: is not a field of an agent; is written `sessionKey`  from ::1  request b88539',
    ],
    [
      { ...run, event: 'run-succeeded', runner: 'echo', ms: 5 },
      'ran         hook:pr:42  echo  5 ms  run b88539',
    ],
    [
      { ...run, event: 'run-failed', code: 'bad-credential', reason: 'The key is wrong.' },
      'run failed  hook:pr:42  bad-credential  The key is wrong.  run b88539',
    ],
    [
      { ...run, event: 'run-timed-out', code: 'TIMEOUT', reason: 'not done within 600 s' },
      'timed out   hook:pr:42  not done within 600 s  run b88539',
    ],
    [
      { ...run, event: 'run-retried', code: 'network', reason: 'No answer.', inMs: 2140 },
      'retry       hook:pr:42  network  No answer.  in 2.1 s  run b88539',
    ],
    [
      { ...run, event: 'run-cancelled', reason: 'It was cancelled.' },
      'cancelled   hook:pr:42  It was cancelled.  run b88539',
    ],
    [
      { ...run, event: 'run-parked', code: 'BUDGET', reason: 'The budget is spent.' },
      'run parked  hook:pr:42  BUDGET  The budget is spent.  run b88539',
    ],
    [
      { ...delivery, event: 'delivery-send-asked', bytes: 5, by: 'ada' },
      'send        slack:C01  asked by ada  delivery b88539',
    ],
    [
      { ...delivery, event: 'delivery-replay-asked', by: 'ada' },
      'replay      slack:C01  asked by ada  delivery b88539',
    ],
    [
      { event: 'route-assumed', channel: 'slack', to: 'C1' },
      'route       none is set, so replies to `last` go to slack:C1',
    ],
    [{ event: 'route-set', channel: 'slack', by: 'ada' }, 'route       slack, set by ada'],
    [{ event: 'run-cancel-asked', runId, by: 'ada' }, 'cancel      asked by ada  run b88539'],
    [{ event: 'run-resume-asked', runId, by: 'ada' }, 'resume      asked by ada  run b88539'],
    [{ runId, event: 'heartbeat-cancelled' }, 'heartbeat   cancelled  run b88539'],
    [
      { event: 'heartbeat-postponed', reason: 'quiet hours', inMs: 9 * 3_600_000 },
      'heartbeat   waits: quiet hours  again in 9 h',
    ],
    [
      { event: 'heartbeat-postponed', reason: 'quiet hours', inMs: 45 * 60_000 },
      'heartbeat   waits: quiet hours  again in 45 min',
    ],
    [
      { event: 'heartbeat-postponed', reason: 'quiet hours', inMs: 45_000 },
      'heartbeat   waits: quiet hours  again in 45 s',
    ],
    [
      { ...run, event: 'session-compacted', turns: 2, ms: 5 },
      'compacted   hook:pr:42  2 turns became a summary  5 ms  run b88539',
    ],
    [
      { ...run, event: 'session-not-compacted', code: 'network', reason: 'No answer.' },
      'warning     hook:pr:42 could not be summarised, its oldest turns are left out  network  No answer.  run b88539',
    ],
    [
      {
        event: 'model-refused',
        runner: 'claude',
        model: 'openai/gpt-5',
        reason: 'claude takes no such model.',
      },
      'warning     the runner claude does not take openai/gpt-5, which is allowed  claude takes no such model.',
    ],
    [{ ...run, event: 'run-interrupted' }, 'paused      hook:pr:42  will be taken up again  run b88539'],
    [
      { ...run, event: 'summary-posted', eventId: runId },
      'summary     posted to the main session  event b88539',
    ],
    [
      { runId, sessionKey: 'main', event: 'heartbeat-succeeded', events: 1, waiting: 0, ms: 12 },
      'heartbeat   main saw 1 event  12 ms  run b88539',
    ],
    [
      { runId, sessionKey: 'main', event: 'heartbeat-succeeded', events: 50, waiting: 7, ms: 12 },
      'heartbeat   main saw 50 events, 7 waiting  12 ms  run b88539',
    ],
    [
      { ...run, event: 'run-succeeded', runner: 'ai', ms: 83_214 },
      'ran         hook:pr:42  ai  83 s  run b88539',
    ],
    [
      { runId, event: 'heartbeat-failed', code: 'network', reason: 'No answer.', failures: 2, inMs: 61_000 },
      'heartbeat   failed  network  No answer.  again in 61 s  run b88539',
    ],
    [
      { ...delivery, event: 'delivery-delivered', parts: 1, ms: 3 },
      'delivered   slack:C01  3 ms  delivery b88539',
    ],
    [
      { ...delivery, event: 'delivery-skipped', code: 'ACK_ONLY', reason: 'only the acknowledgement' },
      'not sent    only the acknowledgement  delivery b88539',
    ],
    [
      { ...delivery, to: undefined, event: 'delivery-parked', code: 'NO_ROUTE', reason: 'no recipient' },
      'parked      slack  NO_ROUTE  no recipient  delivery b88539',
    ],
    [
      { event: 'transform-output', module: 'review.ts', msg: 'got { id: 7 }', requestId },
      'info        review.ts  got { id: 7 }  request f544ad',
    ],
    [
      { event: 'candidate-rejected', errors: 2, isAgain: true, tookMs: 3 },
      'rejected    the change still has 2 errors, as above; what was live goes on serving  3 ms',
    ],
    [
      { event: 'files-fixed', generation: 4 },
      'fixed       the files have no error any more; generation 4 goes on serving',
    ],
    [
      { ...delivery, event: 'delivery-retried', code: 'rate-limited', reason: 'Too fast.', inMs: 30_000 },
      'retry       slack:C01  rate-limited  Too fast.  in 30 s  delivery b88539',
    ],
    [
      { event: 'channel-held', channel: 'slack', code: 'bad-credential', reason: 'Revoked.', inMs: 600_000 },
      'held        slack sends nothing  bad-credential  Revoked.  one delivery is tried in 10 min, the others follow it',
    ],
    [
      { event: 'channel-opened', channel: 'slack', code: 'network', heldMs: 3_600_000 },
      'open        slack sends again  after 60 min',
    ],
    [
      { event: 'channel-checked', channel: 'slack', detail: 'known as @reveille' },
      'channel     slack is good  known as @reveille',
    ],
    [
      { event: 'channel-check-failed', channel: 'slack', code: 'bad-credential', reason: 'Revoked.' },
      'warning     slack is not good  Revoked.',
    ],
    [
      {
        event: 'source-working',
        source: 'gmail',
        detail: 'New mail of ada@example.com is posted.',
        times: { watchEnds: '2026-01-08T00:00:00.000Z' },
      },
      'source      gmail  New mail of ada@example.com is posted.  watchEnds 2026-01-08T00:00:00.000Z',
    ],
    [
      { event: 'source-waiting', source: 'gmail', detail: 'Nobody has consented.' },
      'waiting     gmail  Nobody has consented.',
    ],
    [
      { event: 'source-abandoned', source: 'gmail', afterMs: 10_000 },
      'warning     gmail did not end within 10 s, and is left alone',
    ],
    [
      { event: 'snapshot-swapped', generation: 4, digest: 'bde8cff3c9519c54', tookMs: 28.04, mappings: 1 },
      'live        generation 4, 1 mapping  28 ms  bde8cff3c951',
    ],
    [
      { event: 'snapshot-swapped', generation: 5, digest: 'bde8', mappings: 2, changes: '+1 mapping (a)' },
      'live        generation 5, 2 mappings: +1 mapping (a)    bde8',
    ],
    [
      { event: 'snapshot-swapped', generation: 4, digest: 'bde8', tookMs: 3, mappings: 1, rolledBack: true },
      'rollback    generation 4 serves again until the files change, 1 mapping  3 ms  bde8',
    ],
    [
      { event: 'candidate-rejected', errors: 2, tookMs: 3 },
      'rejected    the change has 2 errors; what was live goes on serving  3 ms',
    ],
    [
      { event: 'candidate-rejected', errors: 1, tookMs: 3, rollbackTo: 4 },
      'rejected    generation 4 has 1 error; what was live goes on serving  3 ms',
    ],
    [
      { event: 'reload-asked', by: 'SIGHUP', outcome: 'live', generation: 5 },
      'reload      SIGHUP: generation 5 is live',
    ],
    [
      { event: 'reload-asked', by: 'SIGHUP', outcome: 'unchanged', generation: 5 },
      'reload      SIGHUP: nothing to change, generation 5 goes on serving',
    ],
    [
      { event: 'reload-asked', by: 'SIGHUP', outcome: 'rejected', generation: 5 },
      'reload      SIGHUP: refused, generation 5 goes on serving',
    ],
    [
      { event: 'generations-damaged', found: ['/data/generations/index.json: ENOENT'] },
      'damaged     of the generations that are kept: /data/generations/index.json: ENOENT',
    ],
    [
      { event: 'generations-not-kept' },
      'not kept    generations cannot be written to the disk; what is live goes on serving, and is tried again',
    ],
    [
      { event: 'restart-required', keys: ['gateway.host', 'gateway.port'] },
      'restart     gateway.host, gateway.port changed; a restart will apply it',
    ],
    [
      { event: 'gateway-listening', address: 'http://127.0.0.1:8787', admin: true },
      'listening   http://127.0.0.1:8787',
    ],
    [
      { event: 'gateway-listening', address: 'http://127.0.0.1:8787', admin: false },
      'listening   http://127.0.0.1:8787  no admin surface: gateway.auth.token is not set',
    ],
    [
      { event: 'last-good-served', generation: 12, files: ['mappings/a.yaml', 'b.ts'] },
      'LAST GOOD   broken since before the start: mappings/a.yaml, b.ts  served as generation 12 had it; fix it, and it goes live by itself',
    ],
    [
      { event: 'hooks-off', path: '/hooks', hint: 'Write `enabled: true` under `hooks:`.' },
      'warning     hooks are off: every request to /hooks is answered 404  Write `enabled: true` under `hooks:`.',
    ],
    [{ event: 'log-lines-dropped', lines: 3 }, 'warning     3 log lines dropped, as nothing took them'],
    [{ event: 'gateway-stopped' }, 'stopped     what was accepted is kept for the next start'],
    [{ event: 'gateway-draining', graceMs: 30_000 }, 'draining    running turns have 30 s to end'],
  ]
  for (const [facts, expected] of lines) assert.equal(shown(facts), expected)
})

test('an event without a message of its own shows its `msg` and its facts', () => {
  assert.equal(
    shown({ event: 'rate-limited', channel: 'slack', after: 3, parts: ['a'] }, { level: 'warn' }),
    'warn        rate-limited  channel=slack  after=3  parts=["a"]',
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
  const lines = shown({ ...run, sessionKey, event: 'run-interrupted' }, { columns: 80 }).split('\n')
  assert.equal(lines[0], `paused      ${sessionKey}`)
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
    `error       task-faulted\n${' '.repeat(22)}text`,
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

/** The events that the runtime's sources log at `info` and above. */
function loggedEvents(): Map<string, { level: string; hasMessage: boolean }> {
  const events = new Map<string, { level: string; hasMessage: boolean }>()
  const runtime = join(import.meta.dirname, '..')
  for (const file of globSync('**/*.ts', { cwd: runtime, exclude: ['**/*.test.ts'] })) {
    const text = readFileSync(join(runtime, file), 'utf8')
    const calls = text.matchAll(/\blog\.(info|warn|error)\(\s*\{\s*event: '([a-z-]+)'[^}]*\}(,\s*')?/g)
    for (const [, level = '', event = '', message] of calls) {
      events.set(event, { level, hasMessage: message !== undefined })
    }
  }
  return events
}

test('every event that the runtime logs has a message or a text', () => {
  const events = loggedEvents()
  for (const known of ['run-retried', 'query-token-used', 'delivery-parked'])
    assert.ok(events.has(known), `the search finds ${known}`)
  // These have an error, which says the rest.
  const withoutWords = ['settings-not-applied', 'plugin-close-failed']
  const mute = [...events].filter(
    ([event, { hasMessage }]) => !logMessages[event] && !hasMessage && !withoutWords.includes(event),
  )
  assert.deepEqual(mute, [])
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
