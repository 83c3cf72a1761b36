/** Accepts entries: a request with the records of its actions, their dedupe keys and their tasks, committed whole or not at all. */

import type { SqlValue } from '@reveille/kit'
import type { Context } from '../context.ts'
import { overLimit } from '../counters.ts'
import {
  type Acceptance,
  type Dedupe,
  type Entry,
  type Id,
  type NewAction,
  type NewTask,
  type RequestRecord,
  type RunError,
  type RunRecord,
  StoreError,
} from '../port.ts'
import { addTasks, insertTasks, isBacklog, isSessionOpen, lockLanes } from '../queue/tasks.ts'
import { changesBy, repetitionOf } from '../requests.ts'
import { type Row, tables } from '../schema.ts'
import { laneOf } from '../task-keys.ts'
import { dropOverBounds } from './bounds.ts'
import { createCoalescing, joinedTo, type PlainJoin } from './coalescing.ts'
import { indexLate } from './lookups.ts'
import { decodeString, type RowValues, rowOfEvent, rowOfRequest, rowOfRun } from './rows.ts'

type Outcome = Acceptance['actions'][number]

/** An entry as rows, in a form that can be sent to another thread. */
export interface PlainEntry {
  readonly row: RowValues
  readonly actions: readonly PlainAction[]
}

export interface PlainAction {
  readonly type: 'run' | 'event'
  readonly row: RowValues
  readonly tasks: readonly NewTask[]
  readonly dedupe?: Dedupe
  readonly join?: PlainJoin
  /** The run is refused if another one of this session is open. */
  readonly rejectsIfBusy?: string
  /** The session of a run. */
  readonly session?: string
}

const columns = Object.keys(tables.requests.columns)
const [outcomeAt = 0, mappingAt = 0, codeAt = 0, recordAt = 0, keptAt = 0] = [
  'outcome',
  'mapping',
  'code',
  'record',
  'kept',
].map((column) => columns.indexOf(column))
const urgencyAt = Object.keys(tables.events.columns).indexOf('urgency')

/** The id of an entry's request, or of an action's record. */
export const idOf = ({ row }: Pick<PlainEntry | PlainAction, 'row'>) => row[0] as Id

export function plainEntry({ request, actions }: Pick<Entry, 'request' | 'actions'>): PlainEntry {
  return { row: rowOfRequest(request), actions: actions.map(plainAction) }
}

function plainAction(action: NewAction): PlainAction {
  const { tasks, dedupe } = action
  const common = { tasks, ...(dedupe && { dedupe }) }
  if (action.type === 'event') return { type: 'event', row: rowOfEvent(action.record), ...common }
  const { record, join, busy } = action
  const { message, prompt, sessionKey, coalesce } = record
  return {
    type: 'run',
    ...common,
    row: rowOfRun(record),
    session: sessionKey,
    ...(join && { join: { ...join, deadline: coalesce?.deadline ?? join.dueAt, message, prompt } }),
    ...(busy === 'reject' && { rejectsIfBusy: sessionKey }),
  }
}

/**
 * Accepts entries, and returns for each its acceptance, the error for which it alone is refused, or undefined if all of its actions were
 * accepted. It fails as a whole if one of them is at fault, or was accepted before.
 */
export async function acceptEntries(
  tx: Context,
  entries: readonly PlainEntry[],
): Promise<(Acceptance | StoreError | undefined)[]> {
  if (entries.length === 0) return []
  const actions = entries.flatMap((entry) => entry.actions)
  const batch = await createBatch(tx, actions)
  const answers: (Acceptance | StoreError | undefined)[] = []
  for (const entry of entries) answers.push(await batch.accept(entry))
  await batch.write()
  return answers
}

