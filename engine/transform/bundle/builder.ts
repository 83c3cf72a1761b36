/** Starts the bundling thread with the first module, and ends it when it has been idle for a while. */

import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { FromThread, ToThread } from './builder-thread.ts'
import type { BuildRequest, BuildResult } from './module-build.ts'

export interface Builder {
  /** Rejects for what no author can have written: no bundler, a full disk, a closed builder. */
  build(request: BuildRequest): Promise<BuildResult>
  /** Builds under way fail. */
  close(): Promise<void>
}

interface Waiting {
  resolve(result: BuildResult): void
  reject(error: Error): void
}

interface Thread {
  readonly worker: Worker
  readonly waiting: Map<number, Waiting>
}

/** @param idleMs without a build, after which the thread and its process end */
export function createBuilder({ idleMs }: { readonly idleMs: number }): Builder {
  let thread: Thread | undefined
  let idleTimer: NodeJS.Timeout | undefined
  let lastId = 0
  let isClosed = false

  function start(): Thread {
    const waiting: Thread['waiting'] = new Map()
    const worker = new Worker(threadFile())
    const started = { worker, waiting }
    worker.on('message', (message: FromThread) => {
      const { id } = message
      if (message.type === 'built') waiting.get(id)?.resolve(message.result)
      else waiting.get(id)?.reject(new Error(message.message))
      waiting.delete(id)
      if (waiting.size === 0) becomeIdle(started)
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

  /** An idle thread does not keep the process alive. */
  function becomeIdle({ worker }: Thread): void {
    worker.unref()
    clearTimeout(idleTimer)
    idleTimer = setTimeout(() => void end(), idleMs).unref()
  }

  async function end(): Promise<void> {
    clearTimeout(idleTimer)
    const ending = thread
    thread = undefined
    if (ending === undefined) return
    ending.worker.ref()
    const ended = new Promise<void>((resolve) => ending.worker.once('exit', () => resolve()))
    // The thread then ends the bundler's process too, which would outlive a thread that is merely terminated.
    ending.worker.postMessage({ type: 'end' } satisfies ToThread)
    const late = setTimeout(() => void ending.worker.terminate(), 2_000)
    await ended
    clearTimeout(late)
  }

  return {
    build(request) {
      if (isClosed) return Promise.reject(new Error('the bundler is closed'))
      clearTimeout(idleTimer)
      thread ??= start()
      const { worker, waiting } = thread
      lastId += 1
      const id = lastId
      worker.ref()
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        worker.postMessage({ type: 'build', id, request } satisfies ToThread)
      })
    },
    close() {
      isClosed = true
      return end()
    },
  }
}

/** The thread's program, which lies beside this module as a source or as a bundle; absolute. */
export function threadFile(): string {
  return fileURLToPath(
    new URL(import.meta.url.endsWith('.ts') ? './builder-thread.ts' : './builder-thread.js', import.meta.url),
  )
}
