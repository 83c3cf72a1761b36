/** Turns events into rows and back, and writes what becomes of them. */

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Effects, EventRecord, Id } from '../../port.ts'
import { blobOfId, createPlaceFinder, createPresence, idOfBlob, placeOfBlob } from '../database/ids.ts'
import { createRowWriter, type Flat } from '../database/rows.ts'
import type { NoteChange } from './change-list.ts'
import type { Counters } from './counters.ts'
import { columnsOfPrompt, type PromptColumns, promptOf } from './prompts.ts'

/** The columns of an event after its place and its id, in the order of `flattenEvent`. */
export const eventColumns = [
  'pending',
  'urgency',
  'text',
  'prompt',
  'text_at',
  'trusted',
  'session',
  'request',
  'run',
  'endpoint',
  'mapping',
  'generation',
  'created_at',
  'consumed_at',
  'consumed_by',
] as const

export interface EventRow extends PromptColumns {
  readonly id: Uint8Array
  /** 1, or null for an event that was consumed. */
  readonly pending: 1 | null
  /** 0 for an event that asks for a heartbeat now, 1 for one that waits for the next. */
  readonly urgency: 0 | 1
  readonly trusted: 0 | 1
  readonly session: string
  /** The request or the run that posted it. */
  readonly request: Uint8Array | null
  readonly run: Uint8Array | null
  readonly endpoint: string | null
  readonly mapping: string | null
  readonly generation: number
  readonly created_at: number
  readonly consumed_at: number | null
  readonly consumed_by: Uint8Array | null
  /** Written when the event is forgotten. */
  readonly forgotten_at?: number | null
}

/** The values of `eventColumns`, with ids as texts. The request is `true` if it is that of the same entry. */
export type EventValues = readonly (string | number | null | Uint8Array | true)[]

/** Appends the values of `eventColumns`. */
export function flattenEvent(flat: Flat, event: EventRecord, ownRequest?: Id): void {
  const [text, prompt, textAt] = columnsOfPrompt(event.text, event.prompt)
  const { requestId, runId } = event.origin
  flat.push(
    event.state === 'pending' ? 1 : null,
    event.mode === 'now' ? 0 : 1,
    text,
    prompt,
    textAt,
    event.trusted ? 1 : 0,
    event.session,
    requestId === undefined ? null : requestId === ownRequest || requestId,
    runId ?? null,
    event.endpoint ?? null,
    event.mapping ?? null,
    event.generation,
    event.createdAt,
    event.consumedAt ?? null,
    event.consumedBy ?? null,
  )
}

export function eventOf(row: EventRow): EventRecord {
  const { text, prompt } = promptOf(row)
  return {
    id: idOfBlob(row.id),
    session: row.session,
    state: row.pending === null ? 'consumed' : 'pending',
    text,
    prompt,
    mode: row.urgency === 0 ? 'now' : 'next-heartbeat',
    trusted: row.trusted === 1,
    origin: {
      ...(row.request !== null && { requestId: idOfBlob(row.request) }),
      ...(row.run !== null && { runId: idOfBlob(row.run) }),
    },
    ...(row.endpoint !== null && { endpoint: row.endpoint }),
    ...(row.mapping !== null && { mapping: row.mapping }),
    generation: row.generation,
    createdAt: row.created_at,
    ...(row.consumed_at !== null && { consumedAt: row.consumed_at }),
    ...(row.consumed_by !== null && { consumedBy: idOfBlob(row.consumed_by) }),
    ...(row.forgotten_at != null && { forgottenAt: row.forgotten_at }),
  }
}

export type Events = ReturnType<typeof createEvents>

const [pendingAt, urgencyAt] = [eventColumns.indexOf('pending'), eventColumns.indexOf('urgency')]
const idsAt = (['request', 'run', 'consumed_by'] as const).map((name) => eventColumns.indexOf(name))

export function createEvents(db: DatabaseSync, counters: Counters, changed: NoteChange) {
  const findPlace = createPlaceFinder(db, 'events')
  const isThere = createPresence(db, 'events')
  const rows = createRowWriter(db, 'events', ['place', 'id', ...eventColumns])
  const consume = db.prepare(
    `UPDATE events SET pending = NULL, consumed_at = ?, consumed_by = ?
     WHERE place = ? AND pending = 1 RETURNING urgency`,
  )
  const forget = db.prepare(
    `UPDATE events SET text = '', prompt = '', text_at = 0, pending = NULL, consumed_at = ifnull(consumed_at, ?1),
     forgotten_at = ifnull(forgotten_at, ?1) WHERE place = ?2`,
  )

  function countPending(urgency: unknown, by: 1 | -1): void {
    counters.pending += by
    if (urgency === 0) counters.pendingNow += by
  }

  return {
    rows,
    has: isThere,

    /** Takes the values of `eventColumns`. The row is written with the next flush. */
    add(id: Id, values: EventValues, ownRequest?: Uint8Array) {
      const blob = blobOfId(id)
      const row = values.slice() as SQLInputValue[]
      for (const at of idsAt) {
        const value = values[at]
        if (value === true) row[at] = ownRequest ?? null
        else if (typeof value === 'string') row[at] = blobOfId(value)
      }
      rows.add(placeOfBlob(blob), blob, ...row)
      const isPending = values[pendingAt] === 1
      if (isPending) countPending(values[urgencyAt], 1)
      changed('event', id, isPending ? 'pending' : 'consumed')
    },

    /** Writes an event at once. Does nothing if it is there already. */
    insert(event: EventRecord) {
      if (isThere(blobOfId(event.id))) return
      const values: Flat = []
      flattenEvent(values, event)
      this.add(event.id, values as EventValues)
      rows.flush()
    },

    consume({ by, at, events }: NonNullable<Effects['consume']>) {
      const consumer = blobOfId(by)
      for (const id of events) {
        const place = findPlace(blobOfId(id))
        const row = place === undefined ? undefined : consume.get(at, consumer, place)
        if (row === undefined) continue
        countPending(row['urgency'], -1)
        changed('event', id, 'consumed')
      }
    },

    /** Erases the texts of an event. If it is pending it is consumed, so that no heartbeat shows an empty one. */
    forget(
      id: Id,
      { place, pending, urgency }: Pick<EventRow, 'pending' | 'urgency'> & { readonly place: number },
      at: number,
    ) {
      forget.run(at, place)
      if (pending !== null) countPending(urgency, -1)
      changed('event', id, 'consumed')
    },
  }
}
