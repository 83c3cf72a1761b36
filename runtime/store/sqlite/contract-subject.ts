/** Defines for the store's contract how to open the embedded store, where its data is, and how to check that it is sound. */

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { faultsSql } from '../contract/bench/soundness.ts'
import type { ContractSubject } from '../contract.ts'
import type { OpenStore } from '../port.ts'
import { answer } from '../reading.ts'
import { databaseFile } from './folder.ts'
import type { ToWriter } from './messages.ts'
import { serveWriter } from './sqlite-writer.ts'
import { createStatements, dialect } from './statements.ts'
import { openFaultyStore, type Threads } from './store.ts'

/** Runs writer and reader in the test's own thread, with the messages that they exchange with the main thread. */
const inThisThread: Threads = {
  startWriter(data) {
    const { port1, port2 } = new MessageChannel()
    const thread = new EventEmitter()
    port1.on('message', (message) => thread.emit('message', message))
    port1.once('close', () => thread.emit('exit', 0))
    void serveWriter(port2, data)
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
        db ??= new DatabaseSync(databaseFile(folder), { readOnly: true })
        return structuredClone(await answer(createStatements(db), dialect.among, query))
      },
      suspend: close,
      resume: () => undefined,
      close,
    }
  },
}

/** Opens the store without threads of its own, for tests that do not test them. */
export const openInThisThread: OpenStore = async (options) =>
  (await openFaultyStore(options, inThisThread)).store

export const sqliteSubject: ContractSubject = {
  name: 'sqlite',
  isShared: false,
  async createPlace() {
    const parent = await mkdtemp(join(tmpdir(), 'reveille-store-'))
    const location = join(parent, 'data')
    return {
      location,
      async check() {
        const db = new DatabaseSync(databaseFile(location), { readOnly: true })
        try {
          assert.deepEqual(
            db
              .prepare('PRAGMA integrity_check')
              .all()
              .map((row) => row['integrity_check']),
            ['ok'],
          )
          assert.deepEqual(db.prepare(faultsSql()).all(), [])
        } finally {
          db.close()
        }
      },
      remove: () => rm(parent, { recursive: true, force: true }),
    }
  },
  open: (options) => openFaultyStore(options, inThisThread),
  opener: { module: new URL('./index.ts', import.meta.url).href, name: 'openSqliteStore' },
}
