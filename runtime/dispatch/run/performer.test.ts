import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PluginError, type Turn, type TurnCall } from '@reveille/kit'
import { openTestBed } from '../test-bed.ts'

const untilAborted = (_turn: Turn, { signal }: TurnCall) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

test('a run asks the model once and records its stages, its reply and its attempt', async (t) => {
  const bed = await openTestBed(t, { run: async () => ({ reply: 'done', usage: { outputTokens: 1 } }) })
  await bed.start()
  const id = await bed.acceptRun({ model: 'a/b', thinking: 'low' })
  const run = await bed.untilRun(id, (each) => each.stage === 'delivered')

  const at = bed.clock.now()
  assert.deepEqual(
    [run.state, run.reply, run.usage, run.startedAt, run.ranAt, run.summarisedAt, run.deliveredAt],
    ['succeeded', 'done', { outputTokens: 1 }, at, at, at, at],
  )
  assert.deepEqual(run.attempts, [{ number: 1, startedAt: at, endedAt: at, outcome: 'succeeded' }])
  const [turn] = bed.turns
  assert.deepEqual(
    [turn?.runId, turn?.kind, turn?.prompt, turn?.model, turn?.thinking, turn?.attempt, turn?.history],
    [id, 'run', 'hello', 'a/b', 'low', 1, []],
  )
  assert.ok(Object.isFrozen(turn))
})

test("a run's summary is an untrusted, fenced event of the main session in the run's wake mode", async (t) => {
  const bed = await openTestBed(t)
  await bed.start()
  const id = await bed.acceptRun({ name: 'Reviewer' })
  const run = await bed.untilRun(id, (each) => each.summaryEventId !== undefined)
  const event = await bed.read().event(run.summaryEventId ?? '')
  assert.equal(event?.text, 'Hook Reviewer: hello')
  assert.equal(event.prompt, '<the summary of a hook run x>Hook Reviewer: hello')
  assert.deepEqual(
    [event.trusted, event.mode, event.session, event.origin.runId, event.generation],
    [false, 'next-heartbeat', 'main', id, 2],
  )
})

test('wake mode now triggers the heartbeat once the summary is posted, on error too', async (t) => {
  const bed = await openTestBed(t, {
    async run(turn) {
      if (turn.prompt === 'fail') throw new Error('no')
      return { reply: turn.kind === 'run' ? 'ok' : 'HEARTBEAT_OK' }
    },
  })
  await bed.start()
  for (const prompt of ['succeed', 'fail']) {
    const id = await bed.acceptRun({ wakeMode: 'now', prompt })
    const run = await bed.untilRun(id, (each) => each.stage === 'delivered' || each.state === 'failed')
    bed.clock.advance(250)
    await bed.until(async () => (await bed.read().event(run.summaryEventId ?? ''))?.state === 'consumed')
  }
})

test('a session key that is used again continues its conversation, and failed turns leave no trace in it', async (t) => {
  const bed = await openTestBed(t, {
    async run(turn) {
      if (turn.prompt === 'two') throw new Error('no')
      return { reply: `re: ${turn.prompt}` }
    },
  })
  await bed.start()
  const ids: string[] = []
  for (const prompt of ['one', 'two', 'three']) ids.push(await bed.acceptRun({ sessionKey: 'pr:1', prompt }))
  await bed.untilRun(ids[2] ?? '', (run) => run.state === 'succeeded')
  assert.deepEqual(
    bed.turns.map((turn) => turn.history.map((message) => message.text)),
    [[], ['one', 're: one'], ['one', 're: one']],
  )
  const session = await bed.read().session('pr:1')
  assert.equal(session?.messages.length, 4)
})

test('runs of one session key go in order, different keys side by side, up to the limit', async (t) => {
  const open = new Map<string, () => void>()
  const bed = await openTestBed(t, {
    run: (turn) => new Promise((resolve) => open.set(turn.prompt, () => resolve({ reply: '' }))),
    defaults: { concurrency: 2 },
  })
  await bed.start()
  const first = await bed.acceptRun({ sessionKey: 'a', prompt: 'a1' })
  const second = await bed.acceptRun({ sessionKey: 'a', prompt: 'a2' })
  await bed.acceptRun({ sessionKey: 'b', prompt: 'b1' })
  await bed.acceptRun({ sessionKey: 'c', prompt: 'c1' })
  await bed.until(async () => open.has('b1'))
  assert.deepEqual([...open.keys()], ['a1', 'b1'])
  open.get('a1')?.()
  await bed.untilRun(first, (run) => run.state === 'succeeded')
  await bed.until(async () => open.has('a2') || open.has('c1'))
  for (const each of ['b1', 'a2', 'c1']) {
    await bed.until(async () => open.has(each))
    open.get(each)?.()
  }
  await bed.untilRun(second, (run) => run.state === 'succeeded')
})

