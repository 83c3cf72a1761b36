/**
 * Writes accepted entries: their requests, the records of their actions, their dedupe keys and their tasks; and requests that are only
 * noted.
 *
 * A batch first locks and reads all that its entries meet, then decides for one entry after the other in memory, and then writes
 * all of them with few statements. Rows are locked in the order dedupe keys, coalesced runs, lanes, tasks.
 */

import {
  mostBodyBytesByDefault,
  mostWithoutEffectByDefault,
  type OutcomeWithoutEffect,
  refuseOverBacklog,
  refuseOverEvents,
  withoutEffect,
} from '../counters.ts'
import { repetitionOf } from '../decisions.ts'
import {
  type Acceptance,
  type Dedupe,
  type Entry,
  type EventRecord,
  type Id,
  type NewAction,
  type NewTask,
  type RequestRecord,
  type RunError,
  type RunRecord,
  StoreError,
  type StoreLimits,
  type StoreOptions,
} from '../port.ts'
import { textOfTrace, withOutcomes } from '../requests.ts'
import { dropBodies, dropWithoutEffect, isBrief } from './bounds.ts'
import { type CoalescedAction, type Coalescing, joinedTo, openBursts } from './coalescing.ts'
import { columnsOf, findRun, insertMany, insertNewEvents, insertRuns } from './effects.ts'
import type { Changing, Counted } from './parts.ts'
import {
  columnOfText,
  type RequestRow,
  requestColumns,
  requestOf,
  rowOfRequest,
  textOfColumn,
} from './rows.ts'
import {
  add,
  alreadyScheduled,
  byBytes,
  freeLanes,
  insert,
  isBacklog,
  laneColumn,
  lockLanes,
  occupied,
} from './schedule.ts'

type Outcome = Acceptance['actions'][number]

/** What this node counts, and the limits that hold now. */
export interface Counts {
  readonly counters: Readonly<Record<Counted, number>>
  readonly limits: StoreLimits & Pick<StoreOptions, 'mostWithoutEffect'>
}

const busyError: RunError = {
  code: 'BUSY',
  message: 'another run of its session is queued or under way',
  retryable: true,
}

/**
 * Accepts entries, and returns an answer for each: an acceptance, or the error of an entry that is refused alone. It fails as a
 * whole, with nothing written, if one of them is at fault, or was accepted before.
 */
export async function acceptEntries(
  tx: Changing,
  entries: readonly Entry[],
  counts: Counts,
): Promise<(Acceptance | StoreError)[]> {
  const actions = entries.flatMap((entry) => entry.actions)
  const seen = await claimKeys(tx, entries)
  const tasks = actions.flatMap((action) => action.tasks)
  const lanes = tasks.flatMap((task) => (task.subject === undefined ? [] : (laneColumn(task) ?? [])))
  const bursts = await openBursts(
    tx,
    actions.flatMap((action) => joinOf(action)?.key ?? []),
    () => lockLanes(tx, lanes),
  )
  const repeated = tasks.filter(({ subject }) => subject === undefined)
  const [busyLanes, scheduled] = await Promise.all([
    occupied(
      tx,
      actions.flatMap((action) => (isRejectedWhenBusy(action) ? lanesOf(action) : [])),
    ),
    repeated.length === 0 ? undefined : alreadyScheduled(tx, repeated),
  ])
  const batch = createBatch(tx, { seen, bursts, busyLanes: new Set(busyLanes), counts })
  const answers = entries.map((entry) => batch.accept(entry))
  await batch.write(lanes, scheduled)
  return answers
}

interface Read {
  readonly seen: SeenKeys
  readonly bursts: Coalescing
  /** Lanes with a task, those of this batch included. */
  readonly busyLanes: Set<string>
  readonly counts: Counts
}

