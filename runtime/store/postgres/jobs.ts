/**
 * Keeps replay jobs and their items. An item gets the id of its replay before the replay begins, and keeps it: a replay that is
 * accepted again after a restart is answered like the first time.
 */

import {
  type CountedJob,
  jobOf,
  jobWithKey,
  keyOfOptions,
  optionsOfJob,
  refuseOverMostItems,
  unknown,
  withEnd,
  wrongState,
} from '../decisions.ts'
import { isId } from '../id.ts'
import type { Command, CommandResult, Id, ReplayJob, ReplayJobItem } from '../port.ts'
import type { ItemQuery } from '../reading.ts'
import type { Changing, Query } from './parts.ts'
import { columnOfText, textOfColumn } from './rows.ts'

type Of<Type extends Command['type']> = Command & { readonly type: Type }

interface JobRow extends CountedJob {
  readonly id: Id
}

interface ItemRow extends Pick<ReplayJobItem, 'request' | 'state'> {
  readonly number: number
  readonly replay: Id | null
  readonly reason: string | null
}

const unknownJob = unknown('job')

export async function beginJob(
  { job, items, more }: Of<'job-begin'>,
  { query, node }: Changing,
): Promise<CommandResult> {
  refuseOverMostItems(items.length)
  const same = await jobOfSameOrder(query, job)
  if (same !== undefined) return { ok: true, done: 0, job: same }
  await query(
    `INSERT INTO jobs (id, filter, options, state, whole, total, done, failed, skipped, created_at, node)
     VALUES ($1, $2, $3, 'running', 0, 0, 0, 0, 0, $4, $5) ON CONFLICT (id) DO NOTHING`,
    [job.id, JSON.stringify(job.filter), optionsOfJob(job), job.createdAt, node],
  )
  const row = (await lockJob(query, job.id)) as JobRow
  if (row.state !== 'running') return ended(row)
  // The last call is made again because its answer was lost.
  if (row.whole === 1)
    return more === undefined ? { ok: true, done: 0 } : wrongState('it has all of its items')
  const added = await query(
    `INSERT INTO job_items (job, number, request, state)
     SELECT $1, $2 + number, request, 'open' FROM unnest($3::uuid[]) WITH ORDINALITY AS items (request, number)
     ON CONFLICT (job, request) DO NOTHING RETURNING 1`,
    [job.id, await lastNumber(query, job.id), items],
  )
  const total = row.total + added.length
  await write(query, withEnd({ ...row, total, whole: more === undefined ? 1 : 0 }, job.createdAt))
  return { ok: true, done: added.length }
}

/** Any number that no other application uses for its advisory locks. */
const orderLock = 7_350_914_202

/** Orders of all nodes that have a key are begun one after the other. */
async function jobOfSameOrder(
  query: Query,
  { id, options }: Of<'job-begin'>['job'],
): Promise<Id | undefined> {
  const key = keyOfOptions(options)
  if (key === undefined) return undefined
  await query('SELECT pg_advisory_xact_lock($1)', [orderLock])
  const rows = await query<Pick<JobRow, 'id' | 'options'>>(
    `SELECT id, options FROM jobs WHERE state <> 'cancelled' AND options LIKE '%"key":%' AND id <> $1`,
    [id],
  )
  return jobWithKey(rows, key)?.id
}

export async function nextOfJob(
  { job, limit, mint }: Of<'job-next'>,
  { query, send }: Changing,
): Promise<CommandResult> {
  refuseOverMostItems(limit)
  const row = await lockJob(query, job)
  if (row === undefined) return unknownJob
  if (row.state !== 'running') return ended(row)
  if (row.whole === 0) return wrongState('it has not got all of its items yet')
  const open = await query<Pick<ItemRow, 'number' | 'request' | 'replay'>>(
    "SELECT number, request, replay FROM job_items WHERE job = $1 AND state = 'open' ORDER BY number LIMIT $2",
    [job, limit],
  )
  const assigned: { number: number; replay: Id }[] = []
  const items = open.flatMap(({ number, request, replay }) => {
    const id = replay ?? mint[assigned.length]
    if (id === undefined) return []
    if (replay === null) assigned.push({ number, replay: id })
    return [{ request, replay: id }]
  })
  if (assigned.length > 0)
    send(
      `UPDATE job_items SET replay = assigned.replay FROM unnest($2::bigint[], $3::uuid[]) AS assigned (number, replay)
       WHERE job_items.job = $1 AND job_items.number = assigned.number`,
      [job, assigned.map(({ number }) => number), assigned.map(({ replay }) => replay)],
    )
  return { ok: true, items }
}