test('a retryable error is tried again after a backoff, and each attempt is recorded', async (t) => {
  let calls = 0
  const bed = await openTestBed(t, {
    async run() {
      calls += 1
      if (calls < 3) throw new PluginError('overloaded', { code: 'malformed', retryable: true })
      return { reply: 'at last' }
    },
  })
  await bed.start()
  const id = await bed.acceptRun()
  const waiting = await bed.untilRun(id, (run) => run.attempts.length === 1 && run.state === 'queued')
  assert.deepEqual(waiting.attempts[0]?.reason, 'overloaded')
  bed.clock.advance(2666)
  assert.equal(calls, 1)
  bed.clock.advance(1)
  await bed.untilRun(id, (run) => run.attempts.length === 2)
  bed.clock.advance(5333)
  const run = await bed.untilRun(id, (each) => each.stage === 'delivered')
  assert.deepEqual(
    run.attempts.map((attempt) => attempt.outcome),
    ['failed', 'failed', 'succeeded'],
  )
  assert.deepEqual(
    bed.turns.map((turn) => turn.attempt),
    [1, 2, 3],
  )
  assert.equal(bed.log('run-retried').length, 2)
})

test('Retry-After of a vendor wins over the backoff', async (t) => {
  let calls = 0
  const bed = await openTestBed(t, {
    async run() {
      calls += 1
      if (calls === 1)
        throw new PluginError('slow', { code: 'rate-limited', retryable: true, retryAfter: 30 })
      return { reply: 'ok' }
    },
  })
  await bed.start()
  const id = await bed.acceptRun()
  await bed.untilRun(id, (run) => run.attempts.length === 1)
  assert.equal(bed.log('run-held')[0]?.['inMs'], 30_000)
  bed.clock.advance(30_000)
  await bed.untilRun(id, (run) => run.state === 'succeeded')
})

test('after three failed attempts the run fails, and its summary says why', async (t) => {
  const bed = await openTestBed(t, {
    async run() {
      throw new PluginError('overloaded', { code: 'malformed', retryable: true })
    },
  })
  await bed.start()
  const id = await bed.acceptRun({ deliver: true })
  for (const attempts of [1, 2]) {
    await bed.untilRun(id, (run) => run.attempts.length === attempts && run.state === 'queued')
    bed.clock.advance(10_000)
  }
  const run = await bed.untilRun(id, (each) => each.state === 'failed')
  assert.deepEqual(
    [run.stage, run.error],
    ['summarised', { code: 'malformed', message: 'overloaded', retryable: true }],
  )
  const [summary] = await bed.events()
  assert.equal(summary?.text, 'Hook github (error): overloaded')
  assert.deepEqual(await bed.deliveries(), [])
})

test('a retry that the run has no time for is not waited for', async (t) => {
  const bed = await openTestBed(t, {
    async run() {
      throw new PluginError('slow down', { code: 'malformed', retryable: true, retryAfter: 60 })
    },
  })
  await bed.start()
  const id = await bed.acceptRun({ timeoutSeconds: 60 })
  const run = await bed.untilRun(id, (each) => each.state === 'failed')
  assert.equal(run.error?.code, 'malformed')
})

test('an error that is no plugin error is permanent; its message is on the run and not in the log', async (t) => {
  const bed = await openTestBed(t, {
    async run() {
      throw new TypeError('cannot read "the secret plan"')
    },
  })
  await bed.start()
  const id = await bed.acceptRun()
  const run = await bed.untilRun(id, (each) => each.state === 'failed')
  assert.deepEqual([run.attempts.length, run.error?.code], [1, 'RUNNER_FAILED'])
  assert.match(run.error?.message ?? '', /secret plan/)
  assert.doesNotMatch(JSON.stringify(bed.lines), /secret plan/)
})

test('a runner that is not configured any more, or gives no reply, fails the run', async (t) => {
  const bed = await openTestBed(t, { run: async () => ({}) as never })
  await bed.start()
  const gone = await bed.acceptRun({ runner: 'gone' })
  const mute = await bed.acceptRun()
  assert.equal((await bed.untilRun(gone, (run) => run.state === 'failed')).error?.code, 'UNKNOWN_RUNNER')
  assert.equal((await bed.untilRun(mute, (run) => run.state === 'failed')).error?.code, 'RUNNER_FAILED')
})