function createBatch(tx: Changing, { seen, bursts, busyLanes, counts }: Read) {
  const requests: RequestRecord[] = []
  const runs: RunRecord[] = []
  const events: EventRecord[] = []
  const tasks: NewTask[] = []
  const joined: Id[] = []
  /** What this batch adds to the counts when it is written. */
  const planned = { backlog: 0, pending: 0 }

  /** @throws StoreError `BACKLOG`, before anything was decided */
  function refuseOverLimits(actions: readonly NewAction[]): void {
    const { counters, limits } = counts
    if (actions.length > 0) refuseOverBacklog({ backlog: counters.backlog + planned.backlog }, limits)
    if (actions.some(({ type }) => type === 'event'))
      refuseOverEvents({ pending: counters.pending + planned.pending }, limits)
  }

  function acceptAction(action: NewAction, request: Id): Outcome {
    const { dedupe, record } = action
    const before = dedupe && seen.find(dedupe, record.id)
    if (before !== undefined) return before
    const outcome = insertAction(action, request)
    if (dedupe !== undefined) seen.keep(dedupe, outcome.id, request)
    return outcome
  }

  function insertAction(action: NewAction, request: Id): Outcome & { readonly id: Id } {
    const { id } = action.record
    const coalesced = action.type === 'run' ? coalescedActionOf(action, request) : undefined
    const run = coalesced && bursts.join(coalesced)
    if (run !== undefined) {
      joined.push(run)
      return { outcome: 'joined', id: run }
    }
    if (isRejectedWhenBusy(action) && lanesOf(action).some((lane) => busyLanes.has(lane))) {
      runs.push({
        ...(action.record as RunRecord),
        state: 'cancelled',
        stage: 'cancelled',
        error: busyError,
        cancelledAt: tx.now,
      })
      return { outcome: 'busy', id }
    }
    if (coalesced !== undefined) bursts.begin(coalesced, action.tasks[0]?.dueAt ?? coalesced.join.dueAt)
    if (action.type === 'run') runs.push(action.record)
    else events.push(action.record)
    tasks.push(...action.tasks)
    for (const task of action.tasks) {
      if (task.lane !== undefined) busyLanes.add(task.lane)
      // Its own session waits for a first run that has no lane yet.
      else if (action.type === 'run') busyLanes.add(`session:${action.record.sessionKey}`)
    }
    planned.backlog += action.tasks.filter(({ kind }) => isBacklog(kind)).length
    if (action.type === 'event') planned.pending += 1
    return { outcome: 'accepted', id }
  }

  return {
    accept({ request, actions }: Entry): Acceptance | StoreError {
      try {
        refuseOverLimits(actions)
      } catch (error) {
        return error as StoreError
      }
      const outcomes = actions.map((action) => acceptAction(action, request.id))
      const isWhole = outcomes.every(({ outcome }) => outcome === 'accepted')
      requests.push(isWhole ? request : withOutcomes(request, outcomes))
      return { actions: outcomes }
    },

    async write(lanes: readonly string[], scheduled: ReadonlySet<string> | undefined): Promise<void> {
      insertRuns(tx, runs)
      insertNewEvents(tx, events)
      for (const run of joined) tx.changed('run', run, 'queued', 'accepted')
      const waiting = bursts.write()
      const own = tasks.filter(({ subject }) => subject !== undefined)
      const inserted = insert(
        tx,
        own.map((task) => ({ ...task, dueAt: bursts.dueAt(task.subject) ?? task.dueAt })),
        { mayBeThere: false },
      )
      const used = new Set(own.flatMap((task) => laneColumn(task) ?? []))
      freeLanes(
        tx,
        lanes.filter((lane) => !used.has(lane)),
      )
      const others = tasks.filter(({ key, subject }) => subject === undefined && scheduled?.has(key) !== true)
      seen.write()
      await Promise.all([waiting, inserted])
      await add(tx, others)
      await addRequests(tx, requests, counts)
    },
  }
}

/** Writes requests that are only noted. */
export function noteRequests(
  tx: Changing,
  requests: readonly RequestRecord[],
  counts: Counts,
): Promise<void> {
  return addRequests(tx, requests, counts)
}

const insertRequestsSql = insertMany('requests', requestColumns, [
  'uuid',
  'text',
  'text',
  'int',
  'bigint',
  'text',
  'text',
  'text',
  'text',
  'uuid',
  'bigint',
  'text',
  'text',
  'text',
])

/** Inserts requests with what is kept of them, and deletes the oldest ones that are over a bound. */
async function addRequests(tx: Changing, requests: readonly RequestRecord[], counts: Counts): Promise<void> {
  if (requests.length === 0) return
  tx.send(insertRequestsSql, columnsOf(requests.map(rowOfRequest), requestColumns))
  for (const { id, outcome } of requests) tx.changed('request', id, outcome)
  let bytes = 0
  for (const request of requests) bytes += keep(tx, request)
  tx.counted('bodyBytes', bytes)
  const added = new Map<OutcomeWithoutEffect, number>()
  for (const { outcome } of requests) {
    const known = withoutEffect(outcome)
    if (known !== undefined) added.set(known, (added.get(known) ?? 0) + 1)
  }
  const { counters, limits } = counts
  for (const [outcome, count] of added) {
    tx.counted(outcome, count)
    const surplus = counters[outcome] - (limits.mostWithoutEffect ?? mostWithoutEffectByDefault)
    // Two go for each one that comes, so that a surplus shrinks.
    if (surplus > 0) await dropWithoutEffect(tx, outcome, Math.min(surplus, 2 * count))
  }
  const over = counters.bodyBytes - (limits.mostBodyBytes ?? mostBodyBytesByDefault)
  if (over > 0) await dropBodies(tx, over, limits)
}