export async function settleJob(
  { job, items, at }: Of<'job-settle'>,
  { query }: Changing,
): Promise<CommandResult> {
  refuseOverMostItems(items.length)
  const row = await lockJob(query, job)
  if (row === undefined) return unknownJob
  // Of an item that is named twice the first state holds.
  const first = [...new Map(items.toReversed().map((item) => [item.request, item])).values()]
  const settled = await query<Pick<ReplayJobItem, 'state'>>(
    `UPDATE job_items SET state = settled.state, reason = settled.reason
     FROM unnest($2::uuid[], $3::text[], $4::text[]) AS settled (request, state, reason)
     WHERE job_items.job = $1 AND job_items.request = settled.request AND job_items.state = 'open' AND job_items.replay IS NOT NULL
     RETURNING job_items.state`,
    [
      job,
      first.map(({ request }) => request),
      first.map(({ state }) => state),
      first.map(({ reason }) => (reason === undefined ? null : columnOfText(reason))),
    ],
  )
  const more = (wanted: string) => settled.filter(({ state }) => state === wanted).length
  const counts = {
    done: row.done + more('done'),
    failed: row.failed + more('failed'),
    skipped: row.skipped + more('skipped'),
  }
  await write(query, withEnd({ ...row, ...counts }, at))
  return { ok: true }
}

export async function cancelJob({ job, at }: Of<'job-cancel'>, { query }: Changing): Promise<CommandResult> {
  const row = await lockJob(query, job)
  if (row === undefined) return unknownJob
  if (row.state !== 'running') return ended(row)
  await write(query, { ...row, state: 'cancelled', ended_at: at })
  return { ok: true }
}

/** Cancels jobs of nodes that ended before they had added all of their items. */
export async function cancelPartialJobs(query: Query, at: number): Promise<void> {
  await query(
    `UPDATE jobs SET state = 'cancelled', ended_at = $1
     WHERE state = 'running' AND whole = 0 AND node NOT IN (SELECT id FROM nodes)`,
    [at],
  )
}

async function lockJob(query: Query, id: Id): Promise<JobRow | undefined> {
  if (!isId(id)) return undefined
  const [row] = await query<JobRow>('SELECT * FROM jobs WHERE id = $1 FOR UPDATE', [id])
  return row
}

async function lastNumber(query: Query, job: Id): Promise<number> {
  const [row] = await query<{ last: number }>(
    'SELECT coalesce(max(number), 0) AS last FROM job_items WHERE job = $1',
    [job],
  )
  return row?.last ?? 0
}

async function write(query: Query, row: JobRow): Promise<void> {
  await query(
    `UPDATE jobs SET whole = $2, total = $3, done = $4, failed = $5, skipped = $6, state = $7, ended_at = $8 WHERE id = $1`,
    [row.id, row.whole, row.total, row.done, row.failed, row.skipped, row.state, row.ended_at],
  )
}

function ended({ state }: JobRow): CommandResult {
  return wrongState(`it is ${state}`)
}

export async function readJob(query: Query, id: Id): Promise<ReplayJob | undefined> {
  const [row] = await query<JobRow>('SELECT * FROM jobs WHERE id = $1', [id])
  return row && jobOf(row.id, row)
}

/** Jobs are few; the items of one may be very many. */
export async function readJobs(
  query: Query,
  limit: number,
  state?: string,
  before?: Id,
): Promise<ReplayJob[]> {
  const rows = await query<JobRow>(
    `SELECT * FROM jobs WHERE ($1::uuid IS NULL OR id < $1) AND ($2::text IS NULL OR state = $2) ORDER BY id DESC LIMIT $3`,
    [before ?? null, state ?? null, limit],
  )
  return rows.map((row) => jobOf(row.id, row))
}

export async function readJobItems(
  query: Query,
  id: Id,
  { limit, state, newestFirst = false, after }: ItemQuery,
): Promise<readonly (ReplayJobItem & { readonly number: number })[]> {
  const start = after ?? (newestFirst ? Number.MAX_SAFE_INTEGER : 0)
  const rows = await query<ItemRow>(
    `SELECT number, request, replay, state, reason FROM job_items
     WHERE job = $1 AND number ${newestFirst ? '<' : '>'} $2 AND ($3::text IS NULL OR state = $3)
     ORDER BY number ${newestFirst ? 'DESC' : ''} LIMIT $4`,
    [id, start, state ?? null, limit],
  )
  return rows.map(({ number, request, replay, state, reason }) => ({
    number,
    request,
    ...(replay !== null && { replay }),
    state,
    ...(reason !== null && { reason: textOfColumn(reason) }),
  }))
}
