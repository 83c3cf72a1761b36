/** Owns the accept path on disk: one entry's request, its records, its dedupe keys and its tasks. */

import type { DatabaseSync } from 'node:sqlite'
import type { Acceptance, Dedupe, Id, RequestRecord, RunError, RunRecord, StoreLimits } from '../port.ts'
import { StoreError } from '../port.ts'
import { blobOfId, idOfBlob } from './blob.ts'
import type { NoteChange } from './change-list.ts'
import type { PlainAction, PlainEntry, Terms } from './entry.ts'
import type { Joining } from './joining.ts'
import type { Schedule } from './schedule.ts'
import type { Tally } from './tally.ts'

type Outcome = Acceptance['actions'][number]
/** An outcome of an action that was not seen before. */
type Placed = Exclude<Outcome, { original: Id }>

const busyError: RunError = {
  code: 'BUSY',
  message: 'another run of its session is queued or under way',
  retryable: true,
}

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
  readonly joining: Joining
  readonly changed: NoteChange
  /** Asked for each entry: it may change. */
  readonly limits: Pick<StoreLimits, 'backlog'>
}

export function createAccepting({
  db,
  tally,
  schedule,
  joining,
  changed,
  limits,
}: AcceptingParts): Accepting {
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
  const selectRequest = db.prepare('SELECT record FROM requests WHERE id = ?')
  const selectRun = db.prepare('SELECT record FROM runs WHERE id = ?')
  const exists = {
    run: db.prepare('SELECT state FROM runs WHERE id = ?'),
    event: db.prepare('SELECT state FROM events WHERE id = ?'),
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
    const outcome = action.terms === null ? place(action) : placeOnTerms(action, action.terms, request, now)
    if (dedupe !== null) {
      upsertDedupe.run(
        dedupe.scope,
        dedupe.key,
        dedupe.bodyDigest ?? null,
        dedupe.until,
        blobOfId(outcome.id),
        request,
      )
    }
    return outcome
  }

  function place(action: PlainAction): Placed {
    insertRecord(action)
    return { outcome: 'accepted', id: action.id }
  }

  function placeOnTerms(action: PlainAction, terms: Terms, request: Uint8Array, now: number): Placed {
    const { id } = action
    const { join, isRejectedWhenBusy } = terms
    const run = join && joining.join({ id, join }, request, now)
    if (run !== undefined) {
      changed('run', run, 'queued', 'accepted')
      return { outcome: 'joined', id: run }
    }
    if (
      isRejectedWhenBusy &&
      action.tasks.some(({ lane }) => lane !== undefined && schedule.isOccupied(lane))
    ) {
      insertRejected(action, now)
      return { outcome: 'busy', id }
    }
    if (join !== undefined) joining.begin({ id, join }, now)
    return place(action)
  }

  /** On record as what it became, without anything to do. */
  function insertRejected(action: PlainAction, now: number): void {
    const run: RunRecord = {
      ...JSON.parse(action.record),
      state: 'cancelled',
      stage: 'delivered',
      error: busyError,
      ranAt: now,
      deliveredAt: now,
    }
    insertRun.run(blobOfId(run.id), run.kind, run.state, run.sessionKey, JSON.stringify(run))
    changed('run', run.id, run.state, run.stage)
  }

  /** What an action became, by the record of its request: the way to a run that more were joined to than it knows by id. */
  function named(request: Uint8Array, index: number): Id | undefined {
    const row = selectRequest.get(request) as { record: string } | undefined
    return row && (JSON.parse(row.record) as RequestRecord).actions[index]?.id
  }

  function wasBusy(id: Id): boolean {
    const { record } = selectRun.get(blobOfId(id)) as { record: string }
    return (JSON.parse(record) as RunRecord).error?.code === busyError.code
  }

  /** The request is on disk already: its first answer was lost. */
  function answerAgain(action: PlainAction, index: number, request: Uint8Array, now: number): Outcome {
    const { id, terms } = action
    const row = exists[action.type].get(blobOfId(id)) as { state: string } | undefined
    if (row !== undefined)
      return { outcome: row.state === 'cancelled' && wasBusy(id) ? 'busy' : 'accepted', id }
    const run =
      terms?.join && (joining.joinedTo(id) ?? (action.dedupe === null ? named(request, index) : undefined))
    if (run !== undefined && run !== id) return { outcome: 'joined', id: run }
    const seen = action.dedupe === null ? undefined : seenBefore(action.dedupe, id, now)
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
        return { actions: entry.actions.map((action, index) => answerAgain(action, index, id, now)) }
      }
      const actions = entry.actions.map((action) => acceptAction(action, id, now))
      const whole = actions.every((action) => action.outcome === 'accepted')
      if (whole) {
        changed('request', entry.id, entry.outcome)
        return undefined
      }
      const record = withOutcomes(JSON.parse(entry.record), actions)
      updateRequest.run(record.outcome, JSON.stringify(record), id)
      changed('request', entry.id, record.outcome)
      return { actions }
    },

    note(request) {
      if (insertWhole(blobOfId(request.id), request) > 0) changed('request', request.id, request.outcome)
    },
  }
}

/** The record of a request of which something was seen before, joined or busy: its actions name what there is. */
function withOutcomes(request: RequestRecord, outcomes: readonly Outcome[]): RequestRecord {
  const some = outcomes.some((outcome) => !('original' in outcome))
  const conflict = outcomes.some((outcome) => outcome.outcome === 'conflict')
  const actions = request.actions.map((action, index) => {
    const outcome = outcomes[index]
    if (outcome === undefined) return action
    return { ...action, id: 'original' in outcome ? outcome.original : outcome.id }
  })
  if (some) return { ...request, actions }
  const reason = conflict
    ? 'its dedupe key was used before with another body'
    : 'its dedupe key was seen before'
  return { ...request, actions, outcome: 'duplicate', status: conflict ? 409 : 200, reason }
}
