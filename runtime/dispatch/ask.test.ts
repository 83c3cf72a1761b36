import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answersLate, broken, failsOnce, startTestBed, type TestBed } from './test-bed.ts'

const timesOf = ({ turns }: Pick<TestBed, 'turns'>) => turns.map(({ timeoutSeconds }) => timeoutSeconds)

test('a turn has everything that was decided besides its prompt, and how much time there is', async (t) => {
  const bed = await startTestBed(t, { run: failsOnce('unavailable', { retryAfter: 9.5 }) })
  const id = await bed.acceptRun({ name: 'Reviewer', deliver: true, timeoutSeconds: 30 })
  await bed.untilRetried(id)
  bed.clock.advance(9500)
  await bed.untilState(id, 'succeeded')
  assert.deepEqual(timesOf(bed), [30, 21])
  const action = { name: 'Reviewer', wakeMode: 'next-heartbeat', deliver: true, channel: 'wall', to: 'Ada' }
  assert.deepEqual(bed.turns[0]?.action, action)
})

test('a clock that is set back between two tries gives a run no more time than it has', async (t) => {
  const bed = await startTestBed(t, { run: failsOnce('unavailable', { retryAfter: 9 }) })
  const id = await bed.acceptRun({ timeoutSeconds: 30 })
  await bed.untilRetried(id)
  bed.clock.advance(-3_600_000)
  await bed.acceptEvent('it is an hour earlier', 'next-heartbeat')
  bed.clock.advance(9000)
  await bed.untilState(id, 'succeeded')
  assert.deepEqual(timesOf(bed), [30, 30])
})

test('the state that a runner stores with a session is given to its next turn there', async (t) => {
  const bed = await startTestBed(t, {
    run: async () => ({ reply: 'ok', ...(bed.turns.length === 1 && { state: 'thread-7' }) }),
  })
  for (const sessionKey of ['pr:1', 'pr:1', 'pr:1', 'pr:2']) await bed.perform({ sessionKey })
  const states = bed.turns.map(({ state }) => state)
  assert.deepEqual(states, [undefined, 'thread-7', 'thread-7', undefined])
})

test('the warnings of a runner are on the run, and their number in the log', async (t) => {
  const bed = await startTestBed(t, { run: async () => ({ reply: 'ok', warnings: ['no thinking here'] }) })
  assert.deepEqual((await bed.perform()).warnings, ['no thinking here'])
  assert.equal(bed.log('run-succeeded')[0]?.['warnings'], 1)
})

test('a turn that another system took over is not posted, delivered or remembered', async (t) => {
  const handedOver = 'run 7 at the other one'
  const bed = await startTestBed(t, { run: async () => ({ reply: '', handedOver }) })
  const run = await bed.perform({ deliver: true, wakeMode: 'now', sessionKey: 'pr:1' })
  assert.partialDeepStrictEqual(run, { state: 'succeeded', handedOver, deliveredAt: bed.clock.now() })
  assert.equal(run.summarisedAt, undefined)
  const made = [await bed.events(), await bed.deliveries(), await bed.read().session('pr:1')]
  assert.deepEqual(made, [[], [], undefined])
})

test('the cost of attempts adds up, including answers that came too late', async (t) => {
  let isPatient = false
  const bed = await startTestBed(t, {
    async run(turn, call) {
      if (isPatient) return { reply: 'ok', usage: { inputTokens: 10, reasoningTokens: 1 } }
      return answersLate({ reply: 'late', usage: { inputTokens: 5 } })(turn, call)
    },
  })
  const id = await bed.acceptRun()
  await bed.untilAsked(1)
  await bed.dispatch.drain(0)
  assert.deepEqual((await bed.read().run(id))?.usage, { inputTokens: 5 })
  isPatient = true
  await bed.restart()
  const run = await bed.untilState(id, 'succeeded')
  assert.deepEqual([run.reply, run.usage], ['ok', { inputTokens: 15, reasoningTokens: 1 }])
})

test('how far a turn has got is on the board while it lasts', async (t) => {
  const { promise, resolve } = Promise.withResolvers<{ reply: string }>()
  const bed = await startTestBed(t, {
    run(_turn, { onProgress }) {
      onProgress?.({ text: 'Once upon', note: 'writing' })
      return promise
    },
  })
  const id = await bed.acceptRun()
  const shown = await bed.until(async () => bed.progress.ofRun(id)?.text && bed.progress.ofRun(id))
  assert.deepEqual(shown, { text: 'Once upon', characters: 9, note: 'writing', at: bed.clock.now() })
  resolve({ reply: 'Once upon a time' })
  await bed.untilState(id, 'succeeded')
  assert.equal(bed.progress.ofRun(id), undefined)
  assert.doesNotMatch(JSON.stringify(bed.lines), /Once/)
})

test('a main session that passes events on gets the event of a run at once, whatever mode the run requested', async (t) => {
  const bed = await startTestBed(t, { relays: true })
  const { summaryEventId = '' } = await bed.perform({ wakeMode: 'next-heartbeat' })
  bed.clock.advance(250)
  await bed.until(async () => (await bed.read().event(summaryEventId))?.state === 'consumed')
})

test('each part is reported before it is sent, with its reply', async (t) => {
  const before: string[][] = []
  const bed = await startTestBed(t, { send: async () => void before.push([...bed.sentMessages]) })
  await bed.perform({ deliver: true, prompt: 'one|two' })
  assert.deepEqual(before, [
    ['one|two', 'one'],
    ['one|two', 'one', 'one|two', 'two'],
  ])
})

test('the configuration sets how often a turn is tried and how long it waits in between', async (t) => {
  const bed = await startTestBed(t, {
    defaults: { retry: { attempts: 2, firstMs: 30_000, maxMs: 31_000 } },
    run: () => Promise.reject(broken('malformed')),
  })
  const id = await bed.acceptRun()
  await bed.untilRetried(id)
  assert.equal(bed.log('run-retried')[0]?.['inMs'], 31_000)
  bed.clock.advance(31_000)
  assert.equal((await bed.untilState(id, 'failed')).attempts.length, 2)
})

test('a vendor is waited for as long as it asks, more than an hour too, instead of the backoff', async (t) => {
  for (const seconds of [30, 7200]) {
    const bed = await startTestBed(t, {
      async run() {
        if (bed.turns.length > 1) return { reply: 'ok' }
        throw broken('rate-limited', { retryAfter: seconds })
      },
    })
    const id = await bed.acceptRun()
    await bed.untilRetried(id)
    assert.equal(bed.log('run-held')[0]?.['inMs'], seconds * 1000)
    if (seconds > 3600) continue
    bed.clock.advance(seconds * 1000)
    await bed.untilState(id, 'succeeded')
  }
})
