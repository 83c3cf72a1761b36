/** Defines for the store's contract how to open the embedded store, where its data is, and how to check that it is sound. */

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { databaseFile } from '../sqlite/folder.ts'
import type { ContractSubject } from './bench/bench.ts'
import { faultsSql } from './bench/soundness.ts'
import { openFaultyInThisThread } from './in-this-thread.ts'

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
  open: openFaultyInThisThread,
  opener: { module: new URL('../sqlite/index.ts', import.meta.url).href, name: 'openSqliteStore' },
}
