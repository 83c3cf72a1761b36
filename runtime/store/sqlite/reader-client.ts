/** Reads the store on its own thread, which starts with the first query. */

import { createSerialThread, programFile, type SerialThread, ThreadEndedError } from '@reveille/engine'
import { StoreError } from '../port.ts'
import type { StoreQuery } from '../reading.ts'
import type { ReaderAnswer, ReaderQuestion as ReaderQuery } from './sqlite-reader.ts'

/** Milliseconds that a read may take, as a disk may hang. */
const deadlineMs = 30_000
/** A thread without work costs 12 MB. Starting it again costs some 50 ms. */
const idleMs = 10_000

const endedErrors = {
  late: ['STORE_UNAVAILABLE', `the store was not read within ${deadlineMs / 1_000} s`],
  lost: ['STORE_UNAVAILABLE', 'the reader stopped'],
  closed: ['DRAINING', 'the store is closed'],
} as const

export type ReaderClient = ReturnType<typeof createReaderClient>

export function createReaderClient(folder: string) {
  let thread: SerialThread<ReaderQuery, ReaderAnswer> | undefined = open()

  function open() {
    return createSerialThread<ReaderQuery, ReaderAnswer>({
      program: programFile('./sqlite-reader.ts', import.meta.url),
      name: 'store reader',
      closeMessage: 'close',
      idleMs,
      deadlineMs,
    })
  }

  return {
    async ask(question: StoreQuery): Promise<unknown> {
      if (thread === undefined)
        throw new StoreError(
          'STORE_UNAVAILABLE',
          'the disk failed, and the store is being moved to a new file',
        )
      const answer = await thread.ask({ folder, question }).catch((error) => {
        if (!(error instanceof ThreadEndedError)) throw error
        const [code, message] = endedErrors[error.reason]
        throw new StoreError(code, message, { cause: error })
      })
      if (answer.ok) return answer.value
      throw new StoreError(answer.code, answer.message)
    },
    /** Closes the connection. Every query fails until `resume`. */
    async suspend(): Promise<void> {
      const before = thread
      thread = undefined
      await before?.close()
    },
    resume(): void {
      thread ??= open()
    },
    async close(): Promise<void> {
      await thread?.close()
    },
  }
}
