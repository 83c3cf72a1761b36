/**
 * Turns runs into rows and back, and writes how they change. What a run was asked is written once, when it is accepted; how it
 * goes stands in `changes`, which alone is written again.
 */

import type { DatabaseSync } from 'node:sqlite'
import { withoutTexts } from '../../decisions.ts'
import { isId } from '../../id.ts'
import type { Id, RunRecord } from '../../port.ts'
import { blobOfId, createRowFinder, idOfBlob, placeOfBlob } from '../database/ids.ts'
import { createRowWriter, type Flat } from '../database/rows.ts'
import type { NoteChange } from './change-list.ts'
import { columnsOfPrompt, type PromptColumns, promptOf } from './prompts.ts'

/** The columns of a run after its place and its id, in the order of `flattenRun`. */
export const runColumns = [
  'kind',
  'state',
  'session',
  'text',
  'prompt',
  'text_at',
  'created_at',
  'draft',
  'changes',
] as const

export interface RunRow extends PromptColumns {
  readonly id: Uint8Array
  readonly kind: RunRecord['kind']
  readonly state: RunRecord['state']
  readonly session: string
  readonly created_at: number
  /** JSON of every other field that the run was created with, without those that all runs begin with. */
  readonly draft: string
  /** JSON of the fields that were written later. Null stands for a field that was removed. */
  readonly changes: string | null
}

/** The values of `runColumns`. */
export type RunValues = readonly (string | number | null | Uint8Array)[]

/** Appends the values of `runColumns`. */
export function flattenRun(
  flat: Flat,
  { id: _id, kind, state, message, prompt, createdAt, ...rest }: RunRecord,
): void {
  const [text, shown, textAt] = columnsOfPrompt(message, prompt)
  const { sessionKey, stage, attempts, deliveryIds } = rest
  const draft = {
    ...rest,
    // The column beside it cannot hold halves of surrogate pairs.
    sessionKey: sessionKey.isWellFormed() ? undefined : sessionKey,
    stage: stage === begun.stage ? undefined : stage,
    attempts: attempts.length === 0 ? undefined : attempts,
    deliveryIds: deliveryIds.length === 0 ? undefined : deliveryIds,
  }
  flat.push(
    kind,
    state,
    sessionKey.toWellFormed(),
    text,
    shown,
    textAt,
    createdAt,
    JSON.stringify(draft),
    null,
  )
}

/** The fields with which every run begins. */
const begun = { stage: 'accepted', attempts: [], deliveryIds: [] } as const

export function runOf(row: RunRow): RunRecord {
  const { text: message, prompt } = promptOf(row)
  const run = {
    id: idOfBlob(row.id),
    kind: row.kind,
    sessionKey: row.session,
    state: row.state,
    ...begun,
    message,
    prompt,
    createdAt: row.created_at,
    ...JSON.parse(row.draft),
    ...(row.changes !== null && JSON.parse(row.changes)),
  }
  for (const name in run) if (run[name] === null) delete run[name]
  return run
}

interface Changes extends Pick<RunRow, 'state' | 'changes'> {
  readonly place: number
}

const stateAt = runColumns.indexOf('state')

export type Runs = ReturnType<typeof createRuns>

export function createRuns(db: DatabaseSync, changed: NoteChange) {
  const rows = createRowWriter(db, 'runs', ['place', 'id', ...runColumns])
  const findRow = createRowFinder<RunRow>(db, 'runs', ['id', ...runColumns])
  const findChanges = createRowFinder<Changes>(db, 'runs', ['place', 'state', 'changes'])
  const findTexts = createRowFinder<Changes & Pick<RunRow, 'draft'>>(db, 'runs', [
    'place',
    'state',
    'draft',
    'changes',
  ])
  const update = db.prepare('UPDATE runs SET state = ?, changes = ? WHERE place = ?')
  const updateTexts = db.prepare('UPDATE runs SET draft = ?, changes = ? WHERE place = ?')
  const updatePrompt = db.prepare('UPDATE runs SET text = ?, prompt = ?, text_at = ? WHERE place = ?')

  function find(id: Id): RunRecord | undefined {
    const row = isId(id) ? findRow(blobOfId(id)) : undefined
    return row && runOf(row)
  }

  return {
    rows,
    find,

    /** Takes the values of `runColumns`. The row is written with the next flush. */
    add(id: Id, values: RunValues, stage: RunRecord['stage'] = begun.stage) {
      const blob = blobOfId(id)
      rows.add(placeOfBlob(blob), blob, ...values)
      changed('run', id, values[stateAt] as string, stage)
    },

    /** Writes a new run at once. */
    insert(run: RunRecord) {
      const values: Flat = []
      flattenRun(values, run)
      this.add(run.id, values as RunValues, run.stage)
      rows.flush()
    },

    /** Writes the fields of the patch. A field that is undefined is removed. Returns false if there is no such run. */
    change({ id, ...patch }: Partial<RunRecord> & { readonly id: Id }): boolean {
      const row = findChanges(blobOfId(id))
      if (row === undefined) return false
      const { message, prompt, state: _state, ...fields } = patch
      const { place } = row
      const changes = row.changes === null ? {} : JSON.parse(row.changes)
      for (const [name, value] of Object.entries(fields)) changes[name] = value ?? null
      const state = patch.state ?? row.state
      update.run(state, JSON.stringify(changes), place)
      if (message !== undefined || prompt !== undefined) {
        const old = find(id) as RunRecord
        updatePrompt.run(...columnsOfPrompt(message ?? old.message, prompt ?? old.prompt), place)
      }
      changed('run', id, state, changes.stage ?? begun.stage)
      return true
    },

    /** Erases what a run was asked, what came of it, and its name, which a template may have taken from a payload. */
    forget(id: Id, at: number) {
      const row = findTexts(blobOfId(id))
      if (row === undefined) return
      const { place, state, draft } = row
      const changes = withoutTexts(JSON.parse(row.changes ?? '{}'))
      const forgottenAt = changes.forgottenAt ?? at
      updatePrompt.run(...columnsOfPrompt('', ''), place)
      updateTexts.run(
        JSON.stringify(withoutTexts(JSON.parse(draft))),
        JSON.stringify({ ...changes, forgottenAt }),
        place,
      )
      changed('run', id, state, changes.stage ?? begun.stage)
    },
  }
}
