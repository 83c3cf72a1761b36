/** Owns the life of the bundling thread: started by the first order, ended when it has rested for a while. */

import { Worker } from 'node:worker_threads'
import type { FromThread, ToThread } from './builder-thread.ts'
import type { BundleOrder, BundleOutcome } from './outcome.ts'

export interface Builder {
  /** Rejects for what no author can have written: no bundler, a full disk, a closed builder. */
  build(order: BundleOrder): Promise<BundleOutcome>
  /** Orders under way fail. */
  close(): Promise<void>
}

interface Waiting {
  resolve(outcome: BundleOutcome): void
  reject(error: Error): void
}

interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, Waiting>
}

/** @param idleMs without an order, after which the thread and its process are let go */
export function createBuilder({ idleMs }: { readonly idleMs: number }): Builder {
  let thread: Thread | undefined
  let rest: NodeJS.Timeout | undefined
  let orders = 0
  let isClosed = false

  function start(): Thread {
    const waiting: Thread['waiting'] = new Map()
    const worker = new Worker(threadFile())
    const started = { worker, waiting }
    worker.on('message', (message: FromThread) => {
      if (message.type === 'ended') return
      const { id } = message
      if (message.type === 'built') waiting.get(id)?.resolve(message.outcome)
      else waiting.get(id)?.reject(new Error(message.message))
      waiting.delete(id)
      if (waiting.size === 0) beginRest(started)
    })
    const lose = (error: Error) => {
      if (thread === started) thread = undefined
      for (const { reject } of waiting.values()) reject(error)
      waiting.clear()
    }
    worker.on('error', lose)
    worker.on('exit', () => lose(new Error('the bundling thread ended')))
    return started
  }

  /** Nothing waits for a resting thread, and so it keeps no process alive. */
  function beginRest(resting: Thread): void {
    resting.worker.unref()
    clearTimeout(rest)
    rest = setTimeout(() => void letGo(), idleMs).unref()
  }

  async function letGo(): Promise<void> {
    clearTimeout(rest)
    const ending = thread
    thread = undefined
    if (ending === undefined) return
    ending.worker.ref()
    const ended = new Promise<void>((resolve) => ending.worker.once('exit', () => resolve()))
    // Asked to, it ends the bundler's process too, which would outlive a thread that is merely terminated.
    ending.worker.postMessage({ type: 'end' } satisfies ToThread)
    const late = setTimeout(() => void ending.worker.terminate(), 2_000)
    await ended
    clearTimeout(late)
  }

  return {
    build(order) {
      if (isClosed) return Promise.reject(new Error('the bundler is closed'))
      clearTimeout(rest)
      thread ??= start()
      const { worker, waiting } = thread
      const id = orders++
      worker.ref()
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        worker.postMessage({ type: 'build', id, order } satisfies ToThread)
      })
    },
    close() {
      isClosed = true
      return letGo()
    },
  }
}

/** Beside this module, as a source or as a bundle. */
function threadFile(): URL {
  return new URL(
    import.meta.url.endsWith('.ts') ? './builder-thread.ts' : './builder-thread.js',
    import.meta.url,
  )
}