/** Keeps body, head and trace of a request. Returns how many bytes they take. */
function keep({ send }: Changing, { id, outcome, body, head, trace }: RequestRecord): number {
  if (body === undefined && trace === undefined) return 0
  const headText = body === undefined || head === undefined ? null : JSON.stringify(head)
  const traceText = trace === undefined ? null : textOfTrace(trace)
  const bytes =
    (body?.byteLength ?? 0) + Buffer.byteLength(headText ?? '') + Buffer.byteLength(traceText ?? '')
  send('INSERT INTO kept (request, bytes, body, head, trace, brief) VALUES ($1, $2, $3, $4, $5, $6)', [
    id,
    bytes,
    body === undefined ? null : Buffer.from(body.buffer, body.byteOffset, body.byteLength),
    headText,
    traceText,
    isBrief(outcome),
  ])
  return bytes
}

interface DedupeRow {
  readonly scope: string
  readonly key: string
  readonly digest: string | null
  readonly original: Id
  readonly request: Id
}

interface SeenKeys {
  /** Returns what the action is if its key came before. */
  find(dedupe: Dedupe, id: Id): Outcome | undefined
  /** Notes what the first action with this key became. */
  keep(dedupe: Dedupe, original: Id, request: Id): void
  /** Corrects what was written ahead. */
  write(): void
}

const nameOf = ({ scope, key }: Pick<Dedupe, 'scope' | 'key'>) => JSON.stringify([scope, key])

/**
 * Writes the dedupe keys of entries as if all actions were accepted, sorted, and reads what stands there then. Two nodes that see a
 * key for the first time meet at its row, and the second one waits.
 */
async function claimKeys(tx: Changing, entries: readonly Entry[]): Promise<SeenKeys> {
  /** The rows as they are after what this batch has decided so far. */
  const rows = new Map<string, DedupeRow>()
  /** Keys that came for the first time, with what was written for them ahead. */
  const fresh = new Map<string, { readonly dedupe: Dedupe; readonly id: Id; readonly request: Id }>()
  /** What has to be written instead. */
  const decided = new Map<string, DedupeRow>()

  async function load(): Promise<void> {
    const wanted = new Map<string, { readonly dedupe: Dedupe; readonly id: Id; readonly request: Id }>()
    for (const { request, actions } of entries) {
      for (const { dedupe, record } of actions) {
        if (dedupe !== undefined && !wanted.has(nameOf(dedupe)))
          wanted.set(nameOf(dedupe), { dedupe, id: record.id, request: request.id })
      }
    }
    if (wanted.size === 0) return
    const sorted = [...wanted.values()].sort(
      (a, b) => byBytes(a.dedupe.scope, b.dedupe.scope) || byBytes(a.dedupe.key, b.dedupe.key),
    )
    const keys = [
      sorted.map(({ dedupe }) => columnOfText(dedupe.scope)),
      sorted.map(({ dedupe }) => columnOfText(dedupe.key)),
    ]
    const written = tx.query<Pick<DedupeRow, 'scope' | 'key'>>(
      `INSERT INTO dedupe AS d (scope, key, digest, until, original, request)
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::uuid[], $6::uuid[])
       ON CONFLICT (scope, key) DO UPDATE SET digest = excluded.digest, until = excluded.until, original = excluded.original,
       request = excluded.request WHERE d.until <= $7 RETURNING scope, key`,
      [
        ...keys,
        sorted.map(({ dedupe }) => dedupe.bodyDigest ?? null),
        sorted.map(({ dedupe }) => Math.round(dedupe.until)),
        sorted.map(({ id }) => id),
        sorted.map(({ request }) => request),
        tx.now,
      ],
    )
    const found = await tx.query<DedupeRow>(
      `SELECT d.scope, d.key, d.digest, d.original, d.request
       FROM unnest($1::text[], $2::text[]) AS wanted (scope, key) JOIN dedupe AS d ON d.scope = wanted.scope AND d.key = wanted.key`,
      keys,
    )
    for (const row of found) rows.set(nameOfRow(row), row)
    for (const row of await written) {
      const name = nameOfRow(row)
      const own = wanted.get(name)
      if (own !== undefined) fresh.set(name, own)
      rows.delete(name)
    }
  }

  await load()
  return {
    find(dedupe, id) {
      const row = rows.get(nameOf(dedupe))
      return row && seenOutcome(dedupe, row, id)
    },
    keep({ scope, key, bodyDigest }, original, request) {
      const row = { scope, key, digest: bodyDigest ?? null, original, request }
      rows.set(nameOf(row), row)
      decided.set(nameOf(row), row)
    },
    write() {
      for (const [name, { dedupe, id, request }] of fresh) {
        const keys = [columnOfText(dedupe.scope), columnOfText(dedupe.key)]
        const row = decided.get(name)
        if (row === undefined) tx.send('DELETE FROM dedupe WHERE scope = $1 AND key = $2', keys)
        else if (row.original !== id || row.request !== request)
          tx.send(
            'UPDATE dedupe SET digest = $3, original = $4, request = $5 WHERE scope = $1 AND key = $2',
            [...keys, row.digest, row.original, row.request],
          )
      }
    },
  }
}

