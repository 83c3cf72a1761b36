/** The process of a test: it migrates the store of a folder and kills itself at the step whose number it is given. */

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
    if (step !== Number(killedAt)) return
    writeSync(1, total === 0 ? 'backup' : `${done} rows`)
    process.kill(process.pid, 'SIGKILL')
    // The signal may reach another thread first; nothing may happen until it arrives here.
    for (;;);
  },
})
db.close()