async function createBatch(tx: Context, actions: readonly PlainAction[]) {
  const seen = await reserveKeys(
    tx,
    actions.flatMap(({ dedupe }) => dedupe ?? []),
  )
  const coalescing = await createCoalescing(
    tx,
    actions.flatMap(({ join }) => join?.key ?? []),
  )
  const busy = await busySessions(tx, actions)
  const planned: Planned = {
    requests: [],
    runs: [],
    events: [],
    tasks: [],
    backlog: 0,
    pending: 0,
    urgent: 0,
  }

  async function acceptAction(action: PlainAction, request: Id): Promise<Outcome> {
    const before = action.dedupe && seen.find(action.dedupe, idOf(action))
    if (before !== undefined) return before
    const outcome = await insertAction(action, request)
    if (action.dedupe !== undefined) seen.keep(action.dedupe, outcome.id, request)
    return outcome
  }

  async function insertAction(action: PlainAction, request: Id): Promise<Outcome & { readonly id: Id }> {
    const { join, rejectsIfBusy } = action
    const id = idOf(action)
    const run = join && (await coalescing.join(id, join, request))
    if (run !== undefined) {
      tx.changed('run', run, 'queued', 'accepted')
      return { outcome: 'joined', id: run }
    }
    if (rejectsIfBusy !== undefined && busy.has(rejectsIfBusy)) {
      planned.runs.push(busyRow(action.row, tx.now))
      tx.changed('run', id, 'cancelled', 'cancelled')
      return { outcome: 'busy', id }
    }
    if (join !== undefined) coalescing.begin(id, join, action.tasks[0]?.dueAt ?? join.dueAt)
    if (action.session !== undefined) busy.add(action.session)
    plan(tx, planned, action)
    return { outcome: 'accepted', id }
  }

  return {
    async accept(entry: PlainEntry): Promise<Acceptance | StoreError | undefined> {
      const refusal = whyRefused(tx, planned, entry)
      if (refusal !== undefined) return refusal
      const outcomes: Outcome[] = []
      for (const action of entry.actions) outcomes.push(await acceptAction(action, idOf(entry)))
      const isWhole = outcomes.every(({ outcome }) => outcome === 'accepted')
      planned.requests.push(isWhole ? entry : withOutcome(entry, outcomes))
      return isWhole ? undefined : { actions: outcomes }
    },

    async write(): Promise<void> {
      tx.later(tx.insert(tables.runs, planned.runs))
      tx.later(tx.insert(tables.events, planned.events))
      tx.count('pending', planned.pending)
      tx.count('pendingNow', planned.urgent)
      await coalescing.write()
      await seen.write()
      const own = planned.tasks.filter(({ subject }) => subject !== undefined)
      await insertTasks(
        tx,
        own.map((task) => ({ ...task, dueAt: coalescing.dueAt(task.subject as Id) ?? task.dueAt })),
      )
      await addTasks(
        tx,
        planned.tasks.filter(({ subject }) => subject === undefined),
      )
      await addRequests(tx, planned.requests)
    },
  }
}

/** Rows that a batch writes at its end. */
interface Planned {
  readonly requests: Pick<PlainEntry, 'row'>[]
  readonly runs: RowValues[]
  readonly events: RowValues[]
  readonly tasks: NewTask[]
  /** Additions to the counts of the same names. */
  backlog: number
  pending: number
  urgent: number
}

function plan(tx: Context, planned: Planned, { type, row, tasks }: PlainAction): void {
  if (type === 'run') {
    planned.runs.push(row)
    tx.changed('run', idOf({ row }), 'queued', 'accepted')
  } else {
    planned.events.push(row)
    tx.changed('event', idOf({ row }), 'pending')
    planned.pending += 1
    if (row[urgencyAt] === 0) planned.urgent += 1
  }
  planned.tasks.push(...tasks)
  planned.backlog += tasks.filter(({ kind }) => isBacklog(kind)).length
}

