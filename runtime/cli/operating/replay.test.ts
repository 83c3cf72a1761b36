/** Runs `reveille replay` for requests, against a fake gateway that answers as a test says. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ReplayJob } from '../../store/port.ts'
import { type Asked, createGatewayCommands, testTranscript } from '../io-fixture.ts'

const one = '019bd0a0-0000-7000-8000-0000003f9a1c'
const other = '019bd0a0-0000-7000-8000-000000a1b2c3'
const run = '019bd0a0-0000-7000-8000-00000077f0aa'
const jobId = '019bd0a0-0000-7000-8000-0000000000b1'

function open(t: TestContext, answer: (asked: Asked) => object | undefined, columns?: number) {
  const input = async () => Buffer.from('{"n":2}')
  return createGatewayCommands(t, answer, { input, ...(columns !== undefined && { columns }) })
}

const replayed = {
  ok: true,
  requestId: other,
  replayOf: one,
  outcome: 'accepted',
  status: 202,
  mapping: 'order',
  actions: [{ kind: 'agent', id: run }],
}
const found = { items: [{ kind: 'request', id: one }] }

const failed = { ...replayed, outcome: 'failed', code: 'TRANSFORM_FAILED', reason: 'it throws', actions: [] }
const explained = (mappings: readonly string[], decision: object, status: number, stops: object[]) => ({
  explanation: { endpoint: 'shop', candidates: [], actions: mappings.map((mapping) => ({ mapping })) },
  decision,
  status,
  stops,
})
const stop = { module: 'order.ts', target: 'https://api.example.com' }

/** What the gateway answers about a request, the command, and its lines. */
for (const [name, answer, body, commands] of [
  [
    'accepted',
    replayed,
    { deliverAgain: true },
    `$ replay 3f9a1c --deliver-again
3f9a1c: accepted as a1b2c3  order  agent 77f0aa`,
  ],
  [
    'accepted without its reply',
    { ...replayed, reason: `its reply is not delivered again: the reply of run ${run} was delivered` },
    {},
    `$ replay 3f9a1c
3f9a1c: accepted as a1b2c3  order  agent 77f0aa  its reply is not delivered again: the reply of run 77f0aa was delivered`,
  ],
  ['failed', failed, {}, '1 $ replay 3f9a1c\n! 3f9a1c: failed as a1b2c3  TRANSFORM_FAILED  order  it throws'],
  [
    'refused',
    { ok: false, code: 'BODY_NOT_KEPT', error: 'Its body is not kept.' },
    {},
    '1 $ replay 3f9a1c\n! 3f9a1c: Its body is not kept.',
  ],
  [
    'accepted with an edited body',
    replayed,
    { payload: '{"n":2}' },
    `$ replay ${one} --payload -\n3f9a1c: accepted as …`,
  ],
  [
    'ignored in a dry run that stops its transform',
    explained([], { outcome: 'ignored', reason: 'nothing matched' }, 200, [stop]),
    { dryRun: true },
    `$ replay ${one} --dry-run
3f9a1c: would be
/shop  200  ignored  nothing matched
  order.ts was kept from calling https://api.example.com`,
  ],
  [
    'accepted in a dry run, which names the mappings',
    explained(['order', 'audit'], { outcome: 'accepted' }, 202, []),
    { dryRun: true },
    `$ replay ${one} --dry-run\n3f9a1c: would be\n/shop  202  accepted  by order, audit`,
  ],
] as const)
  test(`a request that is replayed by its id is ${name}`, async (t) => {
    const { play, asked } = await open(t, ({ route }) => (route.startsWith('GET') ? found : answer))
    await play(commands)
    assert.deepEqual(asked.at(-1), { route: `POST /api/requests/${one}/replay`, body })
  })

const job: ReplayJob & { failures: object[] } = {
  id: jobId,
  filter: {},
  options: {},
  state: 'running',
  total: 40,
  done: 0,
  failed: 0,
  skipped: 0,
  createdAt: 0,
  failures: [],
}

