import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PluginError, type Progress, type Runner, type Turn, type TurnCall } from '@reveille/kit'
import { maxReplyLength, maxStateLength, performTurn } from './turn.ts'

const turn: Turn = {
  runId: 'r',
  sessionKey: 's',
  kind: 'run',
  prompt: 'hello',
  events: [],
  history: [],
  attempt: 1,
}
const timers = { setTimeout: () => undefined, clearTimeout() {} }
const bounds = { ms: 1000, stops: [new AbortController().signal], timers }

function perform(run: (call: TurnCall) => unknown, onProgress?: (progress: Progress) => void) {
  const runner = { id: 'fake', run: async (_turn: Turn, call: TurnCall) => run(call) } as Runner
  return performTurn(() => runner, 'fake', turn, bounds, onProgress)
}

test('the state, the warnings and the handover of a runner come with its answer', async () => {
  const answer = { reply: 'ok', state: 'thread-1', warnings: ['no thinking here'], handedOver: 'run 7' }
  assert.deepEqual(await perform(() => answer), {
    kind: 'answered',
    asked: true,
    reply: 'ok',
    runnerState: 'thread-1',
    warnings: ['no thinking here'],
    handedOver: 'run 7',
  })
})

test('warnings are bounded in number and length, and blank ones are left out', async () => {
  const warnings = [' ', 7, ...Array.from({ length: 30 }, () => 'w'.repeat(600))]
  const outcome = await perform(() => ({ reply: '', warnings }))
  assert.ok(outcome.kind === 'answered')
  assert.deepEqual([outcome.warnings?.length, outcome.warnings?.[0]?.length], [18, 500])
})

test('a state that is too long is not stored at all, and a warning says so', async () => {
  const outcome = await perform(() => ({ reply: '', state: 'x'.repeat(maxStateLength + 1), warnings: ['w'] }))
  assert.ok(outcome.kind === 'answered')
  assert.equal(outcome.runnerState, undefined)
  assert.match(outcome.warnings?.[0] ?? '', /longer than 4096 characters and was not kept/)
  assert.equal(outcome.warnings?.[1], 'w')
})

test('the system that took a turn over is cut to a thousand characters, and has a name in any case', async () => {
  for (const [handedOver, length] of [
    ['x'.repeat(5000), 1000],
    [' ', 'another system'.length],
  ] as const) {
    const outcome = await perform(() => ({ reply: '', handedOver }))
    assert.equal(outcome.kind === 'answered' && outcome.handedOver?.length, length)
  }
})

test('progress is reported until the turn is over, and a throw of the listener does not fail the turn', async () => {
  const reported: Progress[] = []
  const calls: TurnCall[] = []
  const outcome = await perform(
    (call) => {
      calls.push(call)
      call.onProgress?.({ text: 'o' })
      call.onProgress?.({ note: 'thinking' })
      return { reply: 'ok' }
    },
    (progress) => {
      reported.push(progress)
      throw new Error('nobody listens')
    },
  )
  calls[0]?.onProgress?.({ text: 'late' })
  assert.equal(outcome.kind, 'answered')
  assert.deepEqual(reported, [{ text: 'o' }, { note: 'thinking' }])
})

test('a turn that was never asked for differs from one that failed', async () => {
  const unknown = await performTurn(() => undefined, 'gone', turn, bounds)
  const runner: Runner = { id: 'fake', run: () => assert.fail('it was stopped before') }
  const stops = [AbortSignal.abort()]
  const stopped = await performTurn(() => runner, 'fake', turn, { ...bounds, stops })
  const failed = await perform(() => {
    throw new PluginError('no', { code: 'unavailable', retryable: true })
  })
  assert.deepEqual([unknown.asked, stopped.asked, failed.asked], [false, false, true])
})

test('the usage of an answer that comes after the stop counts', async () => {
  const stop = new AbortController()
  const runner: Runner = {
    id: 'slow',
    run: (_turn, { signal }) =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve({ reply: 'late', usage: { outputTokens: 9 } })),
      ),
  }
  const outcome = performTurn(() => runner, 'slow', turn, { ...bounds, stops: [stop.signal] })
  stop.abort()
  assert.deepEqual(await outcome, { kind: 'interrupted', asked: true, usage: { outputTokens: 9 } })
})

test('a reply that is too long for a record is cut, and a warning says so', async () => {
  const outcome = await perform(() => ({ reply: 'x'.repeat(maxReplyLength + 1), model: 'm'.repeat(1000) }))
  assert.ok(outcome.kind === 'answered')
  assert.deepEqual([outcome.reply.length, outcome.model?.length], [maxReplyLength, 200])
  assert.match(outcome.warnings?.[0] ?? '', /longer than 1048576 characters and was cut/)
})

test('an answer or an error that throws when it is read fails the turn', async () => {
  const boom = () => {
    throw new Error('boom')
  }
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const answers: (() => unknown)[] = [
    () => ({
      get reply() {
        return boom()
      },
    }),
    () => ({ reply: 'ok', warnings: new Proxy([], { get: boom }) }),
    () => {
      throw proxy
    },
    () => {
      throw Object.assign(new PluginError('x', { code: 'x', retryable: true }), { retryAfter: Symbol('x') })
    },
  ]
  for (const answer of answers) {
    const outcome = await perform(answer)
    assert.ok(outcome.kind === 'failed' && outcome.asked, String(answer))
    assert.deepEqual([outcome.failure.code, outcome.failure.retryable], ['RUNNER_FAILED', false])
  }
  const spent = await perform(() => ({
    reply: 'ok',
    get usage() {
      return boom()
    },
  }))
  assert.equal(spent.kind, 'answered', 'what cannot be counted costs nobody the answer')
})
