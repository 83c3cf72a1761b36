/**
 * Deletes ended history older than `keepMs`, what is over the bounds on bodies and on requests without effect, and idle sessions:
 * in small transactions, on the one node that leads the upkeep.
 *
 * A pass walks every table from its oldest row, by key, and stops at the age limit. It skips rows that are old and still
 * open. A request is deleted when nothing that it caused is left. No row is locked to be looked at: what is deleted is checked
 * again by the statement that deletes it.
 */

import {
  mostBodyBytesByDefault,
  mostWithoutEffectByDefault,
  type OutcomeWithoutEffect,
  outcomesWithoutEffect,
  withoutEffect,
} from '../counters.ts'
import { dayMs, dayOf } from '../day.ts'
import type { Id, RequestRecord, SetTimer, StoreLimits, StoreOptions } from '../port.ts'
import { firstTaskOf, laneOf } from '../tasks.ts'
import { dropBodies, dropBriefBodies, dropWithoutEffect } from './bounds.ts'
import { subtractTurns } from './forgetting.ts'
import { cancelPartialJobs } from './jobs.ts'
import type { Changing } from './parts.ts'
import { bounded } from './reader.ts'
import { type DeliveryRow, deliveryOf, firstIdOf, type RunRow, runColumns, runOf } from './rows.ts'
import { pruneSpending } from './spending.ts'

/** Milliseconds between two passes. */
const passPauseMs = 60_000
/** Milliseconds between two passes that walk tables which no index leads through by age. */
const walkPauseMs = 3_600_000
/** Milliseconds between two slices of one pass, and of one slice. */
const slicePauseMs = 20
const sliceMs = 50
/** How many rows a step examines at one time, and how many bytes of them. */
const stride = 200
const strideBytes = 4_194_304
/** How many small rows of sessions are examined or deleted at one time. */
const longStride = 1_000

/** They are read whenever they matter, because a reload changes them. */
type Limits = StoreLimits & Pick<StoreOptions, 'mostWithoutEffect'>

/** Where a step goes on. An empty key: it begins again, because it has deleted what it found. */
type Key = readonly (string | number)[]

interface Pass {
  /** Ended things from before that time are deleted. */
  readonly cutoff: number
  readonly now: number
  readonly limits: Limits
  /** Whether it is time to walk through whole tables. */
  readonly walks: boolean
}

/** Examines some rows after a key. Returns the last key it examined, or `undefined` at the end. */
type Step = (changing: Changing, after: Key | undefined, pass: Pass) => Promise<Key | undefined>

export interface RetentionOptions {
  /** Runs a transaction. Commands wait for it, so that none of them finds half of a slice done. */
  readonly transact: (run: (changing: Changing) => Promise<unknown>) => Promise<unknown>
  readonly limits: Limits
  readonly now: () => number
  readonly setTimer: SetTimer
}

export type Retention = ReturnType<typeof createRetention>

export function createRetention({ transact, limits, now, setTimer }: RetentionOptions) {
  let step = 0
  let after: Key | undefined
  let signal: AbortSignal | undefined
  let cancelTimer: (() => void) | undefined
  let slice: Promise<void> | undefined
  let beginsAgain = false
  let walkedAt = Number.NEGATIVE_INFINITY
  let walks = true

  function restart(): void {
    step = 0
    after = undefined
    walks = now() - walkedAt >= walkPauseMs
  }

  function runSoon(ms: number): void {
    cancelTimer?.()
    cancelTimer = setTimer(() => {
      slice ??= runSlice().finally(() => {
        slice = undefined
      })
    }, ms)
  }

  async function runSlice(): Promise<void> {
    const until = performance.now() + sliceMs
    try {
      while (signal?.aborted === false) {
        if (beginsAgain) restart()
        beginsAgain = false
        await transact(sweep)
        if (step === steps.length) {
          if (walks) walkedAt = now()
          break
        }
        if (performance.now() > until) return runSoon(slicePauseMs)
      }
    } catch {
      // The transaction was undone. The next pass finds what is left; the batches report that the database is gone.
    }
    restart()
    if (signal?.aborted === false) runSoon(beginsAgain ? 0 : passPauseMs)
  }

  /** Goes through the steps up to the first one that had something to delete. */
  async function sweep(changing: Changing): Promise<void> {
    const pass = { cutoff: now() - limits.keepMs, now: now(), limits, walks }
    for (let current = steps[step]; current !== undefined; current = steps[step]) {
      after = await current(changing, after, pass)
      if (after !== undefined) return
      step += 1
    }
  }

  return {
    /** Runs a pass a minute from now and every minute, until the signal says that this node no longer leads. */
    lead(until: AbortSignal) {
      signal = until
      restart()
      runSoon(passPauseMs)
    },
    /** Begins a pass at once, because less is kept than before. */
    begin() {
      if (signal?.aborted !== false) return
      beginsAgain = true
      if (slice === undefined) runSoon(0)
    },
    /** Ends after the transaction that is under way. */
    async close() {
      signal = undefined
      cancelTimer?.()
      await slice
    },
  }
}

