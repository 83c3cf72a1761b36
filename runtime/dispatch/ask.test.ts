import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PluginError } from '@reveille/kit'
import { openTestBed } from './test-bed.ts'

test('a turn has everything that was decided besides its prompt, and how much time there is', async (t) => {
  let calls = 0
  const bed = await openTestBed(t, {
    async run() {
      calls += 1
      if (calls === 1)
        throw new PluginError('busy', { code: 'unavailable', retryable: true, retryAfter: 9.5 })
      return { reply: '' }
    },
  })
  await bed.start()
  const id = await bed.acceptRun({ name: 'Reviewer', deliver: true, timeoutSeconds: 30 })
  await bed.untilRun(id, ({ state, attempts }) => state === 'queued' && attempts.length === 1)
  bed.clock.advance(9500)
  await bed.untilRun(id, ({ state }) => state === 'succeeded')
  assert.deepEqual(
    bed.turns.map(({ timeoutSeconds }) => timeoutSeconds),
    [30, 21],
  )
  assert.deepEqual(bed.turns[0]?.action, {
    name: 'Reviewer',
    wakeMode: 'next-heartbeat',
    deliver: true,
    channel: 'wall',
    to: 'Ada',
  })
})

test('a clock that is set back between two tries gives a run no more time than it has', async (t) => {
  const bed = await openTestBed(t, {
    async run({ attempt }) {
      if (attempt > 1) return { reply: '' }
      throw new PluginError('busy', { code: 'unavailable', retryable: true, retryAfter: 9 })
    },
  })
  await bed.start()
  const id = await bed.acceptRun({ timeoutSeconds: 30 })
  await bed.untilRun(id, ({ state, attempts }) => state === 'queued' && attempts.length === 1)
  bed.clock.advance(-3_600_000)
  await bed.acceptEvent('it is an hour earlier', 'next-heartbeat')
  bed.clock.advance(9000)
  await bed.untilRun(id, ({ state }) => state === 'succeeded')
  assert.deepEqual(
    bed.turns.map(({ timeoutSeconds }) => timeoutSeconds),
    [30, 30],
  )
})

test('a runner that keeps the conversation itself is shown none of it', async (t) => {
  const bed = await openTestBed(t, { keepsHistory: true })
  await bed.start()
  for (const prompt of ['one', 'two']) {
    const id = await bed.acceptRun({ sessionKey: 'pr:1', prompt })
    await bed.untilRun(id, ({ state }) => state === 'succeeded')
  }
  assert.deepEqual(
    bed.turns.map(({ history }) => history),
    [[], []],
  )
  assert.equal((await bed.read().session('pr:1'))?.messages.length, 4)
})

test('the state that a runner stores with a session is given to its next turn there', async (t) => {
  let calls = 0
  const bed = await openTestBed(t, {
    async run() {
      calls += 1
      return { reply: 'ok', ...(calls === 1 && { state: 'thread-7' }) }
    },
  })
  await bed.start()
  for (const sessionKey of ['pr:1', 'pr:1', 'pr:1', 'pr:2']) {
    const id = await bed.acceptRun({ sessionKey })
    await bed.untilRun(id, ({ state }) => state === 'succeeded')
  }
  assert.deepEqual(
    bed.turns.map(({ state }) => state),
    [undefined, 'thread-7', 'thread-7', undefined],
  )
})

test('the warnings of a runner are on the run, and their number in the log', async (t) => {
  const bed = await openTestBed(t, { run: async () => ({ reply: 'ok', warnings: ['no thinking here'] }) })
  await bed.start()
  const id = await bed.acceptRun()
  const run = await bed.untilRun(id, ({ state }) => state === 'succeeded')
  assert.deepEqual([run.warnings, bed.log('run-succeeded')[0]?.['warnings']], [['no thinking here'], 1])
})

test('a turn that another system took over is not posted, delivered or remembered', async (t) => {
  const bed = await openTestBed(t, { run: async () => ({ reply: '', handedOver: 'run 7 at the other one' }) })
  await bed.start()
  const id = await bed.acceptRun({ deliver: true, wakeMode: 'now', sessionKey: 'pr:1' })
  const run = await bed.untilRun(id, ({ stage }) => stage === 'delivered')
  assert.deepEqual(
    [run.state, run.handedOver, run.summarisedAt, run.deliveredAt],
    ['succeeded', 'run 7 at the other one', undefined, bed.clock.now()],
  )
  assert.deepEqual(
    [await bed.events(), await bed.deliveries(), await bed.read().session('pr:1')],
    [[], [], undefined],
  )
})

