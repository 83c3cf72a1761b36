/** The reader's thread: answers queries on a connection of its own, so that a long list delays no commit. */

import { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import type { ThreadData } from '@reveille/engine'
import type { Statements } from '@reveille/kit'
import type { StoreError } from '../port.ts'
import { answer, type StoreQuery } from '../reading.ts'
import { storeErrorOf } from './failure.ts'
import { databaseFile } from './folder.ts'
import { createStatements, dialect } from './statements.ts'

export interface ReaderQuestion {
  readonly folder: string
  readonly question: StoreQuery
}

export type ReaderAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: StoreError['code']; readonly message: string }

const { port } = workerData as ThreadData
let db: DatabaseSync | undefined
let statements: Statements | undefined

port.on('message', async (message: ReaderQuestion | 'close') => {
  if (message === 'close') {
    db?.close()
    port.close()
  } else port.postMessage(await answerTo(message))
})

async function answerTo({ folder, question }: ReaderQuestion): Promise<ReaderAnswer> {
  try {
    db ??= new DatabaseSync(databaseFile(folder), { readOnly: true, timeout: 5_000 })
    statements ??= createStatements(db)
    return { ok: true, value: await answer(statements, dialect.among, question) }
  } catch (error) {
    const { code, message } = storeErrorOf(error)
    return { ok: false, code: code === 'BAD_CURSOR' ? code : 'STORE_UNAVAILABLE', message }
  }
}