/** Walks a table in the order of its ids, below the ids of the age limit. */
function recordStep<Row extends { readonly id: Id }>(
  select: { readonly table: string; readonly columns: readonly string[]; readonly bytes: string },
  remove: (changing: Changing, rows: readonly Row[], cutoff: number) => Promise<void>,
): Step {
  const { table, columns, bytes } = select
  const page = `SELECT ${columns.join(', ')}, ${bytes} AS bytes FROM ${table} WHERE id > $1 AND id < $2 ORDER BY id LIMIT ${stride}`
  const sql = bounded(page, columns, { most: strideBytes, order: 'id' })
  return async (changing, after, { cutoff }) => {
    const rows = await changing.query<Row & { found: number }>(sql, [
      after?.[0] ?? firstIdOf(0),
      firstIdOf(cutoff),
    ])
    const last = rows.at(-1)
    if (last === undefined) return undefined
    await remove(changing, rows, cutoff)
    return last.found < stride && rows.length === last.found ? undefined : [last.id]
  }
}

const deliveryStep = recordStep<DeliveryRow>(
  {
    table: 'deliveries',
    columns: ['id', 'state', 'channel', "'' AS text", 'record'],
    bytes: 'octet_length(record)',
  },
  async ({ query }, rows, cutoff) => {
    const old = rows.map(deliveryOf).filter(({ endedAt, createdAt }) => (endedAt ?? createdAt) < cutoff)
    if (old.length === 0) return
    await query("DELETE FROM deliveries WHERE id = ANY($1) AND state <> 'pending'", [old.map(({ id }) => id)])
  },
)

const runStep = recordStep<RunRow>(
  {
    table: 'runs',
    columns: runColumns,
    bytes: 'octet_length(asked) + coalesce(octet_length(changes), 0)',
  },
  async ({ query, send }, rows, cutoff) => {
    const old = rows
      .filter(({ state }) => state !== 'queued' && state !== 'running')
      .map(runOf)
      .filter(({ ranAt, cancelledAt, createdAt }) => (ranAt ?? cancelledAt ?? createdAt) < cutoff)
    if (old.length === 0) return
    const [tasks, deliveries] = await Promise.all([
      query<{ key: string }>('SELECT key FROM tasks WHERE key = ANY($1)', [old.map(({ id }) => `run:${id}`)]),
      query<{ id: Id }>('SELECT id FROM deliveries WHERE id = ANY($1)', [
        old.flatMap(({ deliveryIds }) => deliveryIds),
      ]),
    ])
    const open = new Set([...tasks.map(({ key }) => key), ...deliveries.map(({ id }) => id)])
    const ended = old.filter(
      ({ id, deliveryIds }) => !open.has(`run:${id}`) && !deliveryIds.some((each) => open.has(each)),
    )
    const gone = await query<{ id: Id }>(
      "DELETE FROM runs WHERE id = ANY($1) AND state NOT IN ('queued', 'running') RETURNING id",
      [ended.map(({ id }) => id)],
    )
    const ids = new Set(gone.map(({ id }) => id))
    const coalesced = ended.filter(({ id, coalesce }) => coalesce !== undefined && ids.has(id))
    if (coalesced.length === 0) return
    const runs = coalesced.map(({ id }) => id)
    send('DELETE FROM joined WHERE run = ANY($1)', [runs])
    send('DELETE FROM coalesced WHERE run = ANY($1)', [runs])
  },
)

const eventStep = recordStep<{ readonly id: Id }>(
  { table: 'events', columns: ['id'], bytes: '0' },
  async ({ query }, rows, cutoff) => {
    await query(
      'DELETE FROM events WHERE id = ANY($1) AND NOT pending AND coalesce(consumed_at, created_at) < $2',
      [rows.map(({ id }) => id), cutoff],
    )
  },
)

