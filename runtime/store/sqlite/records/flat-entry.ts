/**
 * Writes entries as flat values into one array for each post, and reads them back in the writer's thread. Cloning strings
 * out of a flat array costs a fraction of cloning objects, and each record is serialised once.
 */

import type { Dedupe, Entry, Join, NewAction, NewTask, RequestRecord, TaskKind } from '../../port.ts'

export type Flat = unknown[]

export interface PlainEntry {
  readonly id: string
  readonly outcome: string
  readonly endpoint: string
  readonly record: string
  readonly body: Uint8Array | null
  readonly head: string | null
  readonly actions: readonly PlainAction[]
}

export interface PlainAction {
  readonly type: 'run' | 'event'
  readonly id: string
  readonly record: string
  readonly state: string
  /** A run's kind, an event's mode. */
  readonly kind: string
  readonly session: string
  readonly dedupe: Dedupe | null
  /** What else decides whether it becomes a run of its own. Few actions have any. */
  readonly conditions: InsertionConditions | null
  readonly tasks: readonly NewTask[]
}

export interface InsertionConditions {
  readonly join?: PlainJoin
  readonly isRejectedWhenBusy: boolean
}

/** The fields of the record that coalescing needs, so that the writer does not parse it. */
export interface PlainJoin extends Join {
  readonly deadline: number
  readonly message: string
  readonly prompt: string
}

/** Appends the entry's values. */
export function flattenEntry(flat: Flat, entry: Entry): void {
  flattenRequest(flat, entry.request)
  flat.push(entry.actions.length)
  for (const action of entry.actions) flattenAction(flat, action)
}

/** Appends the values of a request without actions. */
export function flattenNote(flat: Flat, request: RequestRecord): void {
  flattenRequest(flat, request)
  flat.push(0)
}

/** Reads `count` entries from the start of the array. */
export function readEntries(flat: Flat, count: number): PlainEntry[] {
  let at = 0
  const next = <Value>() => flat[at++] as Value
  const readTask = (): NewTask => {
    const [key, kind, dueAt, lane, subject, pool] = [
      next<string>(),
      next<TaskKind>(),
      next<number>(),
      next<string | undefined>(),
      next<string | undefined>(),
      next<string | undefined>(),
    ]
    return { key, kind, dueAt, lane, subject, pool } as NewTask
  }
  const readAction = (): PlainAction => ({
    type: next(),
    id: next(),
    record: next(),
    state: next(),
    kind: next(),
    session: next(),
    dedupe: next(),
    conditions: next(),
    tasks: times(next(), readTask),
  })
  return times(count, () => ({
    id: next(),
    outcome: next(),
    endpoint: next(),
    record: next(),
    body: next(),
    head: next(),
    actions: times(next(), readAction),
  }))
}

function flattenRequest(flat: Flat, request: RequestRecord): void {
  const { id, outcome, endpoint, body, head } = request
  if (body === undefined) {
    flat.push(id, outcome, endpoint, JSON.stringify(request), null, null)
  } else {
    const record = JSON.stringify({ ...request, body: undefined, head: undefined })
    // A copy: a Buffer is a view of a pool, and cloning it would clone the whole pool.
    flat.push(id, outcome, endpoint, record, new Uint8Array(body), head ? JSON.stringify(head) : null)
  }
}

function flattenAction(flat: Flat, action: NewAction): void {
  const { type, record, dedupe, tasks } = action
  const { id, state } = record
  const [kind, session] = type === 'run' ? [record.kind, record.sessionKey] : [record.mode, record.session]
  flat.push(
    type,
    id,
    JSON.stringify(record),
    state,
    kind,
    session,
    dedupe ?? null,
    conditionsOf(action),
    tasks.length,
  )
  for (const task of tasks) flat.push(task.key, task.kind, task.dueAt, task.lane, task.subject, task.pool)
}

function conditionsOf(action: NewAction): InsertionConditions | null {
  if (action.type !== 'run' || (action.join === undefined && action.busy !== 'reject')) return null
  const { record, join } = action
  return {
    join: join && {
      ...join,
      deadline: record.coalesce?.deadline ?? join.dueAt,
      message: record.message,
      prompt: record.prompt,
    },
    isRejectedWhenBusy: action.busy === 'reject',
  }
}

function times<Item>(count: number, make: () => Item): Item[] {
  const items: Item[] = []
  for (let i = 0; i < count; i++) items.push(make())
  return items
}