test('the cost of attempts adds up, including answers that came too late', async (t) => {
  let isPatient = false
  const bed = await openTestBed(t, {
    run: (_turn, { signal }) =>
      isPatient
        ? Promise.resolve({ reply: 'ok', usage: { inputTokens: 10, reasoningTokens: 1 } })
        : new Promise((resolve) =>
            signal.addEventListener('abort', () => resolve({ reply: 'late', usage: { inputTokens: 5 } })),
          ),
  })
  const dispatch = await bed.start()
  const id = await bed.acceptRun()
  await bed.until(async () => bed.turns.length === 1)
  await dispatch.drain(0)
  assert.deepEqual((await bed.read().run(id))?.usage, { inputTokens: 5 })
  isPatient = true
  await bed.restart()
  const run = await bed.untilRun(id, ({ state }) => state === 'succeeded')
  assert.deepEqual([run.reply, run.usage], ['ok', { inputTokens: 15, reasoningTokens: 1 }])
})

test('how far a turn has got is on the board while it lasts', async (t) => {
  const { promise, resolve } = Promise.withResolvers<{ reply: string }>()
  const bed = await openTestBed(t, {
    run(_turn, { onProgress }) {
      onProgress?.({ text: 'Once upon', note: 'writing' })
      return promise
    },
  })
  await bed.start()
  const id = await bed.acceptRun()
  const shown = await bed.until(async () => bed.progress.of(id)?.text && bed.progress.of(id))
  assert.deepEqual(shown, { text: 'Once upon', characters: 9, note: 'writing', at: bed.clock.now() })
  resolve({ reply: 'Once upon a time' })
  await bed.untilRun(id, ({ state }) => state === 'succeeded')
  assert.equal(bed.progress.of(id), undefined)
  assert.doesNotMatch(JSON.stringify(bed.lines), /Once/)
})

test('a main session that passes events on gets the event of a run at once, whatever mode the run requested', async (t) => {
  const bed = await openTestBed(t, { relays: true })
  await bed.start()
  const id = await bed.acceptRun({ wakeMode: 'next-heartbeat' })
  const run = await bed.untilRun(id, ({ stage }) => stage === 'delivered')
  bed.clock.advance(250)
  await bed.until(async () => (await bed.read().event(run.summaryEventId ?? ''))?.state === 'consumed')
})

test('each part is reported before it is sent, with its reply', async (t) => {
  const before: string[][] = []
  const bed = await openTestBed(t, { send: async () => void before.push([...bed.sentMessages]) })
  await bed.start()
  const id = await bed.acceptRun({ deliver: true, prompt: 'one|two' })
  await bed.untilRun(id, ({ stage }) => stage === 'delivered')
  assert.deepEqual(before, [
    ['one|two', 'one'],
    ['one|two', 'one', 'one|two', 'two'],
  ])
})

test('the configuration sets how often a turn is tried and how long it waits in between', async (t) => {
  const bed = await openTestBed(t, {
    defaults: { retry: { attempts: 2, firstMs: 30_000, maxMs: 31_000 } },
    async run() {
      throw new PluginError('overloaded', { code: 'malformed', retryable: true })
    },
  })
  await bed.start()
  const id = await bed.acceptRun()
  await bed.untilRun(id, ({ state, attempts }) => state === 'queued' && attempts.length === 1)
  assert.equal(bed.log('run-retried')[0]?.['inMs'], 31_000)
  bed.clock.advance(31_000)
  const run = await bed.untilRun(id, ({ state }) => state === 'failed')
  assert.equal(run.attempts.length, 2)
})

test('a vendor that asks for more than an hour is waited for', async (t) => {
  const bed = await openTestBed(t, {
    async run() {
      throw new PluginError('tomorrow', { code: 'rate-limited', retryable: true, retryAfter: 7200 })
    },
  })
  await bed.start()
  const id = await bed.acceptRun()
  await bed.untilRun(id, ({ state, attempts }) => state === 'queued' && attempts.length === 1)
  assert.equal(bed.log('run-held')[0]?.['inMs'], 7_200_000)
})