const requestStep = recordStep<{ readonly id: Id; readonly more: string }>(
  { table: 'requests', columns: ['id', 'more'], bytes: 'octet_length(more)' },
  async ({ query, counted }, rows) => {
    const actions = new Map(
      rows.map(({ id, more }) => [
        id,
        (JSON.parse(more) as RequestRecord).actions.map((action) => action.id),
      ]),
    )
    const named = [...actions.values()].flat()
    const left = await query<{ id: Id }>(
      'SELECT id FROM runs WHERE id = ANY($1) UNION ALL SELECT id FROM events WHERE id = ANY($1)',
      [named],
    )
    const there = new Set(left.map(({ id }) => id))
    const ended = rows.filter(({ id }) => actions.get(id)?.every((action) => !there.has(action)))
    if (ended.length === 0) return
    const ids = ended.map(({ id }) => id)
    const [gone, bodies] = await Promise.all([
      query<{ outcome: string; count: number }>(
        `WITH gone AS (DELETE FROM requests WHERE id = ANY($1) RETURNING outcome)
         SELECT outcome, count(*) AS count FROM gone GROUP BY outcome`,
        [ids],
      ),
      query<{ bytes: number }>('DELETE FROM kept WHERE request = ANY($1) RETURNING bytes', [ids]),
    ])
    for (const { outcome, count } of gone) {
      const known = withoutEffect(outcome)
      if (known !== undefined) counted(known, -count)
    }
    const bytes = bodies.reduce((sum, row) => sum + row.bytes, 0)
    if (bytes > 0) counted('bodyBytes', -bytes)
  },
)

/** Deletes what several nodes have stored over the bound: each of them knows the others' numbers a second later. */
const withoutEffectStep: Step = async (changing, _after, { limits }) => {
  const most = limits.mostWithoutEffect ?? mostWithoutEffectByDefault
  const rows = await changing.query<{ outcome: OutcomeWithoutEffect; count: number }>(
    `SELECT outcome, count(*) AS count FROM requests WHERE outcome = ANY($1) AND outcome <> 'accepted' GROUP BY outcome`,
    [outcomesWithoutEffect],
  )
  let gone = 0
  for (const { outcome, count } of rows)
    if (count > most) gone += await dropWithoutEffect(changing, outcome, count - most)
  return gone > 0 ? [] : undefined
}

/** How many sums of kept bytes are left before they are added up. */
const mostSums = 100

/** Deletes the oldest bodies over their limit and those that are kept for a short while, and adds up the sums of their bytes. */
const bodyStep: Step = async (changing, _after, { limits, now }) => {
  const [sizes] = await changing.query<{ bytes: number; sums: number }>(
    'SELECT coalesce(sum(bytes), 0)::bigint AS bytes, count(*) AS sums FROM kept_sizes',
  )
  const { bytes = 0, sums = 0 } = sizes ?? {}
  if (sums > mostSums)
    changing.send(
      `WITH gone AS (DELETE FROM kept_sizes RETURNING bytes)
       INSERT INTO kept_sizes SELECT coalesce(sum(bytes), 0)::bigint FROM gone`,
    )
  const surplus = bytes - (limits.mostBodyBytes ?? mostBodyBytesByDefault)
  if (surplus > 0 && (await dropBodies(changing, surplus, limits)) > 0) return []
  const { ignoredBodiesMs } = limits
  if (ignoredBodiesMs === undefined) return undefined
  return (await dropBriefBodies(changing, { before: firstIdOf(now - ignoredBodiesMs) })) > 0 ? [] : undefined
}

/** A summary is as old as its last message, and stays as long. */
const turnStep: Step = async ({ query, send }, _after, { cutoff }) => {
  const gone = await query<{ session: string }>(
    `DELETE FROM turns WHERE (session, seq) IN (SELECT session, seq FROM turns WHERE at < $1 ORDER BY at LIMIT ${stride})
     RETURNING session`,
    [cutoff],
  )
  subtractTurns(
    send,
    gone.map(({ session }) => session),
  )
  return gone.length < stride ? undefined : []
}

/**
 * Deletes a session with a generated key whole, once its last turn is older than `sessionIdleMs`. A session with a queued or
 * running run stays. The walk goes by the time of the last turn.
 */