test('many requests are replayed by filters, and the command reconnects until they are done', async (t) => {
  const states = [
    { ...job, done: 10 },
    new Error('gone'),
    new Error('gone'),
    { ...job, done: 20, failed: 1 },
    {
      ...job,
      state: 'done',
      done: 38,
      failed: 1,
      skipped: 1,
      failures: [{ request: one, state: 'failed', reason: 'TRANSFORM_FAILED: it throws' }],
    },
  ] as const
  for (const columns of [undefined, 100]) {
    let [looks, orders] = [0, 0]
    const answer = ({ route }: Asked): object | undefined => {
      if (route === 'GET /api/health') return {}
      if (route === 'POST /api/requests/replay') {
        orders += 1
        // The answer to the first order is lost.
        if (orders === 1) throw new TypeError('the connection was closed')
        return { ok: true, job: jobId, total: 40 }
      }
      if (route !== `GET /api/jobs/${jobId}`) return undefined
      const state = states[looks++]
      if (state instanceof Error) throw state
      return state
    }
    const { run: command, asked } = await open(t, answer, columns)
    const done = await command('replay', '--failed', '--endpoint', 'shop', '--since', '8h')
    assert.equal(done.code, 1)
    assert.equal(done.out, '40 requests: 38 replayed, 1 failed again, 1 skipped.\n')
    const posted = asked.filter(({ route }) => route.startsWith('POST'))
    const [first, second] = posted.map(({ body }) => body)
    const since = '2026-03-02T04:00:00.000Z'
    assert.deepEqual(first?.['filter'], { outcome: 'failed', endpoint: 'shop', since })
    assert.ok(first?.['key'])
    assert.deepEqual(first, second, 'the order is given again under the same key')
    if (columns === undefined) assert.equal(done.err, '3f9a1c: TRANSFORM_FAILED: it throws\n')
    else {
      assert.match(
        done.err,
        /^40 requests\. The gateway goes on when you press Ctrl-C; `reveille replay --job 0000b1` shows/,
      )
      assert.match(done.err, /█{6}░{18} {2}40 requests: 10 replayed, 30 to go\./)
      assert.match(done.err, /No gateway answers; the replay goes on once one does …/)
    }
  }
})

test('a dry run of many shows how many there are and the newest of them', async (t) => {
  const item = {
    id: one,
    endpoint: 'shop',
    outcome: 'failed',
    status: 500,
    receivedAt: 0,
    actions: [],
    reason: 'x',
  }
  const { play, asked } = await open(t, () => ({ ok: true, total: 812, sample: [item] }))
  await play(`
$ replay --failed --dry-run
812 requests would be replayed; the newest 1 are:
TIME …ID …ENDPOINT …OUTCOME …STATUS …DETAIL
`)
  assert.deepEqual(asked.at(-1)?.body, { filter: { outcome: 'failed' }, dryRun: true })
})

test('a job is shown again, ended and left to itself', async (t) => {
  const cancelled = { ...job, state: 'cancelled', done: 12 }
  const { play } = await open(t, ({ route }) => {
    if (route === 'GET /api/jobs?limit=500') return { items: [job] }
    if (route === `POST /api/jobs/${jobId}/cancel`) return cancelled
    if (route === 'POST /api/requests/replay') return { ok: true, job: jobId, total: 40 }
    return route === `GET /api/jobs/${jobId}` ? cancelled : {}
  })
  await play(`
$ replay --job 0000b1
Cancelled: 40 requests: 12 replayed, 28 not replayed.
$ replay --cancel 0000b1
Cancelled: 40 requests: 12 replayed, 28 not replayed.
$ replay --failed --no-wait
40 requests: \`reveille replay --job 0000b1\` shows how far they are
1 $ replay --job cafe12
! No replay of many requests ends in cafe12.
`)
})

test('where no request failed, failed runs are pointed at', async (t) => {
  const { play } = await open(t, () => ({ ok: true, total: 0, sample: [], job: jobId }))
  await play(`
$ replay --failed
No request matches. Failed runs: \`reveille retry --failed\`.
$ replay --outcome ignored
No request matches.
`)
})

testTranscript(
  {},
  `
# orders that cannot be understood are refused before anything is asked
2 $ replay
! Name what to replay…
2 $ replay ${one} --failed
! Name what to replay…
2 $ replay --parked --failed
! Name what to replay…
2 $ replay --failed --outcome ignored
! --failed is the same as --outcome failed…
2 $ replay --failed --payload x
! --payload goes with one request…
2 $ replay --failed --since yesterday
! --since takes a span such as 30m, 8h or 7d…
2 $ replay --failed --call-out
! --call-out goes with --dry-run…
2 $ replay --state failed
! error: unknown option '--state'
! …
`,
)
