/** Senders that wait for an outcome, over real sockets and on a real store whose runs end when the test says so. */

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { AgentAction } from '@reveille/engine'
import { atEnd } from '../../../test/at-end.ts'
import { openInThisThread } from '../../store/contract/in-this-thread.ts'
import { createIdMinter } from '../../store/id.ts'
import type { RunRecord, Settlement, Store } from '../../store/port.ts'
import { createApp, createHookSurface, createRecorder } from '../index.ts'
import { agent, createLogLines, createManualTimers, createSnapshot, token } from '../surface-fixture.ts'
import { createOutcomeWaits, maxWaiting } from './outcome-waits.ts'

type Ended = Partial<RunRecord>

interface Bed {
  readonly store: Store
  /** The streams of changes that are followed now, and the number of all that there ever were. */
  readonly streams: { open: number; all: number }
  readonly timers: ReturnType<typeof createManualTimers>
  readonly lines: ReturnType<typeof createLogLines>
  readonly draining: AbortController
  /** Lets every run end so, those to come too. */
  end(how: Ended): void
  post(endpoint: string, prefer?: string, init?: RequestInit): Promise<Reply>
  /** To `/agent`, under an idempotency key. */
  postOnce(key: string, prefer: string): Promise<Reply>
}

interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: Readonly<Record<string, unknown>>
}

async function open(t: TestContext): Promise<Bed> {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-wait-'))
  atEnd(t, () => rm(folder, { recursive: true, force: true }))
  const limits = { keepMs: 60_000, backlog: 1000, historyMessages: 10 }
  const store = await openInThisThread({ location: folder, now: Date.now, ...limits })
  atEnd(t, () => store.close())
  const result = Promise.withResolvers<Ended>()
  store.work({
    kinds: ['run'],
    concurrency: 100,
    async perform({ task, lease }): Promise<Settlement> {
      const aborted = new Promise<Ended>((resolve) => lease.addEventListener('abort', () => resolve({})))
      const how = await Promise.race([result.promise, aborted])
      return { done: true, effects: { run: { id: task.subject ?? '', stage: 'ran', ...how } } }
    },
  })

  const streams = { open: 0, all: 0 }
  const counted: Store = {
    ...store,
    changes(options) {
      streams.open += 1
      streams.all += 1
      options.signal.addEventListener('abort', () => {
        streams.open -= 1
      })
      return store.changes(options)
    },
  }
  const mintId = createIdMinter(Date.now)
  const snapshot = createSnapshot({
    resolve({ headers: { 'idempotency-key': key } }) {
      const run = { ...(agent as AgentAction), sessionKey: mintId() }
      const dedupe = typeof key === 'string' && { key, windowMs: 60_000, isGiven: true }
      return { outcome: 'accepted', actions: [dedupe ? { ...run, dedupe } : run] }
    },
  })
  const app = createApp(() => [])
  const [timers, lines, draining] = [createManualTimers(), createLogLines(), new AbortController()]
  createHookSurface(app, {
    current: () => ({ generation: 1, snapshot }),
    store: counted,
    log: lines,
    now: Date.now,
    mintId,
    draining: draining.signal,
    recorder: createRecorder({ store: counted, now: Date.now, mask: (text) => text }),
    timers,
  })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  atEnd(t, async () => {
    draining.abort()
    await app.close()
  })
  const post: Bed['post'] = async (endpoint, prefer, init) => {
    const headers = new Headers({ authorization: `Bearer ${token}`, ...init?.headers })
    if (prefer !== undefined) headers.set('prefer', prefer)
    const url = `${address}/hooks/${endpoint}`
    const response = await fetch(url, { method: 'POST', body: '{"message":"x"}', ...init, headers })
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as object as Reply['body'],
    }
  }
  return {
    store,
    streams,
    timers,
    lines,
    draining,
    end: result.resolve,
    post,
    postOnce: (key, prefer) => post('agent', prefer, { headers: { 'idempotency-key': key } }),
  }
}

/** The sender waits from here on. */
const accepted = ({ lines }: Bed) => lines.line('request-accepted')

