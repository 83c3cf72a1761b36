/**
 * Runs one worker's thread: passes on its messages, notices its end, and stops it.
 *
 * running -> stopped (by us) -> ended, or abandoned and ended later
 *         -> lost (it ended by itself)
 */

import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Timers } from '../../timers.ts'
import { type FromWorker, slots, type ToWorker, type WorkerData, workerFile } from '../worker/protocol.ts'
import { bytesHeldBy, threadLimits } from './memory-watch.ts'
import { isFromWorker } from './message-check.ts'

/** A thread that is stopped ends within milliseconds, unless it is in native code. */
const terminationMs = 1_000

export interface ThreadOwner {
  heard(message: FromWorker): void
  /** The thread ended though it was not stopped; `reason` continues the sentence `its worker …`. */
  lost(reason: string): void
}

export interface Thread {
  readonly shared: Int32Array
  /** Called with the events of the thread until it is stopped. */
  owner: ThreadOwner
  post(order: ToWorker, transfer?: readonly ArrayBuffer[]): void
  /** Passes on at once the messages that have arrived. */
  drain(): void
  /** The bytes that the thread holds, garbage included; undefined where it ended. Waits while it is in native code. */
  memory(): Promise<number | undefined>
  /** V8's profile as JSON, for as long as `during` takes; undefined where this Node cannot profile, or the thread ended. */
  profile(during: () => Promise<unknown>): Promise<string | undefined>
  /** Resolves when the thread has ended, or was abandoned. */
  stop(events?: { abandoned(): void; returned(): void }): Promise<void>
  takeDroppedLines(): number
}

export function startThread(timers: Timers): Thread {
  const { port1: port, port2 } = new MessageChannel()
  const shared = new Int32Array(new SharedArrayBuffer(4 * Object.keys(slots).length))
  const worker = new Worker(workerFile(), {
    workerData: { port: port2, shared } satisfies WorkerData,
    transferList: [port2],
    name: 'transform',
    // What a module prints comes as messages; what Node prints before it is up is not shown.
    stdout: true,
    stderr: true,
    execArgv: [],
    resourceLimits: threadLimits,
  })
  const left = Promise.withResolvers<void>()
  let state: 'running' | 'stopped' | 'lost' = 'running'
  let hasExited = false
  let lastError: string | undefined

  const thread: Thread = {
    shared,
    owner: { heard: () => {}, lost: () => {} },
    post: (order, transfer = []) => port.postMessage(order, transfer),
    drain() {
      while (state === 'running') {
        const received = receiveMessageOnPort(port)
        if (received === undefined) return
        hear(received.message)
      }
    },
    memory: () => bytesHeldBy(worker),
    async profile(during) {
      // Node 24.8 and newer.
      const { startCpuProfile } = worker as Partial<typeof worker>
      if (startCpuProfile === undefined) return undefined
      try {
        const profiling = await startCpuProfile.call(worker)
        await during()
        return await profiling.stop()
      } catch {
        return undefined
      }
    },
    stop(events) {
      if (state === 'running') {
        state = 'stopped'
        port.close()
        // The last messages of a thread are read after its exit, and one of them has led here.
        if (hasExited) return left.promise
        void worker.terminate()
        let isAbandoned = false
        const timer = timers.setTimeout(() => {
          isAbandoned = true
          worker.unref()
          events?.abandoned()
          left.resolve()
        }, terminationMs)
        worker.once('exit', () => {
          timers.clearTimeout(timer)
          if (isAbandoned) events?.returned()
        })
      }
      return left.promise
    },
    takeDroppedLines: () => Atomics.exchange(shared, slots.droppedLines, 0),
  }

  function hear(message: unknown): void {
    if (state !== 'running') return
    if (isFromWorker(message)) thread.owner.heard(message)
    else lose('posted what no worker posts')
  }

  function lose(reason: string): void {
    if (state !== 'running') return
    thread.owner.lost(reason)
    void thread.stop()
  }

  port.on('message', hear)
  port.on('messageerror', () => lose('posted what cannot be read'))
  // The module cannot reach `port`, but `parentPort`, past the guard that stands before it.
  worker.on('message', () => lose('posted to parentPort, which is not for transforms'))
  worker.on('error', (error: unknown) => {
    lastError = error instanceof Error ? error.message : String(error)
  })
  worker.on('exit', (code) => {
    hasExited = true
    left.resolve()
    // The messages that it sent before it ended still count.
    thread.drain()
    if (state !== 'running') return
    state = 'lost'
    port.close()
    thread.owner.lost(lastError === undefined ? `ended with the code ${code}` : `ended: ${lastError}`)
  })
  return thread
}
