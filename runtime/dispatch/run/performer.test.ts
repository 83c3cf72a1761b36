import assert from 'node:assert/strict'
import { test } from 'node:test'
import { broken, outcomesOf, startTestBed, untilAborted } from '../test-bed.ts'

test('a run asks the model once and records its stages, its reply and its attempt', async (t) => {
  const bed = await startTestBed(t, { run: async () => ({ reply: 'done', usage: { outputTokens: 1 } }) })
  const run = await bed.perform({ model: 'a/b', thinking: 'low' })
  const at = bed.clock.now()
  assert.partialDeepStrictEqual(run, {
    ...{ state: 'succeeded', reply: 'done', usage: { outputTokens: 1 } },
    ...{ startedAt: at, ranAt: at, summarisedAt: at, deliveredAt: at },
    attempts: [{ number: 1, startedAt: at, endedAt: at, outcome: 'succeeded' }],
  })
  const [turn] = bed.turns
  const asked = { runId: run.id, kind: 'run', prompt: 'hello', model: 'a/b', thinking: 'low', attempt: 1 }
  assert.partialDeepStrictEqual(turn, asked)
  assert.deepEqual([turn?.history, bed.turns.length, Object.isFrozen(turn)], [[], 1, true])
})

test("a run's summary is an untrusted, fenced event of the main session in the run's wake mode", async (t) => {
  const bed = await startTestBed(t)
  const run = await bed.perform({ name: 'Reviewer' })
  const event = await bed.read().event(run.summaryEventId ?? '')
  assert.partialDeepStrictEqual(event, {
    text: 'Hook Reviewer: hello',
    prompt: '<the summary of a hook run x>Hook Reviewer: hello',
    ...{ trusted: false, mode: 'next-heartbeat', session: 'main', generation: 2 },
    origin: { runId: run.id },
  })
})

test('wake mode now triggers the heartbeat once the summary is posted, on error too', async (t) => {
  const bed = await startTestBed(t, {
    async run(turn) {
      if (turn.prompt === 'fail') throw new Error('no')
      return { reply: turn.kind === 'run' ? 'ok' : 'HEARTBEAT_OK' }
    },
  })
  for (const prompt of ['succeed', 'fail']) {
    const { summaryEventId = '' } = await bed.perform({ wakeMode: 'now', prompt })
    bed.clock.advance(250)
    await bed.until(async () => (await bed.read().event(summaryEventId))?.state === 'consumed')
  }
})

test('a session key that is used again continues its conversation, and failed turns leave no trace in it', async (t) => {
  const bed = await startTestBed(t, {
    async run(turn) {
      if (turn.prompt === 'two') throw new Error('no')
      return { reply: `re: ${turn.prompt}` }
    },
  })
  for (const prompt of ['one', 'two', 'three']) await bed.perform({ sessionKey: 'pr:1', prompt })
  const shown = bed.turns.map(({ history }) => history.map(({ text }) => text))
  assert.deepEqual(shown, [[], ['one', 're: one'], ['one', 're: one']])
  assert.equal((await bed.read().session('pr:1'))?.messages.length, 4)
})

test('runs of one session key go in order, different keys side by side, up to the limit', async (t) => {
  const open = new Map<string, () => void>()
  const bed = await startTestBed(t, {
    run: (turn) => new Promise((resolve) => open.set(turn.prompt, () => resolve({ reply: '' }))),
    defaults: { concurrency: 2 },
  })
  for (const prompt of ['a1', 'a2', 'b1', 'c1']) await bed.acceptRun({ sessionKey: prompt.charAt(0), prompt })
  await bed.until(async () => open.has('b1'))
  assert.deepEqual([...open.keys()], ['a1', 'b1'])
  for (const each of ['a1', 'b1', 'a2', 'c1']) {
    await bed.until(async () => open.has(each))
    open.get(each)?.()
  }
  await bed.until(async () => bed.log('run-succeeded').length === 4)
})

test('a retryable error is tried again after a backoff, and each attempt is recorded', async (t) => {
  const bed = await startTestBed(t, {
    async run({ attempt }) {
      if (attempt < 3) throw broken('malformed')
      return { reply: 'at last' }
    },
  })
  const id = await bed.acceptRun()
  const waiting = await bed.untilRetried(id)
  assert.equal(waiting.attempts[0]?.reason, 'the wall said malformed')
  bed.clock.advance(2666)
  assert.equal(bed.turns.length, 1)
  bed.clock.advance(1)
  await bed.untilRun(id, (run) => run.attempts.length === 2)
  bed.clock.advance(5333)
  const run = await bed.untilDelivered(id)
  assert.deepEqual(outcomesOf(run), ['failed', 'failed', 'succeeded'])
  const asked = bed.turns.map(({ attempt }) => attempt)
  assert.deepEqual(asked, [1, 2, 3])
  assert.equal(bed.log('run-retried').length, 2)
})