test('a waiting sender gets the outcome as soon as the turn is over', async (t) => {
  const bed = await open(t)
  const answer = bed.post('agent', 'respond-async, wait=20')
  await accepted(bed)
  assert.equal(bed.streams.open, 1)
  bed.end({ state: 'succeeded', reply: 'Done "well".', usage: { inputTokens: 3, outputTokens: 5 } })
  const { status, headers, body } = await answer
  const run = await bed.store.read.run(String(body['runId']))
  assert.deepEqual(
    { status, applied: headers.get('preference-applied'), body },
    {
      status: 200,
      applied: 'wait=20',
      body: {
        ok: true,
        runId: run?.id,
        sessionKey: run?.sessionKey,
        requestId: run?.requestId,
        state: 'succeeded',
        reply: 'Done "well".',
        usage: { inputTokens: 3, outputTokens: 5 },
      },
    },
  )
  assert.equal(headers.get('x-request-id'), body['requestId'])
  assert.deepEqual([bed.streams.open, bed.timers.running], [0, 0], 'nobody listens any more')
  assert.equal((await accepted(bed))['status'], 202, 'the log reported the acceptance')
})

const error = { code: 'BUDGET', message: 'Spent.', retryable: false }
const ends: readonly Ended[] = [
  { state: 'timed-out', error },
  { state: 'parked', error },
  { state: 'succeeded', handedOver: 'OpenClaw run 7', reply: '' },
]
for (const end of ends)
  test(`a run that is ${end.handedOver ? 'handed over' : end.state} ends the wait, without a blank reply`, async (t) => {
    const bed = await open(t)
    const answer = bed.post('agent', 'wait=20')
    await accepted(bed)
    bed.end(end)
    const { status, body } = await answer
    const { reply: _reply, ...expected } = end
    assert.equal(status, 200)
    assert.partialDeepStrictEqual(body, expected)
    assert.ok(!('reply' in body))
  })

test('no outcome is missed, however early it comes', async (t) => {
  const bed = await open(t)
  bed.end({ state: 'succeeded', reply: 'at once' })
  const answers = await Promise.all(Array.from({ length: 60 }, () => bed.post('agent', 'wait=20')))
  assert.deepEqual(
    new Set(answers.map(({ status, body }) => `${status} ${body['reply']}`)),
    new Set(['200 at once']),
  )
  assert.equal(new Set(answers.map(({ body }) => body['runId'])).size, 60)
  assert.equal(bed.streams.open, 0)
})

test('all waiting senders share one subscription', async (t) => {
  const bed = await open(t)
  const answers = Array.from({ length: 5 }, () => bed.post('agent', 'wait=20'))
  while (bed.timers.running < 5) await bed.lines.next()
  assert.deepEqual(bed.streams, { open: 1, all: 1 })
  bed.end({ state: 'succeeded' })
  for (const { status } of await Promise.all(answers)) assert.equal(status, 200)
})

test('a turn that takes longer is answered with the usual 202 when the time is over', async (t) => {
  const bed = await open(t)
  const answer = bed.post('agent', 'wait=9000')
  await accepted(bed)
  bed.timers.fire()
  const { status, headers, body } = await answer
  assert.deepEqual([status, headers.get('preference-applied')], [202, 'wait=300'])
  assert.deepEqual(Object.keys(body), ['ok', 'runId', 'sessionKey', 'requestId'])
  assert.equal(bed.streams.open, 0)
})

test('a request without a wait, with a wait of 0, or to another endpoint is answered at once', async (t) => {
  const bed = await open(t)
  for (const [endpoint, prefer] of [
    ['agent', undefined],
    ['agent', 'wait=0'],
    ['agent', 'wait=soon'],
    ['github', 'wait=20'],
  ] as const) {
    const { status, headers } = await bed.post(endpoint, prefer)
    assert.deepEqual([status, headers.get('preference-applied')], [202, null], `${endpoint} ${prefer}`)
  }
  assert.deepEqual([bed.streams.all, bed.timers.running], [0, 0])
})

test('a duplicate of a running run waits for it beside the first sender', async (t) => {
  const bed = await open(t)
  const first = bed.postOnce('k', 'wait=20')
  await accepted(bed)
  const others = [bed.postOnce('k', 'wait=20'), bed.postOnce('k', 'wait=30')]
  while (bed.timers.running < 3) await bed.lines.next()
  assert.equal(bed.streams.open, 1)
  bed.end({ state: 'succeeded', reply: 'Done.' })
  const { body } = await first
  for (const [index, other] of (await Promise.all(others)).entries()) {
    assert.deepEqual([other.status, other.body], [200, { ...body, outcome: 'duplicate' }])
    assert.equal(other.headers.get('preference-applied'), `wait=${20 + 10 * index}`)
    assert.notEqual(other.headers.get('x-request-id'), body['requestId'])
  }
  assert.deepEqual([bed.streams.open, bed.timers.running], [0, 0])
})

