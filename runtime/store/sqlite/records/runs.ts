/** Reads and writes runs: each record beside the columns by which it is searched. */

import type { DatabaseSync } from 'node:sqlite'
import type { Id, RunRecord } from '../../port.ts'
import { blobOfId, isId } from '../database/id-blob.ts'
import type { NoteChange } from './change-list.ts'

export type Runs = ReturnType<typeof createRuns>

export function createRuns(db: DatabaseSync, changed: NoteChange) {
  const select = db.prepare('SELECT record FROM runs WHERE id = ?')
  const insert = db.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?)')
  const update = db.prepare('UPDATE runs SET state = ?, record = ? WHERE id = ?')

  return {
    find(id: Id): RunRecord | undefined {
      const row = isId(id) ? (select.get(blobOfId(id)) as { record: string } | undefined) : undefined
      return row && JSON.parse(row.record)
    },
    insert(run: RunRecord) {
      const { id, kind, state, sessionKey, stage } = run
      insert.run(blobOfId(id), kind, state, sessionKey, JSON.stringify(run))
      changed('run', id, state, stage)
    },
    update(run: RunRecord) {
      const { id, state, stage } = run
      update.run(state, JSON.stringify(run), blobOfId(id))
      changed('run', id, state, stage)
    },
  }
}
