/** Owns the accept path on disk: one entry's request, its records, its dedupe keys and its tasks. */

import type { DatabaseSync } from 'node:sqlite'
import type { Acceptance, Dedupe, RequestRecord, StoreLimits } from '../port.ts'
import { StoreError } from '../port.ts'
import { blobOfId, idOfBlob } from './blob.ts'
import type { NoteChange } from './change-list.ts'
import type { PlainAction, PlainEntry } from './entry.ts'
import type { Schedule } from './schedule.ts'
import type { Tally } from './tally.ts'

type Outcome = Acceptance['actions'][number]

interface DedupeRow {
  readonly digest: string | null
  readonly original: Uint8Array
  readonly request: Uint8Array
}

export interface Accepting {
  /** `undefined` when all of its actions were accepted, which is nearly always. */
  accept(entry: PlainEntry, now: number): Acceptance | undefined
  note(request: PlainEntry): void
}

export interface AcceptingParts {
  readonly db: DatabaseSync
  readonly tally: Tally
  readonly schedule: Schedule
  readonly changed: NoteChange
  /** Asked for each entry: it may change. */
  readonly limits: Pick<StoreLimits, 'backlog'>
}

export function createAccepting({ db, tally, schedule, changed, limits }: AcceptingParts): Accepting {
  const insertRequest = db.prepare(
    'INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING',
  )
  const updateRequest = db.prepare('UPDATE requests SET outcome = ?, record = ? WHERE id = ?')
  const insertRun = db.prepare('INSERT INTO runs VALUES (?, ?, ?, ?, ?)')
  const insertEvent = db.prepare('INSERT INTO events VALUES (?, ?, ?)')
  const insertInbox = db.prepare('INSERT INTO inbox VALUES (?, ?)')
  const selectDedupe = db.prepare(
    'SELECT digest, original, request FROM dedupe WHERE scope = ? AND key = ? AND until > ?',
  )
  const upsertDedupe = db.prepare('INSERT OR REPLACE INTO dedupe VALUES (?, ?, ?, ?, ?, ?)')
  const exists = {
    run: db.prepare('SELECT 1 FROM runs WHERE id = ?'),
    event: db.prepare('SELECT 1 FROM events WHERE id = ?'),
  }

  /** How many rows there are more. */
  function insertWhole(id: Uint8Array, { outcome, endpoint, record, body, head }: PlainEntry): number {
    return Number(insertRequest.run(id, outcome, endpoint, record, body, head).changes)
  }

  function insertRecord(action: PlainAction): void {
    const id = blobOfId(action.id)
    if (action.type === 'run') {
      insertRun.run(id, action.kind, action.state, action.session, action.record)
      changed('run', action.id, action.state, 'accepted')
    } else {
      const rank = action.kind === 'now' ? 0 : 1
      insertEvent.run(id, action.state, action.record)
      insertInbox.run(rank, id)
      tally.pending += 1
      if (rank === 0) tally.pendingNow += 1
      changed('event', action.id, action.state)
    }
    for (const task of action.tasks) schedule.arm(task)
  }

  function seenBefore({ scope, key, bodyDigest }: Dedupe, id: string, now: number): Outcome | undefined {
    const row = selectDedupe.get(scope, key, now) as DedupeRow | undefined
    if (row === undefined) return undefined
    const original = idOfBlob(row.original)
    if (original === id) return { outcome: 'accepted', id }
    const conflicts = bodyDigest !== undefined && row.digest !== null && row.digest !== bodyDigest
    return { outcome: conflicts ? 'conflict' : 'duplicate', original, request: idOfBlob(row.request) }
  }

  function acceptAction(action: PlainAction, request: Uint8Array, now: number): Outcome {
    const { dedupe, id } = action
    const seen = dedupe === null ? undefined : seenBefore(dedupe, id, now)
    if (seen !== undefined) return seen
    insertRecord(action)
    if (dedupe !== null) {
      upsertDedupe.run(
        dedupe.scope,
        dedupe.key,
        dedupe.bodyDigest ?? null,
        dedupe.until,
        blobOfId(id),
        request,
      )
    }
    return { outcome: 'accepted', id }
  }

  /** The request is on disk already: its first answer was lost. */
  function answerAgain(action: PlainAction, now: number): Outcome {
    if (exists[action.type].get(blobOfId(action.id)) !== undefined)
      return { outcome: 'accepted', id: action.id }
    const seen = action.dedupe === null ? undefined : seenBefore(action.dedupe, action.id, now)
    if (seen !== undefined) return seen
    throw new StoreError('BAD_ENTRY', 'the id of this request was used for another one')
  }

  return {
    accept(entry, now) {
      if (entry.actions.length > 0 && tally.backlog >= limits.backlog) {
        throw new StoreError(
          'BACKLOG',
          `${tally.backlog} runs and deliveries are waiting, the limit is ${limits.backlog}`,
        )
      }
      const id = blobOfId(entry.id)
      if (insertWhole(id, entry) === 0) {
        return { actions: entry.actions.map((action) => answerAgain(action, now)) }
      }
      const actions = entry.actions.map((action) => acceptAction(action, id, now))
      const whole = actions.every((action) => action.outcome === 'accepted')
      if (whole) {
        changed('request', entry.id, entry.outcome)
        return undefined
      }
      const record = withOriginals(JSON.parse(entry.record), actions)
      updateRequest.run(record.outcome, JSON.stringify(record), id)
      changed('request', entry.id, record.outcome)
      return { actions }
    },

    note(request) {
      if (insertWhole(blobOfId(request.id), request) > 0) changed('request', request.id, request.outcome)
    },
  }
}

/** The record of a request of which something was seen before: its actions name what there is. */
function withOriginals(request: RequestRecord, outcomes: readonly Outcome[]): RequestRecord {
  const some = outcomes.some((outcome) => outcome.outcome === 'accepted')
  const conflict = outcomes.some((outcome) => outcome.outcome === 'conflict')
  const actions = request.actions.map((action, index) => {
    const outcome = outcomes[index]
    return outcome === undefined || !('original' in outcome) ? action : { ...action, id: outcome.original }
  })
  if (some) return { ...request, actions }
  const reason = conflict
    ? 'its dedupe key was used before with another body'
    : 'its dedupe key was seen before'
  return { ...request, actions, outcome: 'duplicate', status: conflict ? 409 : 200, reason }
}
