/** The reader's thread: answers queries on a connection of its own, so that a long list delays no commit. */

import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { createQueries } from '../queries.ts'
import type { Queries } from '../reading.ts'
import { storeErrorOf } from './failure.ts'
import { databaseFile } from './folder.ts'
import { createStatements, dialect } from './statements.ts'

/** Asks for a query. Without a name it ends the thread. */
export interface Question {
  readonly call: number
  readonly name?: keyof Queries
  readonly args: readonly unknown[]
}

export type ReaderAnswer = { readonly call: number } & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string }
)

const port = parentPort
if (port !== null) start(port, workerData as string)

function start(port: NonNullable<typeof parentPort>, folder: string): void {
  const send = (answer: ReaderAnswer) => port.postMessage(answer)
  let db: DatabaseSync | undefined
  let queries: Queries | undefined

  async function answer({ call, name, args }: Question): Promise<void> {
    if (name === undefined) {
      db?.close()
      port.close()
      return
    }
    try {
      db ??= new DatabaseSync(databaseFile(folder), { readOnly: true, timeout: 5_000 })
      queries ??= createQueries(createStatements(db), dialect.among)
      const query: (...args: never[]) => unknown = queries[name]
      send({ call, ok: true, value: await query(...(args as never[])) })
    } catch (error) {
      send({ call, ok: false, message: storeErrorOf(error).message })
    }
  }

  port.on('message', (question: Question) => void answer(question))
}