test('a duplicate of a run that is over is answered with its outcome', async (t) => {
  const bed = await open(t)
  bed.end({ state: 'succeeded', reply: 'Done.' })
  const { body } = await bed.postOnce('k', 'wait=20')
  const again = await bed.postOnce('k', 'wait=20')
  assert.deepEqual([again.status, again.body], [200, { ...body, outcome: 'duplicate' }])
  assert.deepEqual([bed.streams.open, bed.timers.running], [0, 0])
})

test('a duplicate that waited too long is answered with the run that it repeats', async (t) => {
  const bed = await open(t)
  const { body } = await bed.postOnce('k', '')
  const answer = bed.postOnce('k', 'wait=20')
  await bed.lines.line('request-duplicate')
  bed.timers.fire()
  const again = await answer
  const { runId, requestId } = body
  assert.deepEqual([again.status, again.body], [200, { ok: true, outcome: 'duplicate', requestId, runId }])
  assert.equal(again.headers.get('preference-applied'), 'wait=20')
})

test('a run that history has forgotten is not waited for', async () => {
  const [timers, draining] = [createManualTimers(), new AbortController()]
  const read = { run: async () => undefined } as unknown as Store['read']
  const waits = createOutcomeWaits({ store: { changes: silence, read }, timers, draining: draining.signal })
  const waiting = waits.join('forgotten', 20, new EventEmitter() as ServerResponse)
  assert.deepEqual(await waiting?.end, { kind: 'cut' })
  assert.equal(timers.running, 0)
})

test('a drain answers all waiting senders, and no new one waits', async (t) => {
  const bed = await open(t)
  const answer = bed.post('agent', 'wait=20')
  await accepted(bed)
  bed.draining.abort()
  const { status, headers } = await answer
  assert.deepEqual(
    [status, headers.get('preference-applied'), headers.get('connection')],
    [202, null, 'close'],
  )
  assert.deepEqual([bed.streams.open, bed.timers.running], [0, 0])
})

test('all waiting senders are answered when the store closes', async (t) => {
  const bed = await open(t)
  const answer = bed.post('agent', 'wait=20')
  await accepted(bed)
  const closing = bed.store.close()
  assert.equal((await answer).status, 202)
  await closing
  assert.deepEqual([bed.streams.open, bed.timers.running], [0, 0])
})

test('a sender that goes away ends its wait, and its run goes on', async (t) => {
  const bed = await open(t)
  const leaving = new AbortController()
  const answer = bed.post('agent', 'wait=20', { signal: leaving.signal })
  const { actions } = (await accepted(bed)) as { actions?: { id: string }[] }
  leaving.abort()
  await assert.rejects(answer, { name: 'AbortError' })
  await bed.lines.line('sender-gone')
  assert.deepEqual([bed.streams.open, bed.timers.running], [0, 0])
  const run = await bed.store.read.run(actions?.[0]?.id ?? '')
  assert.notEqual(run?.state, 'cancelled')
})

test('an entry that cannot be committed leaves no sender waiting', async (t) => {
  const bed = await open(t)
  await bed.store.close()
  const { status } = await bed.post('agent', 'wait=20')
  assert.equal(status, 503)
  assert.deepEqual([bed.streams.open, bed.timers.running], [0, 0])
})

test(`not more than ${maxWaiting} wait at one time`, async () => {
  const [timers, draining] = [createManualTimers(), new AbortController()]
  const store = { changes: silence, read: {} as Store['read'] }
  const waits = createOutcomeWaits({ store, timers, draining: draining.signal })
  const response = () => new EventEmitter() as ServerResponse
  const begun = Array.from({ length: maxWaiting }, (_, index) => waits.begin(`run-${index}`, 20, response()))
  assert.ok(begun.every((waiting) => waiting !== undefined))
  assert.equal(waits.begin('one too many', 20, response()), undefined)
  begun[0]?.cut()
  assert.deepEqual(await begun[0]?.end, { kind: 'cut' })
  const gone = Object.assign(response(), { destroyed: true })
  assert.equal(waits.begin('nobody is there', 20, gone), undefined)
  assert.notEqual(waits.begin('in its place', 20, response()), undefined)
  draining.abort()
  assert.deepEqual(await begun[1]?.end, { kind: 'cut' })
  assert.equal(waits.begin('too late', 20, response()), undefined)
  assert.equal(timers.running, 0)
})

/** Emits nothing until its end. */
async function* silence({ signal }: { signal: AbortSignal }): AsyncGenerator<never, void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
}