test('after three failed attempts the run fails, and its summary says why', async (t) => {
  const bed = await startTestBed(t, { run: () => Promise.reject(broken('malformed')) })
  const id = await bed.acceptRun({ deliver: true })
  for (const attempts of [1, 2]) {
    await bed.untilRun(id, (run) => run.attempts.length === attempts && run.state === 'queued')
    bed.clock.advance(10_000)
  }
  const run = await bed.untilState(id, 'failed')
  const message = 'the wall said malformed'
  assert.deepEqual([run.stage, run.error], ['summarised', { code: 'malformed', message, retryable: true }])
  assert.equal((await bed.events())[0]?.text, `Hook github (error): ${message}`)
  assert.deepEqual(await bed.deliveries(), [])
})

test('errors that fail a run at its first attempt, none of which the log quotes', async (t) => {
  const late = broken('malformed', { retryAfter: 60 })
  for (const [run, fields, code, message] of [
    [() => Promise.reject(late), { timeoutSeconds: 60 }, 'malformed', /said malformed/],
    [() => Promise.reject(new TypeError('read "the secret plan"')), {}, 'RUNNER_FAILED', /secret plan/],
    [async () => ({}) as never, {}, 'RUNNER_FAILED', /reply/],
    [undefined, { runner: 'gone' }, 'UNKNOWN_RUNNER', /gone/],
  ] as const) {
    const bed = await startTestBed(t, { ...(run && { run }) })
    const { state, attempts, error } = await bed.perform(fields)
    assert.deepEqual([state, attempts.length, error?.code], ['failed', 1, code])
    assert.match(error?.message ?? '', message)
    assert.doesNotMatch(JSON.stringify(bed.lines), /secret plan/)
  }
})

test('malformed facts beside a reply do not lose the reply', async (t) => {
  const strange = { usage: { inputTokens: () => 1, outputTokens: 2 }, model: { name: 'm' } }
  const bed = await startTestBed(t, { run: async () => ({ reply: 'ok', ...strange }) as never })
  const run = await bed.perform()
  assert.deepEqual([run.reply, run.usage, run.model], ['ok', { outputTokens: 2 }, undefined])
  assert.equal(bed.turns.length, 1)
})

test('a run that takes too long times out and is not tried again', async (t) => {
  const bed = await startTestBed(t, { run: untilAborted })
  const id = await bed.acceptRun({ timeoutSeconds: 5, name: 'Slow' })
  await bed.untilAsked(1)
  bed.clock.advance(25)
  const running = await bed.untilState(id, 'running')
  assert.deepEqual([running.stage, outcomesOf(running)], ['running', [undefined]])
  bed.clock.advance(5000)
  const run = await bed.untilState(id, 'timed-out')
  assert.deepEqual([outcomesOf(run), run.error?.code], [['timed-out'], 'TIMEOUT'])
  assert.equal((await bed.events())[0]?.text, 'Hook Slow (error): the run did not end within 5 s')
  assert.equal(bed.log('run-timed-out').length, 1)
})

test('the time of a run spans its attempts', async (t) => {
  const bed = await startTestBed(t, {
    run: (turn, call) =>
      turn.attempt > 1 ? untilAborted(turn, call) : Promise.reject(broken('unavailable', { retryAfter: 4 })),
  })
  const id = await bed.acceptRun({ timeoutSeconds: 5 })
  await bed.untilRun(id, (run) => run.attempts.length === 1)
  bed.clock.advance(4000)
  await bed.untilAsked(2)
  bed.clock.advance(1000)
  const run = await bed.untilState(id, 'timed-out')
  assert.deepEqual((run.ranAt ?? 0) - (run.startedAt ?? 0), 5000)
})

test('a runner that ignores its signal is abandoned, and its late answer ignored', async (t) => {
  const { promise, resolve } = Promise.withResolvers<{ reply: string }>()
  const bed = await startTestBed(t, { run: () => promise })
  const id = await bed.acceptRun({ timeoutSeconds: 5 })
  await bed.untilAsked(1)
  bed.clock.advance(5000)
  bed.clock.advance(1000)
  await bed.untilState(id, 'timed-out')
  resolve({ reply: 'late' })
  await bed.acceptRun({ runner: 'gone' })
  assert.equal((await bed.read().run(id))?.reply, undefined)
})

test('no log line holds a message, a prompt or a reply', async (t) => {
  const bed = await startTestBed(t, { run: async () => ({ reply: 'private reply' }) })
  const texts = { prompt: 'private prompt', message: 'private message' }
  await bed.perform({ ...texts, deliver: true, wakeMode: 'now' })
  bed.clock.advance(250)
  await bed.until(async () => bed.log('heartbeat-succeeded').length === 1)
  for (const event of ['run-started', 'run-succeeded', 'summary-posted', 'delivery-delivered'])
    assert.equal(bed.log(event).length, 1, event)
  assert.doesNotMatch(JSON.stringify(bed.lines), /private/)
})
