/** Builds modules one after the other in a thread, which starts with the first and ends when it has been idle for a while. */

import { fileURLToPath } from 'node:url'
import { createSerialThread, ThreadEndedError } from '../../threads/serial-thread.ts'
import { programFile } from '../../threads/thread.ts'
import type { FromThread, ToThread } from './builder-thread.ts'
import type { BuildRequest, BuildResult } from './module-build.ts'

export interface Builder {
  /** Rejects only for causes outside of the author's files: no bundler, a full disk, a closed builder. */
  build(request: BuildRequest): Promise<BuildResult>
  /** Rejects the builds under way. */
  close(): Promise<void>
}

const program = programFile('./builder-thread.ts', import.meta.url)

/** `idleMs`: without a build for so long, the thread and its process end. */
export function createBuilder({ idleMs = 60_000 } = {}): Builder {
  let isClosed = false
  const thread = createSerialThread<ToThread, FromThread>({
    program,
    name: 'bundler',
    idleMs,
    // The thread also ends the bundler's process, which would outlive a terminated thread.
    farewell: 'end' satisfies ToThread,
  })

  async function build(request: BuildRequest): Promise<BuildResult> {
    if (isClosed) throw new Error('the bundler is closed')
    const answer = await thread.ask(request).catch((error: unknown) => {
      throw error instanceof ThreadEndedError ? new Error('the bundling thread ended') : error
    })
    if (answer instanceof Error) throw answer
    return answer
  }

  return {
    build,
    close() {
      isClosed = true
      return thread.close()
    },
  }
}

/** Returns the absolute path of the thread's program. */
export function threadFile(): string {
  return fileURLToPath(program)
}
