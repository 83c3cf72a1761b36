/** The main thread's side of the reader: starts its thread with the first question, and ends it when none comes for a while. */

import { Worker } from 'node:worker_threads'
import { type SetTimer, StoreError } from '../port.ts'
import type { Question } from '../reading.ts'
import type { ReaderAnswer, ReaderCall } from './sqlite-reader.ts'

/** A question is rejected after this many calls of `watch`, which come once a second: a disk that hangs may hang a read. */
const maxTicks = 30

interface WaitingCall {
  ticks: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: StoreError) => void
}

/** A thread without work costs 12 MB. Starting it again costs some 50 ms. */
const idleMs = 10_000

export function createReaderClient(folder: string, setTimer: SetTimer) {
  const calls = new Map<number, WaitingCall>()
  let lastCall = 0
  let worker: Worker | undefined
  let closed = false
  let isSuspended = false
  let cancelRest: (() => void) | undefined
  /** Resolves when the threads that were told to end have ended. */
  let ended: Promise<void> = Promise.resolve()

  function startWorker(): Worker {
    const started = new Worker(threadFile(), { workerData: folder, name: 'store reader' })
    started.on('message', (answer: ReaderAnswer) => {
      const call = calls.get(answer.call)
      calls.delete(answer.call)
      if (answer.ok) call?.resolve(answer.value)
      else call?.reject(new StoreError(answer.code, answer.message))
      if (calls.size === 0) restSoon()
    })
    started.on('error', (error) => {
      if (worker === started) worker = undefined
      rejectAll(new StoreError('STORE_UNAVAILABLE', 'the reader stopped', { cause: error }))
    })
    return started
  }

  function restSoon(): void {
    cancelRest?.()
    cancelRest = setTimer(() => {
      if (calls.size === 0) void endWorker()
    }, idleMs)
  }

  /** Resolves when no thread is left. Each closes its connection itself. Questions that come meanwhile go to a new thread. */
  function endWorker(): Promise<void> {
    const running = worker
    worker = undefined
    if (running === undefined) return ended
    const exited = new Promise<void>((resolve) => running.once('exit', () => resolve()))
    running.postMessage({ call: 0 } satisfies ReaderCall)
    ended = Promise.all([ended, exited]).then(() => undefined)
    return ended
  }

  function rejectAll(error: StoreError): void {
    for (const { reject } of calls.values()) reject(error)
    calls.clear()
  }

  function ask(question: Question): Promise<unknown> {
    if (closed) return Promise.reject(new StoreError('DRAINING', 'the store is closed'))
    if (isSuspended)
      return Promise.reject(
        new StoreError('STORE_UNAVAILABLE', 'the disk failed, and the store is put into a new file'),
      )
    worker ??= startWorker()
    const asked = worker
    return new Promise((resolve, reject) => {
      lastCall += 1
      calls.set(lastCall, { ticks: 0, resolve, reject })
      asked.postMessage({ call: lastCall, question } satisfies ReaderCall)
    })
  }

  return {
    ask,
    /** The store calls it once a second. It rejects questions that have waited too long. */
    watch() {
      for (const [number, call] of calls) {
        call.ticks += 1
        if (call.ticks <= maxTicks) continue
        call.reject(new StoreError('STORE_UNAVAILABLE', `the store was not read within ${maxTicks} s`))
        calls.delete(number)
      }
    },
    /** Closes the connection, and answers nothing until `resume`. */
    async suspend(): Promise<void> {
      isSuspended = true
      await endWorker()
    },
    resume() {
      isSuspended = false
    },
    async close(): Promise<void> {
      closed = true
      rejectAll(new StoreError('DRAINING', 'the store is closed'))
      cancelRest?.()
      await endWorker()
    },
  }
}

/** The thread's program, which lies beside this module as a source, in a package or in a bundle. */
function threadFile(): URL {
  return new URL(
    import.meta.url.endsWith('.ts') ? './sqlite-reader.ts' : './sqlite-reader.js',
    import.meta.url,
  )
}
