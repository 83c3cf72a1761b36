/**
 * Writes entries as flat values into one array for each post, and reads them back in the writer's thread. Cloning strings
 * out of a flat array costs a fraction of cloning objects, and each record is serialised once.
 */

import type { Dedupe, Entry, Id, Join, NewAction, NewTask, RequestRecord, TaskKind } from '../../port.ts'
import { textOfTrace } from '../../requests.ts'
import type { Flat } from '../database/rows.ts'
import { type EventValues, eventColumns, flattenEvent } from './events.ts'
import { flattenRequest, type RequestValues, requestColumns } from './requests.ts'
import { flattenRun, type RunValues, runColumns } from './runs.ts'

export interface PlainEntry {
  readonly id: string
  readonly outcome: string
  readonly values: RequestValues
  /** JSON. */
  readonly trace: string | undefined
  readonly actions: readonly PlainAction[]
}

export type PlainAction = (
  | { readonly type: 'run'; readonly values: RunValues }
  | { readonly type: 'event'; readonly values: EventValues }
) & {
  readonly id: string
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
export function flattenEntry(flat: Flat, { request, actions }: Entry): void {
  flattenTraced(flat, request)
  flat.push(actions.length)
  for (const action of actions) flattenAction(flat, action, request.id)
}

/** Appends the values of a request without actions. */
export function flattenNote(flat: Flat, request: RequestRecord): void {
  flattenTraced(flat, request)
  flat.push(0)
}

/** Few requests have a trace: it stands as a text before the number of actions. */
function flattenTraced(flat: Flat, request: RequestRecord): void {
  flat.push(request.id)
  flattenRequest(flat, request)
  if (request.trace !== undefined) flat.push(textOfTrace(request.trace))
}

/** Reads `count` entries from the start of the array. */
export function readEntries(flat: Flat, count: number): PlainEntry[] {
  let at = 0
  const next = <Value>() => flat[at++] as Value
  const take = <Value>(length: number): Value[] => {
    at += length
    return flat.slice(at - length, at) as Value[]
  }
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
  const readAction = (): PlainAction => {
    const [type, id] = [next<PlainAction['type']>(), next<string>()]
    const values = take(type === 'run' ? runColumns.length : eventColumns.length)
    return {
      type,
      id,
      values,
      dedupe: next(),
      conditions: next(),
      tasks: times(next(), readTask),
    } as PlainAction
  }
  return times(count, () => {
    const id = next<string>()
    const values = take<RequestValues[number]>(requestColumns.length)
    const given = next<string | number>()
    const trace = typeof given === 'string' ? given : undefined
    const count = typeof given === 'number' ? given : next<number>()
    return { id, outcome: values[0] as string, values, trace, actions: times(count, readAction) }
  })
}

function flattenAction(flat: Flat, action: NewAction, request: Id): void {
  const { type, record, dedupe, tasks } = action
  flat.push(type, record.id)
  if (type === 'run') flattenRun(flat, record)
  else flattenEvent(flat, record, request)
  flat.push(dedupe ?? null, conditionsOf(action), tasks.length)
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