const idleStep: Step = async ({ query, send }, after, { now, limits: { sessionIdleMs } }) => {
  if (sessionIdleMs === undefined) return undefined
  const [lastAt = 0, last = ''] = after ?? []
  const rows = await query<{ session: string; last_at: number }>(
    `SELECT session, last_at FROM sessions WHERE made_up AND (last_at, session) > ($1::bigint, $2::text) AND last_at < $3
     ORDER BY last_at, session LIMIT ${stride}`,
    [lastAt, last, now - sessionIdleMs],
  )
  const end = rows.at(-1)
  if (end === undefined) return undefined
  const lanes = rows.map(({ session }) => laneOf(session))
  const tasks = lanes.map((lane) => firstTaskOf(lane) ?? '')
  const found = await query<{ open: string }>(
    'SELECT lane AS open FROM lanes WHERE lane = ANY($1) UNION ALL SELECT key FROM tasks WHERE key = ANY($2)',
    [lanes, tasks],
  )
  const open = new Set(found.map((row) => row.open))
  const idle = rows
    .map(({ session }) => session)
    .filter((_, index) => !open.has(lanes[index] ?? '') && !open.has(tasks[index] ?? ''))
  if (idle.length > 0) {
    const gone = await query<{ session: string }>(
      `DELETE FROM turns WHERE (session, seq) IN (SELECT session, seq FROM turns WHERE session = ANY($1) LIMIT ${longStride})
       RETURNING session`,
      [idle],
    )
    subtractTurns(
      send,
      gone.map(({ session }) => session),
    )
    send(
      `DELETE FROM runner_states WHERE session = ANY($1)
       AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.session = runner_states.session)`,
      [idle],
    )
    if (gone.length === longStride) return [lastAt, last]
  }
  return rows.length < stride ? undefined : [end.last_at, end.session]
}

/** Deletes old runner states of sessions without turns. Most have gone with their idle sessions. */
const runnerStateStep: Step = async ({ query, send }, after, { cutoff, walks }) => {
  if (!walks) return undefined
  const [session = '', runner = ''] = after ?? []
  const rows = await query<{ session: string; runner: string; is_old: boolean }>(
    `SELECT session, runner, at < $3 AND NOT EXISTS (
       SELECT 1 FROM sessions WHERE sessions.session = runner_states.session
     ) AS is_old FROM runner_states WHERE (session, runner) > ($1::text, $2::text) ORDER BY session, runner LIMIT ${longStride}`,
    [session, runner, cutoff],
  )
  const old = rows.filter((row) => row.is_old)
  if (old.length > 0)
    send(
      `DELETE FROM runner_states USING unnest($1::text[], $2::text[]) AS old (session, runner)
       WHERE runner_states.session = old.session AND runner_states.runner = old.runner AND at < $3
       AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.session = old.session)`,
      [old.map((row) => row.session), old.map((row) => row.runner), cutoff],
    )
  const last = rows.at(-1)
  return rows.length < longStride || last === undefined ? undefined : [last.session, last.runner]
}

const dedupeStep: Step = async ({ query }, _after, { now }) => {
  const gone = await query(
    `DELETE FROM dedupe WHERE (scope, key) IN (SELECT scope, key FROM dedupe WHERE until <= $1 ORDER BY until LIMIT ${stride})
     AND until <= $1 RETURNING 1`,
    [now],
  )
  return gone.length < stride ? undefined : []
}

/** Deletes old days. Two days always stay, for a clock that is set back. */
const spentStep: Step = async ({ query }, _after, { cutoff, now }) => {
  await pruneSpending(query, dayOf(Math.max(0, Math.min(cutoff, now - 2 * dayMs))), now)
  return undefined
}

/** Deletes ended replay jobs, whose items go first, and cancels those that a dead node had begun to add. */
const jobStep: Step = async ({ query, send }, _after, { cutoff, now }) => {
  await cancelPartialJobs(query, now)
  const [job] = await query<{ id: Id }>(
    "SELECT id FROM jobs WHERE state <> 'running' AND ended_at < $1 LIMIT 1",
    [cutoff],
  )
  if (job === undefined) return undefined
  const gone = await query(
    `DELETE FROM job_items WHERE job = $1 AND number IN (
       SELECT number FROM job_items WHERE job = $1 ORDER BY number LIMIT ${longStride}
     ) RETURNING 1`,
    [job.id],
  )
  if (gone.length < longStride) send('DELETE FROM jobs WHERE id = $1', [job.id])
  return []
}

/** Deletes resolved issues. They are few. */
const issueStep: Step = async ({ query }, _after, { cutoff }) => {
  await query("DELETE FROM issues WHERE state = 'resolved' AND resolved_at < $1", [cutoff])
  return undefined
}

/** A record is deleted before what it belongs to: deliveries before their run, runs and events before their request. */
const steps: readonly Step[] = [
  deliveryStep,
  runStep,
  eventStep,
  requestStep,
  withoutEffectStep,
  bodyStep,
  turnStep,
  idleStep,
  runnerStateStep,
  dedupeStep,
  spentStep,
  jobStep,
  issueStep,
]
