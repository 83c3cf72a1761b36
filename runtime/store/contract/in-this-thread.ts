/** Runs the embedded store without threads of its own, for tests that do not test them: to start two takes longer than most tests. */

import { EventEmitter } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import type { OpenStore, StoreOptions } from '../port.ts'
import { answer } from '../reading.ts'
import { storeErrorOf } from '../sqlite/failure.ts'
import { databaseFile } from '../sqlite/folder.ts'
import type { ToWriter } from '../sqlite/messages.ts'
import { createStatements, dialect } from '../sqlite/statements.ts'
import { openSqliteStore, type Threads } from '../sqlite/store.ts'
import { serveWriter } from '../sqlite/writer.ts'
import { createFaultyDisk, faultOf } from './bench/faulty-disk.ts'

/** Exchanges the messages of the two threads over a channel. */
const thisThread = (disk?: ReturnType<typeof createFaultyDisk>): Threads => ({
  startWriter(data) {
    const { port1, port2 } = new MessageChannel()
    const thread = new EventEmitter()
    port1.on('message', (message) => thread.emit('message', message))
    port1.once('close', () => thread.emit('exit', 0))
    void serveWriter(port2, data, disk)
    return Object.assign(thread, {
      postMessage: (message: ToWriter) => port1.postMessage(message),
      unref: () => port1.unref(),
    })
  },
  startReader(folder) {
    let db: DatabaseSync | undefined
    const close = async () => {
      db?.close()
      db = undefined
    }
    return {
      async ask(query) {
        // No answer of another thread comes within a turn of the event loop.
        await setImmediate()
        try {
          db ??= new DatabaseSync(databaseFile(folder), { readOnly: true })
          return structuredClone(await answer(createStatements(db), dialect.among, query))
        } catch (error) {
          throw storeErrorOf(error)
        }
      },
      suspend: close,
      resume: () => undefined,
      close,
    }
  },
})

export const openInThisThread: OpenStore = (options) => openSqliteStore(options, thisThread())

/** The same, with a disk that fails as a test asks for it. */
export async function openFaultyInThisThread(options: StoreOptions) {
  const disk = createFaultyDisk()
  const store = await openSqliteStore(options, thisThread(disk))
  return { store, fault: faultOf(store, disk.ask) }
}
