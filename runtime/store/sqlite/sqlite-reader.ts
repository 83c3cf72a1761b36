/** The reader's thread: answers queries on a connection of its own, so that a long list delays no commit. */

import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Statements } from '@reveille/kit'
import type { StoreError } from '../port.ts'
import { answer, type Question } from '../reading.ts'
import { storeErrorOf } from './failure.ts'
import { databaseFile } from './folder.ts'
import { createStatements, dialect } from './statements.ts'

/** Asks a question. Without one it ends the thread. */
export interface ReaderCall {
  readonly call: number
  readonly question?: Question
}

export type ReaderAnswer = { readonly call: number } & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: StoreError['code']; readonly message: string }
)

const port = parentPort
if (port !== null) start(port, workerData as string)

function start(port: NonNullable<typeof parentPort>, folder: string): void {
  const send = (answer: ReaderAnswer) => port.postMessage(answer)
  let db: DatabaseSync | undefined
  let statements: Statements | undefined

  async function take({ call, question }: ReaderCall): Promise<void> {
    if (question === undefined) {
      db?.close()
      port.close()
      return
    }
    try {
      db ??= new DatabaseSync(databaseFile(folder), { readOnly: true, timeout: 5_000 })
      statements ??= createStatements(db)
      send({ call, ok: true, value: await answer(statements, dialect.among, question) })
    } catch (error) {
      const { code, message } = storeErrorOf(error)
      send({ call, ok: false, code: code === 'BAD_CURSOR' ? code : 'STORE_UNAVAILABLE', message })
    }
  }

  port.on('message', (call: ReaderCall) => void take(call))
}
