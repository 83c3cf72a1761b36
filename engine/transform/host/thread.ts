/**
 * Owns one worker's thread, whatever it does: what it says, that it ended, and ending it.
 *
 * running -> stopped (by us) -> ended, or abandoned and ended later
 *         -> lost (it ended by itself)
 */

import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Timers } from '../../timers.ts'
import { type FromWorker, slots, type ToWorker, type WorkerData } from '../worker/protocol.ts'
import { workerFile } from '../worker/worker-file.ts'
import { isFromWorker } from './message-check.ts'

/**
 * V8 ends the whole process when one allocation finds no room below a worker's limit: a list of a hundred thousand
 * objects that grows is enough. So the limit is where nobody comes, and `memory-watch.ts` holds the real one.
 */
const heapLimitMb = 70_000
/** A larger one leaves twice the garbage between two collections. */
const youngMb = 16
/** A thread that is stopped ends within milliseconds, unless it is in native code. */
const terminationMs = 1_000

export interface ThreadOwner {
  heard(message: FromWorker): void
  /** It ended though nobody stopped it; `reason` continues the sentence `its worker …`. */
  lost(reason: string): void
}

export interface Thread {
  readonly shared: Int32Array
  /** Whoever owns it now is told, and nobody once it was stopped. */
  owner: ThreadOwner
  post(order: ToWorker, transfer?: readonly ArrayBuffer[]): void
  /** Hears at once what has arrived and was not told yet. */
  drain(): void
  /** Bytes that it holds, garbage included; undefined where it ended. Waits for as long as it is in native code. */
  memory(): Promise<number | undefined>
  /** V8's profile as JSON, of as long as `during` takes; undefined where this Node cannot, or the thread ended. */
  profile(during: () => Promise<unknown>): Promise<string | undefined>
  /** Resolves when the thread ended, or is left to itself. */
  stop(told?: { abandoned(): void; returned(): void }): Promise<void>
  takeDroppedLines(): number
}

export function startThread(timers: Timers): Thread {
  const { port1: port, port2 } = new MessageChannel()
  const shared = new Int32Array(new SharedArrayBuffer(4 * Object.keys(slots).length))
  const worker = new Worker(workerFile(), {
    workerData: { port: port2, shared } satisfies WorkerData,
    transferList: [port2],
    name: 'transform',
    // What it prints comes as messages; Node's own words before it is up are not for our output.
    stdout: true,
    stderr: true,
    execArgv: ['--enable-source-maps'],
    resourceLimits: { maxOldGenerationSizeMb: heapLimitMb, maxYoungGenerationSizeMb: youngMb },
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
    async memory() {
      try {
        const { used_heap_size, external_memory } = await worker.getHeapStatistics()
        return used_heap_size + external_memory
      } catch {
        return undefined
      }
    },
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
    stop(told) {
      if (state === 'running') {
        state = 'stopped'
        port.close()
        // By what it said last, which is heard when it has ended.
        if (hasExited) return left.promise
        void worker.terminate()
        let isAbandoned = false
        const timer = timers.setTimeout(() => {
          isAbandoned = true
          worker.unref()
          told?.abandoned()
          left.resolve()
        }, terminationMs)
        worker.once('exit', () => {
          timers.clearTimeout(timer)
          if (isAbandoned) told?.returned()
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
  // The module cannot reach our port; this one it can, past the guard that stands before it.
  worker.on('message', () => lose('posted to parentPort, which is not for transforms'))
  worker.on('error', (error: unknown) => {
    lastError = error instanceof Error ? error.message : String(error)
  })
  worker.on('exit', (code) => {
    hasExited = true
    left.resolve()
    // What it said before it ended is true all the same.
    thread.drain()
    if (state !== 'running') return
    state = 'lost'
    port.close()
    thread.owner.lost(lastError === undefined ? `ended with the code ${code}` : `ended: ${lastError}`)
  })
  return thread
}
