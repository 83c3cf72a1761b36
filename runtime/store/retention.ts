/**
 * Deletes ended history older than `keepMs`, and bodies over their limit, in slices of a few milliseconds.
 *
 * A pass walks every table from its oldest row, by id, and stops at the age limit. It skips rows that are old and still open. A request
 * is deleted when nothing that it caused is left.
 */

import type { Table } from '@reveille/kit'
import type { Context } from './context.ts'
import { dayMs, dayOf } from './day.ts'
import { idOfTime } from './id.ts'
import type { Id, RequestRecord, RunRecord } from './port.ts'
import { countRemoved, dropBodies, dropBriefBodies } from './records/bounds.ts'
import { dropLookups, indexSome } from './records/lookups.ts'
import { type DeliveryRow, deliveryOf, type RunRow, runOf, wholeRun } from './records/rows.ts'
import { subtractTurns } from './records/sessions.ts'
import { pruneCosts } from './records/spending.ts'
import { tables } from './schema.ts'
import { generatedSessionKey, laneOf } from './task-keys.ts'

/** Milliseconds between two passes. */
const passPauseMs = 60_000
/** Milliseconds between two slices of one pass. */
const slicePauseMs = 20
/** Maximum time that a batch keeps a transaction open. Milliseconds. */
const sliceMs = 2
/** Number of rows that a step examines at one time. */
const stride = 20
/** Number of turns deleted at one time: a session may have very many, each with long messages. */
const maxTurns = 100

/**
 * Examines up to `stride` rows after the id `after`. Returns the id of the last one, or undefined at the end. A step that deletes its
 * rows returns the empty string while there may be more.
 */
type Step = (tx: Context, after: string, cutoff: number) => Promise<string | undefined>

/**
 * `now` is the time at open; the first pass begins a minute later. What a slice deleted whose transaction was undone is deleted by the
 * next pass.
 */
export function createRetention(now: number) {
  let index = 0
  let after = ''
  let nextAt = now + passPauseMs

  return {
    /** When the next slice may run. */
    get nextAt() {
      return nextAt
    },
    async sweep(tx: Context) {
      const until = performance.now() + sliceMs
      while (performance.now() < until) {
        const step = steps[index]
        if (step === undefined) {
          index = 0
          nextAt = tx.now + passPauseMs
          return
        }
        const last = await step(tx, after, tx.now - tx.limits.keepMs)
        after = last ?? ''
        if (last === undefined) index += 1
      }
      nextAt = tx.now + slicePauseMs
    },
    /** Begins a pass at once, because less is kept than before, or the clock was set back. */
    begin(at: number) {
      index = 0
      after = ''
      nextAt = at
    },
  }
}

/** Returns those of some old rows that are deleted. */
type Gone<Row> = (tx: Context, rows: readonly Row[], cutoff: number) => Promise<readonly Id[]>

/** Walks a table in the order of its ids, below the ids of the age limit. */
function recordStep<Row extends { readonly id: Id }>(
  { name }: Table,
  columns: string,
  gone: Gone<Row>,
): Step {
  return async (tx, after, cutoff) => {
    const rows = await tx.all<Row>(
      `SELECT ${columns} FROM ${name} WHERE id > ?1 AND id < ?2 ORDER BY id LIMIT ${stride}`,
      [after === '' ? idOfTime(0) : after, idOfTime(cutoff)],
    )
    const ids = await gone(tx, rows, cutoff)
    if (ids.length > 0) await tx.run(`DELETE FROM ${name} WHERE id IN ${tx.dialect.among('?1', 'id')}`, [ids])
    return rows.length < stride ? undefined : rows.at(-1)?.id
  }
}

/** Returns those of some keys that a table has. */
async function present(
  { all, dialect }: Context,
  { name, columns }: Table,
  keys: readonly string[],
  key = 'id',
): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set()
  const among = dialect.among('?1', columns[key]?.type ?? 'text')
  const rows = await all<{ key: string }>(`SELECT ${key} AS key FROM ${name} WHERE ${key} IN ${among}`, [
    keys,
  ])
  return new Set(rows.map((row) => row.key))
}

const deliveryStep = recordStep<DeliveryRow & { readonly id: Id }>(
  tables.deliveries,
  'id, record',
  async (_tx, rows, cutoff) =>
    rows.flatMap((row) => {
      const { state, endedAt, createdAt } = deliveryOf(row)
      return state !== 'pending' && (endedAt ?? createdAt) < cutoff ? row.id : []
    }),
)

const runStep = recordStep<RunRow>(tables.runs, wholeRun, async (tx, rows, cutoff) => {
  const ended = rows
    .filter(({ state }) => state !== 'queued' && state !== 'running')
    .map(runOf)
    .filter(({ ranAt, cancelledAt, createdAt }) => (ranAt ?? cancelledAt ?? createdAt) < cutoff)
  const tasks = await present(
    tx,
    tables.tasks,
    ended.map(({ id }) => `run:${id}`),
    'key',
  )
  const deliveries = await present(
    tx,
    tables.deliveries,
    ended.flatMap(({ deliveryIds }) => deliveryIds),
  )
  const isOpen = ({ id, deliveryIds }: RunRecord) =>
    tasks.has(`run:${id}`) || deliveryIds.some((each) => deliveries.has(each))
  const gone = ended.filter((run) => !isOpen(run))
  for (const { id, coalesce } of gone) {
    if (coalesce === undefined) continue
    await tx.run('DELETE FROM joined WHERE run = ?1', [id])
    await tx.run('DELETE FROM coalesced WHERE run = ?1', [id])
  }
  return gone.map(({ id }) => id)
})

