import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { abandonAfterMs, boundedCall } from './bounded-call.ts'

function handTimers() {
  const due = new Map<number, () => void>()
  return {
    due,
    setTimeout(callback: () => void, ms: number) {
      due.set(ms, callback)
      return ms
    },
    clearTimeout(ms: unknown) {
      due.delete(ms as number)
    },
  }
}

const open = () => new AbortController().signal
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

test('an answer in time is returned, and no timer is left', async () => {
  const timers = handTimers()
  const outcome = await boundedCall(async () => 'yes', { ms: 50, stops: [open()], timers })
  assert.deepEqual(outcome, { kind: 'answered', answer: 'yes' })
  assert.equal(timers.due.size, 0)
})

test('a throw before the promise counts as a rejection', async () => {
  const error = new Error('no')
  const call = () => {
    throw error
  }
  const outcome = await boundedCall(call, { ms: 50, stops: [open()], timers: handTimers() })
  assert.deepEqual(outcome, { kind: 'threw', error })
})

test('when the time is over the call is stopped and its error returned', async () => {
  const timers = handTimers()
  const outcome = boundedCall(untilAborted, { ms: 50, stops: [open()], timers })
  timers.due.get(50)?.()
  const ended = await outcome
  assert.equal(ended.kind, 'timed-out')
  assert.equal('error' in ended && (ended.error as Error).name, 'TimeoutError')
  assert.equal(timers.due.size, 0)
})

test('a call that ignores its signal is abandoned, and its late answer is ignored', async () => {
  const timers = handTimers()
  const { promise, resolve } = Promise.withResolvers<string>()
  const outcome = boundedCall(() => promise, { ms: 50, stops: [open()], timers })
  timers.due.get(50)?.()
  timers.due.get(abandonAfterMs)?.()
  assert.deepEqual(await outcome, { kind: 'timed-out' })
  resolve('late')
})

test('an answer between the stop and the abandonment is returned as late', async () => {
  const timers = handTimers()
  const { promise, resolve } = Promise.withResolvers<string>()
  const outcome = boundedCall(() => promise, { ms: 50, stops: [open()], timers })
  timers.due.get(50)?.()
  resolve('late')
  assert.deepEqual(await outcome, { kind: 'timed-out', late: 'late' })
})

test('a lease that ends interrupts the call with its reason', async () => {
  const lease = new AbortController()
  const outcome = boundedCall(untilAborted, { ms: 50, stops: [open(), lease.signal], timers: handTimers() })
  lease.abort('draining')
  assert.deepEqual(await outcome, { kind: 'interrupted', error: 'draining' })
})

test('without a lease or without time left nothing is called', async () => {
  const call = mock.fn(async () => 'never')
  const timers = handTimers()
  const gone = await boundedCall(call, { ms: 50, stops: [AbortSignal.abort()], timers })
  const over = await boundedCall(call, { ms: 0, stops: [open()], timers })
  assert.deepEqual([gone.kind, over.kind, call.mock.callCount()], ['interrupted', 'timed-out', 0])
})
