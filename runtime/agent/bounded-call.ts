/** Calls a plugin. The call ends when the plugin answers, its time is over, or it has to stop. */

import type { Timers } from '@reveille/engine'

export interface CallBounds {
  /** The time for the call in milliseconds. */
  readonly ms: number
  /** Each of these signals interrupts the call: the lease is lost, or the gateway drains. */
  readonly stops: readonly AbortSignal[]
  readonly timers: Timers
}

export type CallOutcome<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'threw'; readonly error: unknown }
  | ({ readonly kind: 'timed-out' } & Aftermath<Answer>)
  | ({ readonly kind: 'interrupted' } & Aftermath<Answer>)

/** The result or error of a call after it was ordered to stop. Both are absent if the call was abandoned. */
interface Aftermath<Answer> {
  readonly error?: unknown
  readonly late?: Answer
}

/** Milliseconds that a plugin may take to stop before it is abandoned. */
export const abandonAfterMs = 1000

/** Never rejects. An answer that comes after the call was abandoned is ignored. */
export function boundedCall<Answer>(
  call: (signal: AbortSignal) => Promise<Answer>,
  bounds: CallBounds,
): Promise<CallOutcome<Answer>> {
  const { stops, timers } = bounds
  if (stops.some((signal) => signal.aborted)) return Promise.resolve({ kind: 'interrupted' })
  if (bounds.ms <= 0) return Promise.resolve({ kind: 'timed-out' })

  return new Promise((resolve) => {
    const controller = new AbortController()
    let stopped: 'timed-out' | 'interrupted' | undefined
    let timer = timers.setTimeout(() => stop('timed-out'), bounds.ms)
    const onStop = () => stop('interrupted')
    for (const signal of stops) signal.addEventListener('abort', onStop, { once: true })

    function stop(kind: 'timed-out' | 'interrupted') {
      stopped = kind
      release()
      timer = timers.setTimeout(() => resolve({ kind }), abandonAfterMs)
      const reason =
        kind === 'timed-out'
          ? new DOMException('The time for this call is over.', 'TimeoutError')
          : stops.find((signal) => signal.aborted)?.reason
      controller.abort(reason)
    }

    function release() {
      timers.clearTimeout(timer)
      for (const signal of stops) signal.removeEventListener('abort', onStop)
    }

    function end(outcome: CallOutcome<Answer>) {
      release()
      resolve(outcome)
    }

    started(call, controller.signal).then(
      (answer) => end(stopped ? { kind: stopped, late: answer } : { kind: 'answered', answer }),
      (error: unknown) => end(stopped ? { kind: stopped, error } : { kind: 'threw', error }),
    )
  })
}

/** Makes a throw before the promise a rejection. */
async function started<Answer>(call: (signal: AbortSignal) => Promise<Answer>, signal: AbortSignal) {
  return call(signal)
}
