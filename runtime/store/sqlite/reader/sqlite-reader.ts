/** The reader's thread: answers queries on its own connection, so that a long list delays no commit. */

import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { storeErrorOf } from '../database/failure.ts'
import { databaseFile } from '../database/folder.ts'
import { createQueries, type Query, type RunQuery } from './queries.ts'

export interface ReaderData {
  readonly folder: string
}

export interface Question {
  readonly call: number
  readonly query: Query | { readonly type: 'close' }
}

export type ReaderAnswer = { readonly call: number } & (
  | { readonly ok: true; readonly value: ReturnType<RunQuery> }
  | { readonly ok: false; readonly message: string }
)

const port = parentPort
if (port !== null) start(port, workerData as ReaderData)

function start(port: NonNullable<typeof parentPort>, { folder }: ReaderData): void {
  const send = (answer: ReaderAnswer) => port.postMessage(answer)
  let db: DatabaseSync | undefined
  let run: RunQuery | undefined

  port.on('message', ({ call, query }: Question) => {
    if (query.type === 'close') {
      db?.close()
      port.close()
      return
    }
    try {
      db ??= new DatabaseSync(databaseFile(folder), { readOnly: true, timeout: 5_000 })
      run ??= createQueries(db)
      send({ call, ok: true, value: run(query) })
    } catch (error) {
      send({ call, ok: false, message: storeErrorOf(error).message })
    }
  })
}