function whyRefused(
  { counters, limits }: Context,
  { backlog, pending }: Planned,
  { actions }: PlainEntry,
): StoreError | undefined {
  if (actions.length === 0) return undefined
  const refusal = overLimit(counters.backlog + backlog, 'runs and deliveries', limits)
  if (refusal !== undefined || !actions.some(({ type }) => type === 'event')) return refusal
  return overLimit(counters.pending + pending, 'events', limits)
}

async function addRequests(tx: Context, requests: readonly Pick<PlainEntry, 'row'>[]): Promise<void> {
  if (requests.length === 0) return
  const rows = requests.map(({ row }) => row)
  tx.later(tx.insert(tables.requests, rows))
  for (const request of requests) tx.changed('request', idOf(request), request.row[outcomeAt] as string)
  await dropOverBounds(
    tx,
    requests.map(({ row }) => ({ outcome: row[outcomeAt] as string, kept: row[keptAt] as number | null })),
  )
  await indexLate(tx, requests.map(idOf))
}

const busyError: RunError = {
  code: 'BUSY',
  message: 'another run of its session is queued or under way',
  retryable: true,
}

const runColumns = Object.keys(tables.runs.columns)

/** Records the run as cancelled. It gets no task. */
function busyRow(row: RowValues, now: number): RowValues {
  const changes = { stage: 'cancelled', error: busyError, cancelledAt: now }
  return row
    .with(runColumns.indexOf('state'), 'cancelled')
    .with(runColumns.indexOf('changes'), JSON.stringify(changes))
}

/** Returns those sessions that have an open task, of the actions that are refused then. */
async function busySessions(tx: Context, actions: readonly PlainAction[]): Promise<Set<string>> {
  const sessions = new Set(actions.flatMap(({ rejectsIfBusy }) => rejectsIfBusy ?? []))
  if (sessions.size > 1)
    await lockLanes(
      tx,
      [...sessions].map((session) => ({ lane: laneOf(session) })),
    )
  const busy = new Set<string>()
  for (const session of sessions) if (await isSessionOpen(tx, session)) busy.add(session)
  return busy
}

function withOutcome({ row }: PlainEntry, outcomes: readonly Outcome[]): Pick<PlainEntry, 'row'> {
  const record = JSON.parse(String(row[recordAt]))
  const mapping = row[mappingAt]
  const request = { ...record, ...(typeof mapping === 'string' && { mapping: decodeString(mapping) }) }
  const { outcome = row[outcomeAt], code = row[codeAt], ...changes } = changesBy(outcomes, request)
  const changed = row.with(recordAt, JSON.stringify({ ...record, ...changes }))
  return { row: changed.with(outcomeAt, outcome as SqlValue).with(codeAt, code as SqlValue) }
}

type DedupeRow = Omit<Row<'dedupe'>, 'until'>

const nameOf = ({ scope, key }: Pick<Dedupe, 'scope' | 'key'>) => JSON.stringify([scope, key])

/** Locks the dedupe keys of a batch and reads what they stand for. */
async function reserveKeys(tx: Context, all: readonly Dedupe[]) {
  const names = [...new Set(all.map(nameOf))]
  const rows = new Map<string, DedupeRow>()
  const fresh = new Map<string, { readonly row: DedupeRow; readonly until: number }>()
  if (names.length > 0) {
    await tx.lock(names.map((name) => `dedupe:${name}`))
    const found = await tx.all<DedupeRow>(
      `SELECT key, digest, original, request FROM dedupe WHERE key IN ${tx.dialect.among('?1', 'text')} AND until > ?2`,
      [names, tx.now],
    )
    for (const row of found) rows.set(row.key, row)
  }
  return {
    /** Returns what the action is if its key came before. */
    find(dedupe: Dedupe, id: Id): Outcome | undefined {
      const row = rows.get(nameOf(dedupe))
      if (row === undefined) return undefined
      return row.original === id ? { outcome: 'accepted', id } : repetitionOf(dedupe, row)
    },
    /** Notes what the first action with this key became. */
    keep(dedupe: Dedupe, original: Id, request: Id) {
      const key = nameOf(dedupe)
      const row = { key, digest: dedupe.bodyDigest ?? null, original, request }
      rows.set(key, row)
      fresh.set(key, { row, until: dedupe.until })
    },
    async write() {
      if (fresh.size === 0) return
      const dedupeRows = [...fresh.values()].map(({ row: { key, digest, original, request }, until }) => [
        key,
        digest,
        until,
        original,
        request,
      ])
      const deletion = `DELETE FROM dedupe WHERE key IN ${tx.dialect.among('?1', 'text')}`
      tx.later(tx.run(deletion, [[...fresh.keys()]]))
      tx.later(tx.insert(tables.dedupe, dedupeRows))
    },
  }
}

