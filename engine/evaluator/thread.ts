/** Controls one evaluator thread from the main thread: sends it requests, reads its progress, and ends it. */

import { MessageChannel, Worker } from 'node:worker_threads'
import { bytesHeldBy, threadLimits } from '../transform/host/memory-watch.ts'
import { type FromThread, phases, slots, type ThreadData, type ToThread } from './protocol.ts'

export interface ThreadOwner {
  onMessage(message: FromThread): void
  /** Called when the thread has ended, by the pool or by itself. */
  onEnd(): void
}

export interface Thread {
  post(order: ToThread): void
  /**
   * Forgets the work of the request before, so that a thread that ends while it loads does not seem to have ended
   * during that work.
   */
  resetWork(): void
  /** The number of the piece of work that was begun last, and the phase, which says whether a deadline runs. */
  progress(): { readonly work: number; readonly phase: number }
  /** Returns the bytes that the thread holds, as `bytesHeldBy` counts them. */
  memory(): Promise<number | undefined>
  /** Resolves when the thread has ended. A thread in native code ends only when it leaves that code. */
  end(): Promise<void>
}

export function startThread(owner: ThreadOwner): Thread {
  const { port1: port, port2 } = new MessageChannel()
  const shared = new Int32Array(new SharedArrayBuffer(4 * Object.keys(slots).length))
  Atomics.store(shared, slots.phase, phases.loading)
  const worker = new Worker(threadFile(), {
    workerData: { port: port2, shared } satisfies ThreadData,
    transferList: [port2],
    name: 'evaluator',
    // The thread prints nothing on purpose.
    stdout: true,
    stderr: true,
    resourceLimits: threadLimits,
  })
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  let isEnded = false

  const close = (): void => {
    if (isEnded) return
    isEnded = true
    port.close()
    owner.onEnd()
  }
  port.on('message', (message: FromThread) => owner.onMessage(message))
  // An error ends the thread, and its request is answered as if its time had run out.
  worker.on('error', close)
  worker.on('exit', close)
  worker.unref()
  port.unref()

  return {
    post: (order) => port.postMessage(order),
    resetWork: () => void Atomics.store(shared, slots.work, 0),
    progress: () => ({ work: Atomics.load(shared, slots.work), phase: Atomics.load(shared, slots.phase) }),
    memory: () => bytesHeldBy(worker),
    async end() {
      void worker.terminate()
      close()
      await exited
    },
  }
}

/** Returns the file of the thread's program, which lies beside this module as a source, in a package or in a bundle. */
function threadFile(): URL {
  // The script that builds the packages searches for the names of such files in quotes.
  return new URL(
    import.meta.url.endsWith('.ts') ? './evaluator-thread.ts' : './evaluator-thread.js',
    import.meta.url,
  )
}
