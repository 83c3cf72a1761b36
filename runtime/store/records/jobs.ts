/**
 * Keeps replay jobs and their items. An item gets the id of its replay before the replay begins, and keeps it: a replay that is
 * accepted again after a restart is answered like the first time.
 */

import type { Context } from '../context.ts'
import { isId } from '../id.ts'
import type { Command, CommandResult, Id, ReplayJob, ReplayJobItem } from '../port.ts'
import { done, refuseOver, unknown, wrongState } from '../results.ts'
import { type Row, tables } from '../schema.ts'
import { decodeString, encodeString } from './rows.ts'

type Of<Type extends Command['type']> = Command & { readonly type: Type }

/** `whole` is 1 once all items were added; `options` also says who began it. */
type JobRow = Row<'jobs'> & Pick<ReplayJob, 'state'>

type ItemRow = Row<'job_items'> & Pick<ReplayJobItem, 'state'>

/** Maximum number of items that one command adds, hands out or settles. */
const maxItems = 1_000

export function jobOf({ id, filter, options: all, created_at, ended_at, ...row }: JobRow): ReplayJob {
  const { state, total, done, failed, skipped } = row
  const { by, ...options } = JSON.parse(all)
  return {
    id,
    filter: JSON.parse(filter),
    options,
    ...(by !== undefined && { by }),
    ...{ state, total, done, failed, skipped },
    createdAt: created_at,
    ...(ended_at !== null && { endedAt: ended_at }),
  }
}

export function itemOf({ request, replay, state, reason }: ItemRow): ReplayJobItem {
  return {
    request,
    ...(replay !== null && { replay }),
    state,
    ...(reason !== null && { reason: decodeString(reason) }),
  }
}

/** Finds a job, and keeps other transactions from changing it. */
async function findJob(tx: Context, id: Id): Promise<JobRow | undefined> {
  if (!isId(id)) return undefined
  const [row] = await tx.all<JobRow>(`SELECT * FROM jobs WHERE id = ?1 ${tx.dialect.forUpdate}`, [id])
  return row
}

/** Finds a job that is under way, or answers why it is not. */
async function runningJob(tx: Context, id: Id): Promise<JobRow | CommandResult> {
  const row = await findJob(tx, id)
  if (row === undefined) return unknown('job')
  return row.state === 'running' ? row : wrongState(`it is ${row.state}`)
}

/** A job is over when it has all of its items and each of them has ended. */
async function endIfOver(tx: Context, id: Id, at: number): Promise<void> {
  await tx.run(
    `UPDATE jobs SET state = 'done', ended_at = ?1
     WHERE id = ?2 AND state = 'running' AND whole = 1 AND done + failed + skipped = total`,
    [at, id],
  )
}

export async function beginJob(tx: Context, { job, items, more }: Of<'job-begin'>): Promise<CommandResult> {
  refuseOver(items.length, maxItems, 'items')
  const { key } = job.options as { readonly key?: unknown }
  const named = typeof key === 'string' ? encodeString(key) : null
  await tx.lock([`job:${job.id}`, ...(named === null ? [] : [`job-key:${named}`])])
  if ((await findJob(tx, job.id)) === undefined) {
    const [same] = await tx.all<{ id: Id }>(
      `SELECT id FROM jobs WHERE options_key = ?1 AND state <> 'cancelled'`,
      [named],
    )
    if (same !== undefined) return { ok: true, done: 0, job: same.id }
    const options = JSON.stringify({ ...job.options, by: job.by })
    const fresh = [job.id, JSON.stringify(job.filter), options, named, tx.node]
    await tx.insert(tables.jobs, [[...fresh, 'running', 0, 0, 0, 0, 0, job.createdAt, null]])
  }
  const row = await runningJob(tx, job.id)
  if ('ok' in row) return row
  if (row.whole === 1) {
    // The last call is made again because its answer was lost.
    return more === undefined ? { ok: true, done: 0 } : wrongState('it has all of its items')
  }
  const existing = await tx.all<{ request: Id }>(
    `SELECT request FROM job_items WHERE job = ?1 AND request IN ${tx.dialect.among('?2', 'id')}`,
    [row.id, items],
  )
  const before = new Set(existing.map(({ request }) => request))
  const fresh = [...new Set(items)].filter((request) => !before.has(request))
  await tx.insert(
    tables.job_items,
    fresh.map((request, index) => [job.id, row.total + index + 1, request, null, 'open', null]),
  )
  const whole = more === undefined ? 1 : 0
  await tx.run('UPDATE jobs SET total = total + ?1, whole = ?2 WHERE id = ?3', [fresh.length, whole, job.id])
  await endIfOver(tx, job.id, job.createdAt)
  return { ok: true, done: fresh.length }
}

export async function nextItems(tx: Context, { job, limit, mint }: Of<'job-next'>): Promise<CommandResult> {
  refuseOver(limit, maxItems, 'items')
  const row = await runningJob(tx, job)
  if ('ok' in row) return row
  if (row.whole === 0) return wrongState('it has not got all of its items yet')
  const open = await tx.all<ItemRow>(
    `SELECT * FROM job_items WHERE job = ?1 AND state = 'open' ORDER BY number LIMIT ?2`,
    [row.id, limit],
  )
  let minted = 0
  const items: { request: Id; replay: Id }[] = []
  for (const { number, request, replay } of open) {
    const id = replay ?? mint[minted++]
    if (id === undefined) continue
    if (replay === null)
      await tx.run('UPDATE job_items SET replay = ?1 WHERE job = ?2 AND number = ?3', [id, row.id, number])
    items.push({ request, replay: id })
  }
  return { ok: true, items }
}

export async function settleItems(tx: Context, { job, items, at }: Of<'job-settle'>): Promise<CommandResult> {
  refuseOver(items.length, maxItems, 'items')
  if ((await findJob(tx, job)) === undefined) return unknown('job')
  const ended = { done: 0, failed: 0, skipped: 0 }
  for (const { request, state, reason } of items)
    ended[state] += await tx.run(
      `UPDATE job_items SET state = ?1, reason = ?2 WHERE job = ?3 AND request = ?4 AND state = 'open' AND replay IS NOT NULL`,
      [state, reason === undefined ? null : encodeString(reason), job, request],
    )
  await tx.run(
    'UPDATE jobs SET done = done + ?1, failed = failed + ?2, skipped = skipped + ?3 WHERE id = ?4',
    [...Object.values(ended), job],
  )
  await endIfOver(tx, job, at)
  return done
}

export async function cancelJob(tx: Context, { job, at }: Of<'job-cancel'>): Promise<CommandResult> {
  const row = await runningJob(tx, job)
  if ('ok' in row) return row
  await tx.run(`UPDATE jobs SET state = 'cancelled', ended_at = ?1 WHERE id = ?2`, [at, job])
  return done
}

/** Cancels jobs of a process that ended before it had added all of their items. `living` selects the ids of the processes that are left. */
export async function cancelPartialJobs(tx: Context, living: string): Promise<void> {
  await tx.run(
    `UPDATE jobs SET state = 'cancelled', ended_at = ?1 WHERE state = 'running' AND whole = 0 AND node NOT IN (${living})`,
    [tx.now],
  )
}