test('malformed facts beside a reply do not lose the reply', async (t) => {
  const strange = { usage: { inputTokens: () => 1, outputTokens: 2 }, model: { name: 'm' } }
  const bed = await openTestBed(t, { run: async () => ({ reply: 'ok', ...strange }) as never })
  await bed.start()
  const id = await bed.acceptRun()
  const run = await bed.untilRun(id, (each) => each.state === 'succeeded')
  assert.deepEqual([run.reply, run.usage, run.model], ['ok', { outputTokens: 2 }, undefined])
  assert.equal(bed.turns.length, 1)
})

test('a channel that gives no target parks the delivery and asks no model again', async (t) => {
  const bed = await openTestBed(t, { channel: { target: () => undefined as never } })
  await bed.start()
  const id = await bed.acceptRun({ deliver: true })
  await bed.untilRun(id, (run) => run.state === 'succeeded')
  assert.deepEqual([(await bed.deliveries())[0]?.code, bed.turns.length], ['CHANNEL_FAILED', 1])
})

test('a run that takes too long times out and is not tried again', async (t) => {
  const bed = await openTestBed(t, { run: untilAborted })
  await bed.start()
  const id = await bed.acceptRun({ timeoutSeconds: 5, name: 'Slow' })
  await bed.until(async () => bed.turns.length === 1)
  bed.clock.advance(5000)
  const run = await bed.untilRun(id, (each) => each.state === 'timed-out')
  assert.deepEqual(
    [run.attempts.length, run.attempts[0]?.outcome, run.error?.code],
    [1, 'timed-out', 'TIMEOUT'],
  )
  const [summary] = await bed.events()
  assert.equal(summary?.text, 'Hook Slow (error): the run did not end within 5 s')
  assert.equal(bed.log('run-timed-out').length, 1)
})

test('the time of a run spans its attempts', async (t) => {
  let calls = 0
  const bed = await openTestBed(t, {
    async run(turn, call) {
      calls += 1
      if (calls === 1) throw new PluginError('busy', { code: 'unavailable', retryable: true, retryAfter: 4 })
      return untilAborted(turn, call)
    },
  })
  await bed.start()
  const id = await bed.acceptRun({ timeoutSeconds: 5 })
  await bed.untilRun(id, (run) => run.attempts.length === 1)
  bed.clock.advance(4000)
  await bed.until(async () => bed.turns.length === 2)
  bed.clock.advance(1000)
  const run = await bed.untilRun(id, (each) => each.state === 'timed-out')
  assert.deepEqual((run.ranAt ?? 0) - (run.startedAt ?? 0), 5000)
})

test('a runner that ignores its signal is abandoned, and its late answer ignored', async (t) => {
  const { promise, resolve } = Promise.withResolvers<{ reply: string }>()
  const bed = await openTestBed(t, { run: () => promise })
  await bed.start()
  const id = await bed.acceptRun({ timeoutSeconds: 5 })
  await bed.until(async () => bed.turns.length === 1)
  bed.clock.advance(5000)
  bed.clock.advance(1000)
  await bed.untilRun(id, (run) => run.state === 'timed-out')
  resolve({ reply: 'late' })
  await bed.acceptRun({ runner: 'gone' })
  assert.equal((await bed.read().run(id))?.reply, undefined)
})

test('a run that lasts is recorded as running', async (t) => {
  const bed = await openTestBed(t, { run: untilAborted })
  await bed.start()
  const id = await bed.acceptRun()
  await bed.until(async () => bed.turns.length === 1)
  bed.clock.advance(25)
  const run = await bed.untilRun(id, (each) => each.state === 'running')
  assert.deepEqual([run.stage, run.attempts.length, run.attempts[0]?.outcome], ['running', 1, undefined])
})

test('no log line holds a message, a prompt or a reply', async (t) => {
  const bed = await openTestBed(t, { run: async () => ({ reply: 'private reply' }) })
  await bed.start()
  const id = await bed.acceptRun({
    prompt: 'private prompt',
    message: 'private message',
    deliver: true,
    wakeMode: 'now',
  })
  await bed.untilRun(id, (run) => run.stage === 'delivered' || run.state === 'failed')
  bed.clock.advance(250)
  await bed.until(async () => bed.log('heartbeat-succeeded').length === 1)
  assert.deepEqual(
    ['run-started', 'run-succeeded', 'summary-posted', 'delivery-delivered'].map(
      (event) => bed.log(event).length,
    ),
    [1, 1, 1, 1],
  )
  assert.doesNotMatch(JSON.stringify(bed.lines), /private/)
})
