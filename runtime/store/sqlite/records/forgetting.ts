/**
 * Erases what requests brought, wherever it went: bodies, traces, the texts of events, runs and deliveries, and turns of sessions.
 * The records stay, without their texts.
 */

import {
  type Command,
  type CommandResult,
  type Id,
  type RequestRecord,
  type RunRecord,
  StoreError,
} from '../../port.ts'
import { heartbeatKey } from '../../tasks.ts'
import { blobOfId, createRowFinder, idOfBlob, isId, placeOfBlob } from '../database/ids.ts'
import type { Parts } from '../parts.ts'
import { bytesInRow } from './counters.ts'
import type { EventRow } from './events.ts'
import type { RequestRow } from './requests.ts'
import { type RunRow, runColumns, runOf } from './runs.ts'
import { createSessions } from './sessions.ts'

/** How many requests one command forgets. */
const mostRequests = 500
/** How many free pages are overwritten at one time: 16 MiB. */
const mostPages = 4_096
const pageBytes = 4_096

/** What became of one request. */
interface Consequences {
  readonly runs: Map<Id, RunRecord>
  readonly events: Map<Id, FoundEvent>
  readonly showedBy: ShowedBy
}

/** The heartbeats that showed each event without success. */
type ShowedBy = ReadonlyMap<Id, readonly Id[]>

type FoundRequest = Pick<RequestRow, 'outcome' | 'actions'> & {
  readonly place: number
  readonly bytes: number
}
type FoundEvent = Pick<EventRow, 'pending' | 'urgency' | 'consumed_by'> & { readonly place: number }

export function createForgetting(parts: Parts) {
  let erasure: ReturnType<typeof prepareErasure> | undefined

  return ({ requests, at }: Command & { readonly type: 'forget' }): CommandResult => {
    if (requests.length > mostRequests)
      throw new StoreError('BAD_ENTRY', `a command forgets at most ${mostRequests} requests`)
    erasure ??= prepareErasure(parts)
    const refused: { id: Id; reason: string }[] = []
    const showedBy = erasure.unsuccessfulHeartbeats(requests)
    // Else SQLite would leave long texts in the pages that it frees.
    parts.db.exec('PRAGMA secure_delete = ON')
    try {
      for (const id of requests) {
        const reason = erasure.forget(id, at, showedBy)
        if (reason !== undefined) refused.push({ id, reason })
      }
      erasure.wipeFreePages()
    } finally {
      parts.db.exec('PRAGMA secure_delete = FAST')
    }
    const done = requests.length - refused.length
    return refused.length === 0 ? { ok: true, done } : { ok: true, done, refused }
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
    `UPDATE requests SET more = json_insert(coalesce(more, '{}'), '$.forgottenAt', ?) WHERE place = ?`,
  )
  // With the second condition SQLite uses the partial index, so that the succeeded runs are not walked through.
  const selectHeartbeats = db.prepare(
    `SELECT id, ${runColumns.join(', ')} FROM runs
     WHERE state IN ('running', 'failed', 'timed-out', 'cancelled', 'parked') AND state <> 'queued' AND state <> 'succeeded'
     AND kind = 'heartbeat' AND place > ?`,
  )

  /** Follows a request to everything that shows something of it. */
  function follow(actions: RequestRecord['actions'], showedBy: ShowedBy): Consequences {
    const found: Consequences = { runs: new Map(), events: new Map(), showedBy }
    for (const { kind, id, duplicateOf } of actions) {
      // What a duplicate names belongs to an earlier request.
      if (duplicateOf !== undefined) continue
      if (kind === 'agent') followRun(id, found)
      else followEvent(id, found)
    }
    return found
  }

  function followRun(id: Id, found: Consequences): void {
    const run = found.runs.has(id) ? undefined : runs.find(id)
    if (run === undefined) return
    found.runs.set(id, run)
    if (run.summaryEventId !== undefined) followEvent(run.summaryEventId, found)
  }

  /** The heartbeat that consumed an event has shown its text, and so has one that failed before. */
  function followEvent(id: Id, found: Consequences): void {
    const blob = blobOfId(id)
    const event = found.events.has(id) ? undefined : findEvent(blob)
    if (event === undefined) return
    found.events.set(id, event)
    if (event.consumed_by !== null) followRun(idOfBlob(event.consumed_by), found)
    for (const heartbeat of found.showedBy.get(id) ?? []) followRun(heartbeat, found)
  }

  /** Returns why what became of a request cannot be erased now. */
  function obstacle({ runs, events }: Consequences): string | undefined {
    for (const { id, kind, state, deliveryIds } of runs.values()) {
      const isOpen = state === 'queued' || state === 'running' || schedule.stateOf(`run:${id}`) !== 'gone'
      if (isOpen && kind === 'heartbeat') return `the heartbeat ${id}, which shows it, is under way`
      if (isOpen) return `its run ${id} is ${state}`
      const unsent = deliveryIds.find((each) => deliveries.find(each)?.state === 'pending')
      if (unsent !== undefined) return `the delivery ${unsent} is not sent yet`
    }
    const isPending = [...events.values()].some(({ pending }) => pending !== null)
    if (isPending && schedule.stateOf(heartbeatKey) === 'claimed') return 'a heartbeat is under way'
    return undefined
  }

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

    /** Finds heartbeats by the events of these requests. Only the one that consumed an event is named by it. */
    unsuccessfulHeartbeats(requests: readonly Id[]): ShowedBy {
      const oldest = requests.filter(isId).toSorted()[0]
      const rows = oldest === undefined ? [] : selectHeartbeats.all(placeOfBlob(blobOfId(oldest)))
      const showedBy = new Map<Id, Id[]>()
      for (const { id, eventIds = [] } of (rows as unknown as RunRow[]).map(runOf)) {
        for (const event of eventIds) showedBy.set(event, [...(showedBy.get(event) ?? []), id])
      }
      return showedBy
    },

    /** Returns why a request was not forgotten. */
    forget(id: Id, at: number, showedBy: ShowedBy): string | undefined {
      const request = isId(id) ? findRequest(blobOfId(id)) : undefined
      if (request === undefined) return 'there is no such request on disk'
      const { place, bytes, outcome } = request
      const found = follow(request.actions === null ? [] : JSON.parse(request.actions), showedBy)
      const reason = obstacle(found)
      if (reason !== undefined) return reason
      for (const run of found.runs.values()) eraseRun(run, at)
      for (const [event, row] of found.events) events.forget(event, row, at)
      bounds.forget(place, bytes)
      markRequest.run(at, place)
      changed('request', id, outcome)
      return undefined
    },
  }
}
