/** Builds modules one after the other in a thread, which starts with the first and ends when it has been idle for a while. */

import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { FromThread, ToThread } from './builder-thread.ts'
import type { BuildRequest, BuildResult } from './module-build.ts'

export interface Builder {
  /** Rejects only for causes outside of the author's files: no bundler, a full disk, a closed builder. */
  build(request: BuildRequest): Promise<BuildResult>
  /** Rejects the builds under way. */
  close(): Promise<void>
}

const threadEnded = 'the bundling thread ended'

/** `idleMs`: without a build for so long, the thread and its process end. */
export function createBuilder({ idleMs = 60_000 } = {}): Builder {
  let thread: Worker | undefined
  let idleTimer: NodeJS.Timeout | undefined
  let last: Promise<unknown> = Promise.resolve()
  let isClosed = false

  function start(): Worker {
    const worker = new Worker(threadFile())
    const lose = () => {
      if (thread === worker) thread = undefined
    }
    return worker.on('error', lose).on('exit', lose)
  }

  async function buildNext(request: BuildRequest): Promise<BuildResult> {
    if (isClosed) throw new Error(threadEnded)
    clearTimeout(idleTimer)
    thread ??= start()
    const worker = thread
    worker.ref()
    worker.postMessage(request satisfies ToThread)
    const over = new AbortController()
    const lost = once(worker, 'exit', over).then(() => [new Error(threadEnded)])
    try {
      const [answer] = (await Promise.race([once(worker, 'message', over), lost])) as [FromThread]
      if (answer instanceof Error) throw answer
      return answer
    } finally {
      over.abort()
      // An idle thread must not keep the process alive.
      worker.unref()
      idleTimer = setTimeout(() => void end(), idleMs).unref()
    }
  }

  async function end(): Promise<void> {
    clearTimeout(idleTimer)
    const ending = thread
    thread = undefined
    if (ending === undefined) return
    ending.ref()
    const ended = new Promise<void>((resolve) => ending.once('exit', () => resolve()))
    // The thread also ends the bundler's process, which would outlive a terminated thread.
    ending.postMessage('end' satisfies ToThread)
    const late = setTimeout(() => void ending.terminate(), 2_000)
    await ended
    clearTimeout(late)
  }

  return {
    build(request) {
      if (isClosed) return Promise.reject(new Error('the bundler is closed'))
      const built = last.then(() => buildNext(request))
      last = built.catch(() => {})
      return built
    },
    close() {
      isClosed = true
      return end()
    },
  }
}

/** Returns the absolute path of the thread's program, which lies beside this module as a source or as a bundle. */
export function threadFile(): string {
  return fileURLToPath(
    new URL(import.meta.url.endsWith('.ts') ? './builder-thread.ts' : './builder-thread.js', import.meta.url),
  )
}