function nameOfRow({ scope, key }: Pick<DedupeRow, 'scope' | 'key'>): string {
  return nameOf({ scope: textOfColumn(scope), key: textOfColumn(key) })
}

function seenOutcome(dedupe: Dedupe, row: DedupeRow, id: Id): Outcome {
  return row.original === id ? { outcome: 'accepted', id } : repetitionOf(dedupe, row)
}

/**
 * Answers an entry that is stored already, because its first answer was lost. Returns `undefined` for one that is not.
 * @throws StoreError `BAD_ENTRY` if its id was used for another entry
 */
export async function answerAgain(
  tx: Changing,
  { request, actions }: Entry,
): Promise<Acceptance | undefined> {
  const [row] = await tx.query<RequestRow>(
    `SELECT ${requestColumns.join(', ')} FROM requests WHERE id = $1`,
    [request.id],
  )
  if (row === undefined) return undefined
  const stored = requestOf(row)
  const outcomes: Outcome[] = []
  for (const [index, action] of actions.entries())
    outcomes.push(await becameOf(tx, action, stored.actions[index]?.id))
  return { actions: outcomes }
}

/** `named` is what the stored request says that the action became. */
async function becameOf(tx: Changing, action: NewAction, named: Id | undefined): Promise<Outcome> {
  const { id } = action.record
  if (action.type === 'event') {
    const [event] = await tx.query('SELECT 1 FROM events WHERE id = $1', [id])
    if (event !== undefined) return { outcome: 'accepted', id }
  } else {
    const run = await findRun(tx, id)
    const wasBusy = run?.state === 'cancelled' && run.error?.code === busyError.code
    if (run !== undefined) return { outcome: wasBusy ? 'busy' : 'accepted', id }
  }
  const { dedupe } = action
  const run = joinOf(action) && ((await joinedTo(tx.query, id)) ?? (dedupe === undefined ? named : undefined))
  if (run !== undefined && run !== id) return { outcome: 'joined', id: run }
  const [seen] =
    dedupe === undefined
      ? []
      : await tx.query<DedupeRow>(
          'SELECT scope, key, digest, original, request FROM dedupe WHERE scope = $1 AND key = $2 AND until > $3',
          [columnOfText(dedupe.scope), columnOfText(dedupe.key), tx.now],
        )
  if (dedupe !== undefined && seen !== undefined) return seenOutcome(dedupe, seen, id)
  throw new StoreError('BAD_ENTRY', 'the id of this request was used for another one')
}

/** Leaves out requests that are stored already. */
export async function missingRequests(
  { query }: Pick<Changing, 'query'>,
  requests: readonly RequestRecord[],
): Promise<RequestRecord[]> {
  const rows = await query<{ id: Id }>('SELECT id FROM requests WHERE id = ANY($1::uuid[])', [
    requests.map(({ id }) => id),
  ])
  const stored = new Set(rows.map(({ id }) => id))
  return requests.filter(({ id }) => !stored.has(id))
}

/** Notes on the record that its sender was answered 503 before the commit that kept it ended. */
export async function refusedBeforeCommit(tx: Changing, id: Id): Promise<void> {
  const [row] = await tx.query<RequestRow>(
    `SELECT ${requestColumns.join(', ')} FROM requests WHERE id = $1 FOR UPDATE`,
    [id],
  )
  if (row === undefined) return
  const reason = 'its sender was answered 503, as the commit that kept it took too long'
  const { status, code, more } = rowOfRequest({
    ...requestOf(row),
    status: 503,
    code: 'STORE_UNAVAILABLE',
    reason,
  })
  tx.send('UPDATE requests SET status = $2, code = $3, more = $4 WHERE id = $1', [id, status, code, more])
}

function joinOf(action: NewAction) {
  return action.type === 'run' ? action.join : undefined
}

function coalescedActionOf(
  { record, join }: NewAction & { type: 'run' },
  request: Id,
): CoalescedAction | undefined {
  if (join === undefined) return undefined
  const { id, message, prompt, coalesce } = record
  return { id, request, join, deadline: coalesce?.deadline ?? join.dueAt, message, prompt }
}

function isRejectedWhenBusy(action: NewAction): boolean {
  return action.type === 'run' && action.busy === 'reject'
}

function lanesOf({ tasks }: NewAction): string[] {
  return tasks.flatMap(({ lane }) => lane ?? [])
}