const eventStep = recordStep<{
  id: Id
  pending: number | null
  consumed_at: number | null
  created_at: number
}>(tables.events, 'id, pending, consumed_at, created_at', async (_tx, rows, cutoff) =>
  rows.flatMap(({ id, pending, consumed_at, created_at }) =>
    pending === null && (consumed_at ?? created_at) < cutoff ? id : [],
  ),
)

const requestStep = recordStep<{ id: Id; outcome: string; kept: number | null; record: string }>(
  tables.requests,
  'id, outcome, kept, record',
  async (tx, rows) => {
    const actions = rows.map(({ record }) =>
      (JSON.parse(record) as RequestRecord).actions.map(({ id }) => id),
    )
    const ids = actions.flat()
    const left = new Set([
      ...(await present(tx, tables.runs, ids)),
      ...(await present(tx, tables.events, ids)),
    ])
    const gone = rows.filter((_, index) => actions[index]?.every((id) => !left.has(id)))
    for (const { outcome, kept } of gone) countRemoved(tx, outcome, kept)
    return gone.map(({ id }) => id)
  },
)

/** Deletes the oldest bodies after their limit was lowered, and those that are kept for a short while. */
const bodyStep: Step = async (tx) =>
  (await dropBodies(tx, stride)) || (await dropBriefBodies(tx, stride)) ? '' : undefined

/** Deletes old turns. A summary has the time of its last message, so it stays. */
const turnStep: Step = async (tx, _after, cutoff) => {
  const rows = await tx.all<{ session: string; number: number }>(
    `SELECT session, number FROM turns WHERE at < ?1 ORDER BY at LIMIT ${stride}`,
    [cutoff],
  )
  for (const { session, number } of rows) {
    await tx.run('DELETE FROM turns WHERE session = ?1 AND number = ?2', [session, number])
    await subtractTurns(tx, session, 1)
  }
  return rows.length < stride ? undefined : ''
}

/**
 * Deletes a session with a generated key whole, once its last turn is older than `sessionIdleMs`. One with an open task stays: one of its
 * lane, or its first run, whose id is in the key.
 */
const idleStep: Step = async (tx) => {
  const { sessionIdleMs } = tx.limits
  if (sessionIdleMs === undefined) return undefined
  const [idle] = await tx.all<{ session: string }>(
    `SELECT session FROM sessions WHERE is_generated = 1 AND last_at < ?1
     AND NOT EXISTS (SELECT 1 FROM tasks WHERE lane = '${laneOf('')}' || sessions.session)
     AND NOT EXISTS (SELECT 1 FROM tasks WHERE key = 'run:' || substr(sessions.session, ${generatedSessionKey('').length + 1}))
     ORDER BY last_at, session LIMIT 1`,
    [tx.now - sessionIdleMs],
  )
  if (idle === undefined) return undefined
  if (await deleteTurns(tx, idle.session))
    for (const table of ['runner_states', 'sessions'])
      await tx.run(`DELETE FROM ${table} WHERE session = ?1`, [idle.session])
  return ''
}

/** Deletes turns of a session. Returns whether none is left. */
async function deleteTurns(tx: Context, session: string): Promise<boolean> {
  const removed = await tx.run(
    `DELETE FROM turns WHERE session = ?1 AND number IN (SELECT number FROM turns WHERE session = ?1 ORDER BY number LIMIT ${maxTurns})`,
    [session],
  )
  await subtractTurns(tx, session, removed)
  return removed < maxTurns
}

const dedupeStep: Step = async (tx) => {
  const removed = await tx.run(
    `DELETE FROM dedupe WHERE key IN (SELECT key FROM dedupe WHERE until <= ?1 ORDER BY until LIMIT ${maxTurns})`,
    [tx.now],
  )
  return removed < maxTurns ? undefined : ''
}

/** Deletes ended replay jobs, whose items go first. */
const jobStep: Step = async (tx, _after, cutoff) => {
  const [job] = await tx.all<{ id: Id }>(
    `SELECT id FROM jobs WHERE state <> 'running' AND ended_at < ?1 LIMIT 1`,
    [cutoff],
  )
  if (job === undefined) return undefined
  const removed = await tx.run(
    `DELETE FROM job_items WHERE job = ?1 AND number IN (SELECT number FROM job_items WHERE job = ?1 LIMIT ${maxTurns})`,
    [job.id],
  )
  if (removed < maxTurns) await tx.run('DELETE FROM jobs WHERE id = ?1', [job.id])
  return ''
}

/** Deletes the rows of small tables: old runner states of sessions without turns, resolved issues, sign-outs of expired sign-ins, days of costs. */
const smallStep: Step = async (tx, _after, cutoff) => {
  await tx.run(
    'DELETE FROM runner_states WHERE at < ?1 AND NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.session = runner_states.session)',
    [cutoff],
  )
  await tx.run(`DELETE FROM issues WHERE state = 'resolved' AND resolved_at < ?1`, [cutoff])
  await tx.run('DELETE FROM sign_outs WHERE until < ?1', [tx.now - dayMs])
  // Two days always stay, for a clock that is set back.
  const day = dayOf(Math.max(0, Math.min(cutoff, tx.now - 2 * dayMs)))
  await tx.run('DELETE FROM spent WHERE day < ?1', [day])
  await pruneCosts(tx, day)
  return undefined
}

/** Indexes the requests of the last minutes, and drops index rows of deleted ones. */
const lookupStep: Step = async (tx) => ((await indexSome(tx)) || (await dropLookups(tx)) ? '' : undefined)

/** A record is deleted before its owner: deliveries before their run, runs and events before their request. */
const steps: readonly Step[] = [
  deliveryStep,
  runStep,
  eventStep,
  requestStep,
  bodyStep,
  turnStep,
  idleStep,
  smallStep,
  dedupeStep,
  jobStep,
  lookupStep,
]