/**
 * Answers an entry that is on disk already, because its first answer was lost. Returns undefined for one that is not.
 * @throws StoreError `BAD_ENTRY` if the id of the request was used for another one
 */
export async function answerAgain(tx: Context, entry: PlainEntry): Promise<Acceptance | undefined> {
  const { actions } = entry
  const [row] = await tx.all<{ record: string }>('SELECT record FROM requests WHERE id = ?1', [idOf(entry)])
  if (row === undefined) return undefined
  const record: Pick<RequestRecord, 'actions'> = JSON.parse(row.record)
  const seen = await reserveKeys(
    tx,
    actions.flatMap(({ dedupe }) => dedupe ?? []),
  )
  const outcomes: Outcome[] = []
  for (const [index, action] of actions.entries()) {
    const outcome =
      (await insertedBefore(tx, action)) ??
      (await joinedBefore(tx, action, record.actions[index]?.id)) ??
      (action.dedupe && seen.find(action.dedupe, idOf(action)))
    if (outcome === undefined)
      throw new StoreError('BAD_ENTRY', 'the id of this request was used for another one')
    outcomes.push(outcome)
  }
  return { actions: outcomes }
}

async function insertedBefore(tx: Context, action: PlainAction): Promise<Outcome | undefined> {
  const { type } = action
  const id = idOf(action)
  if (type === 'event') {
    const [event] = await tx.all('SELECT id FROM events WHERE id = ?1', [id])
    return event === undefined ? undefined : { outcome: 'accepted', id }
  }
  const [run] = await tx.all<Pick<RunRecord, 'state'> & { changes: string | null }>(
    'SELECT state, changes FROM runs WHERE id = ?1',
    [id],
  )
  if (run === undefined) return undefined
  const { error }: Partial<RunRecord> = JSON.parse(run.changes ?? '{}')
  return { outcome: run.state === 'cancelled' && error?.code === busyError.code ? 'busy' : 'accepted', id }
}

/** `named` is what the request's record says: a run that more than 1,000 requests joined does not know all of them. */
async function joinedBefore(
  tx: Context,
  action: PlainAction,
  named: Id | undefined,
): Promise<Outcome | undefined> {
  const { join, dedupe } = action
  const id = idOf(action)
  if (join === undefined) return undefined
  const run = (await joinedTo(tx, id)) ?? (dedupe === undefined ? named : undefined)
  return run === undefined || run === id ? undefined : { outcome: 'joined', id: run }
}

/** Notes on the record that its sender was answered 503 before the commit that kept it ended. */
export async function refusedBeforeCommit(tx: Context, id: Id): Promise<void> {
  const [row] = await tx.all<{ record: string }>('SELECT record FROM requests WHERE id = ?1', [id])
  if (row === undefined) return
  const record = {
    ...JSON.parse(row.record),
    status: 503,
    reason: 'its sender was answered 503, as the commit that kept it took too long',
  }
  await tx.run('UPDATE requests SET code = ?1, record = ?2 WHERE id = ?3', [
    'STORE_UNAVAILABLE',
    JSON.stringify(record),
    id,
  ])
}
