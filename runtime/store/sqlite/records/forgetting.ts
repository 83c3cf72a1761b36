/**
 * Erases what requests brought, wherever it went: bodies, traces, the texts of events, runs and deliveries, and turns of sessions.
 * The records stay, without their texts.
 */

import {
  doneBut,
  follow,
  refuseOverMostForgotten,
  type ShowedBy,
  type ShownEvent,
  showedByOf,
  whyNotErase,
} from '../../decisions.ts'
import { isId } from '../../id.ts'
import type { Command, CommandResult, Id, RunRecord } from '../../port.ts'
import { blobOfId, createRowFinder, idOfBlob, placeOfBlob } from '../database/ids.ts'
import type { Parts } from '../parts.ts'
import { bytesInRow } from './counters.ts'
import type { EventRow } from './events.ts'
import type { RequestRow } from './requests.ts'
import { type RunRow, runColumns, runOf } from './runs.ts'
import { createSessions } from './sessions.ts'

/** How many free pages are overwritten at one time: 16 MiB. */
const mostPages = 4_096
const pageBytes = 4_096

type FoundRequest = Pick<RequestRow, 'outcome' | 'actions'> & {
  readonly place: number
  readonly bytes: number
}
type FoundEvent = Pick<EventRow, 'pending' | 'urgency' | 'consumed_by'> & {
  readonly place: number
} & ShownEvent

type Forget = Command & { readonly type: 'forget' }

export function createForgetting(parts: Parts) {
  let erasure: ReturnType<typeof prepareErasure> | undefined

  return ({ requests, at, by }: Forget): CommandResult => {
    refuseOverMostForgotten(requests.length)
    erasure ??= prepareErasure(parts)
    const refused: { id: Id; reason: string }[] = []
    const showedBy = erasure.unsuccessfulHeartbeats(requests)
    // Else SQLite would leave long texts in the pages that it frees.
    parts.db.exec('PRAGMA secure_delete = ON')
    try {
      for (const id of requests) {
        const reason = erasure.forget(id, { at, by }, showedBy)
        if (reason !== undefined) refused.push({ id, reason })
      }
      erasure.wipeFreePages()
    } finally {
      parts.db.exec('PRAGMA secure_delete = FAST')
    }
    return doneBut(requests.length, refused)
  }
}

function prepareErasure({
  db,
  bounds,
  schedule,
  runs,
  events,
  deliveries,
  histories,
  coalescing,
  changed,
}: Parts) {
  const sessions = createSessions(db, histories)
  const findRequest = createRowFinder<FoundRequest>(db, 'requests', [
    'place',
    'outcome',
    'actions',
    `${bytesInRow} AS bytes`,
  ])
  const findEvent = createRowFinder<FoundEvent>(db, 'events', ['place', 'pending', 'urgency', 'consumed_by'])
  const markRequest = db.prepare(
    `UPDATE requests SET more = json_patch(?, coalesce(more, '{}')) WHERE place = ?`,
  )
  // With the second condition SQLite uses the partial index, so that the succeeded runs are not walked through.
  const selectHeartbeats = db.prepare(
    `SELECT id, ${runColumns.join(', ')} FROM runs
     WHERE state IN ('running', 'failed', 'timed-out', 'cancelled', 'parked') AND state <> 'queued' AND state <> 'succeeded'
     AND kind = 'heartbeat' AND place > ?`,
  )

  function shownEvent(id: Id): FoundEvent | undefined {
    const row = findEvent(blobOfId(id))
    if (row === undefined) return undefined
    const consumedBy = row.consumed_by === null ? undefined : idOfBlob(row.consumed_by)
    return { ...row, isPending: row.pending !== null, consumedBy }
  }

  const isUnsent = (id: Id) => deliveries.find(id)?.state === 'pending'

  function eraseRun({ id, sessionKey, deliveryIds }: RunRecord, at: number): void {
    runs.forget(id, at)
    coalescing.forget(id)
    sessions.forget(sessionKey, id)
    for (const each of deliveryIds) deliveries.forget(each, at)
  }

  const countFreePages = db.prepare('PRAGMA freelist_count')
  const fillPages = db.prepare('INSERT INTO probe VALUES (zeroblob(?))')
  const freePages = db.prepare('DELETE FROM probe')

  return {
    /** Overwrites the pages that earlier commits freed: each change of a run with a long text leaves an older copy in some. */
    wipeFreePages() {
      const count = Number(countFreePages.get()?.['freelist_count'])
      if (count === 0 || count > mostPages) return
      fillPages.run(count * pageBytes)
      freePages.run()
    },

    /** Finds heartbeats by the events of these requests. */
    unsuccessfulHeartbeats(requests: readonly Id[]): ShowedBy {
      const oldest = requests.filter(isId).toSorted()[0]
      const rows = oldest === undefined ? [] : selectHeartbeats.all(placeOfBlob(blobOfId(oldest)))
      return showedByOf((rows as unknown as RunRow[]).map(runOf))
    },

    /** Returns why a request was not forgotten. */
    forget(id: Id, { at, by }: Pick<Forget, 'at' | 'by'>, showedBy: ShowedBy): string | undefined {
      const request = isId(id) ? findRequest(blobOfId(id)) : undefined
      if (request === undefined) return 'there is no such request on disk'
      const { place, bytes, outcome } = request
      const actions = request.actions === null ? [] : JSON.parse(request.actions)
      const found = follow(actions, { run: runs.find, event: shownEvent, showedBy })
      const reason = whyNotErase(found, schedule.stateOf, isUnsent)
      if (reason !== undefined) return reason
      for (const run of found.runs.values()) eraseRun(run, at)
      for (const [event, row] of found.events) events.forget(event, row, at)
      bounds.forget(place, bytes)
      markRequest.run(JSON.stringify({ forgottenAt: at, forgottenBy: by }), place)
      changed('request', id, outcome)
      return undefined
    },
  }
}
