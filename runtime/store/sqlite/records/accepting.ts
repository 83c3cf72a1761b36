/** Writes an accepted entry: its request, the records of its actions, their dedupe keys and their tasks. */

import { refuseOverBacklog, refuseOverEvents } from '../../counters.ts'
import { repetitionOf } from '../../decisions.ts'
import { type Acceptance, type Dedupe, type Id, StoreError } from '../../port.ts'
import { withOutcomes } from '../../requests.ts'
import { blobOfId, idOfBlob } from '../database/ids.ts'
import type { Parts } from '../parts.ts'
import type { PlainAction, PlainEntry } from './flat-entry.ts'
import { createInsertion } from './insertion.ts'
import { bytesOfValues, requestOfValues, valuesOfRequest } from './requests.ts'

type Outcome = Acceptance['actions'][number]

interface DedupeRow {
  readonly digest: string | null
  readonly original: Uint8Array
  readonly request: Uint8Array
}

export function createAccepting(parts: Parts) {
  const { db, counters, bounds, requests, lookups, runs, events, coalescing, changed, limits } = parts
  const insertion = createInsertion(parts)
  const selectDedupe = db.prepare(
    'SELECT digest, original, request FROM dedupe WHERE scope = ? AND key = ? AND until > ?',
  )
  const upsertDedupe = db.prepare('INSERT OR REPLACE INTO dedupe VALUES (?, ?, ?, ?, ?, ?)')
  const updateAnswer = db.prepare(
    `UPDATE requests SET status = 503, code = 'STORE_UNAVAILABLE',
     more = json_set(coalesce(more, '{}'), '$.reason', ?) WHERE place = ?`,
  )
  /** Requests that the next flush writes, and that are without effect or of which something is kept beside the record. */
  let uncounted: { readonly outcome: string; readonly bytes: number }[] = []
  /** Places of requests whose neighbours are indexed already. */
  let late: number[] = []

  function addRequest(
    id: Uint8Array,
    { id: text, outcome, values, trace }: Omit<PlainEntry, 'actions'>,
  ): void {
    const place = requests.add(id, values, trace)
    if (lookups.covers(place)) late.push(place)
    const bytes = bytesOfValues(values) + (trace === undefined ? 0 : Buffer.byteLength(trace))
    if (outcome !== 'accepted' || bytes > 0) uncounted.push({ outcome, bytes })
    changed('request', text, outcome)
  }

  function seenBefore(dedupe: Dedupe, id: string, now: number): Outcome | undefined {
    const row = selectDedupe.get(dedupe.scope, dedupe.key, now) as DedupeRow | undefined
    if (row === undefined) return undefined
    const original = idOfBlob(row.original)
    if (original === id) return { outcome: 'accepted', id }
    return repetitionOf(dedupe, { digest: row.digest, original, request: idOfBlob(row.request) })
  }

  function acceptAction(action: PlainAction, request: Uint8Array, now: number): Outcome {
    const { dedupe, id } = action
    const seen = dedupe === null ? undefined : seenBefore(dedupe, id, now)
    if (seen !== undefined) return seen
    const outcome = insertion.insert(action, request, now)
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

  /** Finds what an action became in its request's record. A run that more than 1,000 requests joined does not know all ids. */
  function named(request: Uint8Array, index: number): Id | undefined {
    return requests.find(request)?.actions[index]?.id
  }

  /** Answers a request that is on disk already because its first answer was lost. */
  function answerAgain(action: PlainAction, index: number, request: Uint8Array, now: number): Outcome {
    const { id, conditions } = action
    const inserted = insertion.insertedBefore(action)
    if (inserted !== undefined) return inserted
    const run =
      conditions?.join &&
      (coalescing.joinedTo(id) ?? (action.dedupe === null ? named(request, index) : undefined))
    if (run !== undefined && run !== id) return { outcome: 'joined', id: run }
    const seen = action.dedupe === null ? undefined : seenBefore(action.dedupe, id, now)
    if (seen !== undefined) return seen
    throw new StoreError('BAD_ENTRY', 'the id of this request was used for another one')
  }

  function flush(): void {
    runs.rows.flush()
    events.rows.flush()
    requests.rows.flush()
    const [stored, unindexed] = [uncounted, late]
    uncounted = []
    late = []
    for (const place of unindexed) lookups.indexLate(place)
    for (const { outcome, bytes } of stored) bounds.added(outcome, bytes)
  }

  return {
    /**
     * Collects the rows of an entry, which the next flush writes together with others. `isolated` says that the entry has a
     * transaction of its own, in which it may find that it was sent before. Returns `undefined` if all actions were accepted,
     * which is nearly always so.
     */
    accept(entry: PlainEntry, now: number, isolated: boolean): Acceptance | undefined {
      if (entry.actions.length > 0) refuseOverBacklog(counters, limits)
      if (entry.actions.some(({ type }) => type === 'event')) refuseOverEvents(counters, limits)
      const id = blobOfId(entry.id)
      if (isolated && requests.has(id)) {
        return { actions: entry.actions.map((action, index) => answerAgain(action, index, id, now)) }
      }
      const actions = entry.actions.map((action) => acceptAction(action, id, now))
      const whole = actions.every((action) => action.outcome === 'accepted')
      if (whole) addRequest(id, entry)
      else {
        const record = withOutcomes(requestOfValues(entry.id, entry.values), actions)
        addRequest(id, { ...entry, outcome: record.outcome, values: valuesOfRequest(record) })
      }
      if (isolated) flush()
      return whole ? undefined : { actions }
    },

    note(request: PlainEntry, isolated: boolean) {
      const id = blobOfId(request.id)
      if (isolated && requests.has(id)) return
      addRequest(id, request)
      if (isolated) flush()
    },

    /** Writes the rows that were collected. It fails as a whole if one of the entries was sent before. */
    flush,

    /** Forgets the rows that were collected, because their transaction was undone. */
    forget() {
      for (const { rows } of [runs, events, requests]) rows.forget()
      lookups.forget()
      uncounted = []
      late = []
    },

    /** Notes on the record that its sender was answered 503 before the commit that kept it ended. */
    refusedBeforeCommit(id: Id) {
      const place = requests.findPlace(blobOfId(id))
      if (place === undefined) return
      updateAnswer.run('its sender was answered 503, as the commit that kept it took too long', place)
    },
  }
}
