/**
 * The process of a test: it migrates the store of a folder and kills itself when it reports progress for the given time, or after
 * the step to the given schema: `2`, or `schema 8`.
 */

import { writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { databaseFile } from './folder.ts'
import { migrateStore } from './migrate-store.ts'

const [folder = '', killedAt] = process.argv.slice(2)
const db = new DatabaseSync(databaseFile(folder))
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
let step = 0
migrateStore(db, folder, {
  onMigration({ done, total }) {
    step += 1
    if (step === Number(killedAt)) die(total === 0 ? 'backup' : `${done} rows`)
  },
  onStep(schema) {
    if (killedAt === `schema ${schema}`) die(killedAt)
  },
})
db.close()

function die(after: string): never {
  writeSync(1, after)
  process.kill(process.pid, 'SIGKILL')
  // The signal may reach another thread first; nothing may happen until it arrives here.
  for (;;);
}
