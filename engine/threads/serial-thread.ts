/**
 * Asks one thread one question after the other. It is always in one of these states:
 *
 * absent -> asked (the first question starts the thread) <-> idle -> absent (after `idleMs`, or because it was lost or late)
 * any -> closed
 */

import { backgroundTimers } from '../timers.ts'
import { startThread, type Thread, type ThreadOptions } from './thread.ts'

export interface SerialThreadOptions extends ThreadOptions {
  /** The thread ends after this long without a question. Milliseconds. */
  readonly idleMs: number
  /** The thread is ended if an answer takes longer. Default: no limit. Milliseconds. */
  readonly deadlineMs?: number
}

export interface SerialThread<Question, Answer> {
  /** @throws ThreadEndedError */
  ask(question: Question): Promise<Answer>
  /** Ends the thread, and rejects the questions without an answer. Does not wait for a thread that cannot be ended. */
  close(): Promise<void>
}

/** `late`: the deadline has passed. `lost`: the thread ended on its own. */
export class ThreadEndedError extends Error {
  override readonly name = 'ThreadEndedError'
  readonly reason: 'late' | 'lost' | 'closed'

  constructor(reason: ThreadEndedError['reason']) {
    super(`The thread is ${reason}.`)
    this.reason = reason
  }
}

export function createSerialThread<Question, Answer>(
  options: SerialThreadOptions,
): SerialThread<Question, Answer> {
  const { idleMs, deadlineMs, timers = backgroundTimers } = options
  let thread: Thread<Question, Answer> | undefined
  let pending: PromiseWithResolvers<Answer> | undefined
  let idleTimer: unknown
  let last: Promise<unknown> = Promise.resolve()
  let ended: Promise<unknown> = Promise.resolve()
  let isClosed = false

  function start(): Thread<Question, Answer> {
    const started = startThread<Question, Answer>(options)
    started.owner = {
      heard: (answer) => pending?.resolve(answer),
      lost: () => {
        if (thread === started) end('lost')
      },
    }
    return started
  }

  function end(reason?: ThreadEndedError['reason']): void {
    timers.clearTimeout(idleTimer)
    const ending = thread
    thread = undefined
    if (reason !== undefined) pending?.reject(new ThreadEndedError(reason))
    if (ending === undefined) return
    const stuck = Promise.withResolvers<void>()
    ended = Promise.all([ended, Promise.race([ending.end(stuck.resolve), stuck.promise])])
  }

  async function askNext(question: Question): Promise<Answer> {
    if (isClosed) throw new ThreadEndedError('closed')
    timers.clearTimeout(idleTimer)
    thread ??= start()
    pending = Promise.withResolvers<Answer>()
    const late = deadlineMs === undefined ? undefined : timers.setTimeout(() => end('late'), deadlineMs)
    thread.keepAlive(true)
    thread.post(question)
    try {
      return await pending.promise
    } finally {
      timers.clearTimeout(late)
      pending = undefined
      thread?.keepAlive(false)
      if (thread !== undefined) idleTimer = timers.setTimeout(() => end(), idleMs)
    }
  }

  return {
    ask(question) {
      const answered = last.then(() => askNext(question))
      last = answered.catch(() => {})
      return answered
    },
    async close() {
      isClosed = true
      end('closed')
      await last
      await ended
    },
  }
}
