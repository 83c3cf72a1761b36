/**
 * Keeps tasks: due times, lanes, claims, and what becomes of a task when its claim settles.
 *
 * A task is *scheduled* (it has an alarm, or waits in its lane behind a head that has one), then *claimed* (no alarm), and
 * then it is *finished* (its row is deleted, and the lane's next head gets an alarm) or *postponed* (it gets an alarm again
 * and stays the head). `node` and `claim` are the lease token of an open claim.
 *
 * Rows are locked in the order lanes, tasks. A transaction that adds a task to a lane, or takes one out, has locked the lane: the
 * lane's row is there as long as it has a task, and is never changed. Sequence numbers are drawn under that lock, so they are the
 * order of the lane on all nodes.
 */

import type { ClaimedTask, Id, NewTask, TaskKind } from '../port.ts'
import { firstTaskOf, laneOf } from '../tasks.ts'
import type { Alarm, Changing, Query } from './parts.ts'
import { columnOfText, textOfColumn } from './rows.ts'

export interface TaskRow {
  readonly key: string
  readonly seq: number
  readonly kind: TaskKind
  readonly lane: string | null
  readonly due_at: number
  readonly subject: Id | null
  readonly pool: string | null
  readonly attempt: number
  readonly claims: number
  readonly node: Id | null
  readonly claim: number | null
  readonly interrupted: boolean
  readonly held: boolean
  readonly again_at: number | null
  readonly cancelled: boolean
  readonly claimed: number
}

/** What the functions of this file need of a transaction. */
type Scheduling = Pick<Changing, 'query' | 'send' | 'counted' | 'armed' | 'node' | 'afterCommit'>

/** Thrown when a task changed between two statements. The transaction is run again. */
export class TaskChanged extends Error {}

const taskColumns =
  'key, seq, kind, lane, due_at, subject, pool, attempt, claims, node, claim, interrupted, held, again_at, cancelled, claimed'

/** Inserts the lanes that are free, and locks all of them. The last condition makes it lock the others without changing them. */
const lockLane = `INSERT INTO lanes AS l (lane) SELECT lane FROM unnest($1::text[]) AS lane
  ON CONFLICT (lane) DO UPDATE SET lane = l.lane WHERE false`

export const heartbeatLane = columnOfText(laneOf('main'))

/**
 * Sends the statement that locks lanes, each of which is encoded. The heartbeat's lane comes last, because a transaction may find out
 * late that it needs it.
 */
export function lockLanes({ send }: Pick<Scheduling, 'send'>, lanes: Iterable<string>): void {
  const sorted = [...new Set(lanes)].sort(
    (a, b) => Number(a === heartbeatLane) - Number(b === heartbeatLane) || byBytes(a, b),
  )
  if (sorted.length > 0) send(lockLane, [sorted])
}

/** Deletes the lanes that have no task, of those that are locked. */
export function freeLanes({ send }: Pick<Scheduling, 'send'>, lanes: Iterable<string>): void {
  const all = [...new Set(lanes)]
  if (all.length === 0) return
  send(
    `DELETE FROM lanes AS l WHERE l.lane = ANY($1::text[]) AND NOT EXISTS (SELECT 1 FROM tasks AS t WHERE t.lane = l.lane)`,
    [all],
  )
}

export function laneColumn({ lane }: Pick<NewTask, 'lane'>): string | null {
  return lane === undefined ? null : columnOfText(lane)
}

/** Adds tasks, or brings forward those that are there. */
export async function add(tx: Scheduling, tasks: readonly NewTask[]): Promise<void> {
  if (tasks.length === 0) return
  const repeated = tasks.filter(({ subject }) => subject === undefined)
  const scheduled = repeated.length === 0 ? undefined : await alreadyScheduled(tx, repeated)
  const wanted = scheduled === undefined ? tasks : tasks.filter(({ key }) => !scheduled.has(key))
  if (wanted.length === 0) return
  lockLanes(
    tx,
    wanted.flatMap((task) => laneColumn(task) ?? []),
  )
  await insert(tx, earliestOfEach(wanted), { mayBeThere: true })
}

/** Of several tasks with one key the earliest due time counts. */
function earliestOfEach(tasks: readonly NewTask[]): NewTask[] {
  const byKey = new Map<string, NewTask>()
  for (const task of tasks) {
    const before = byKey.get(task.key)
    if (before === undefined || task.dueAt < before.dueAt) byKey.set(task.key, task)
  }
  return [...byKey.values()]
}

/**
 * Returns the keys of tasks that are scheduled early enough already, and keeps them as they are until the transaction ends: they can
 * be neither claimed nor settled meanwhile. Else a heartbeat could read the events before this transaction posts one, and end after.
 * Many transactions may hold this lock together.
 */
export async function alreadyScheduled(
  { query }: Pick<Scheduling, 'query'>,
  tasks: readonly NewTask[],
): Promise<ReadonlySet<string>> {
  const wanted = earliestOfEach(tasks).sort((a, b) => byBytes(a.key, b.key))
  const rows = await query<{ key: string }>(
    `SELECT t.key FROM unnest($1::text[], $2::bigint[]) AS wanted (key, due_at) JOIN tasks AS t ON t.key = wanted.key
     WHERE CASE WHEN t.node IS NULL THEN t.held OR t.due_at <= wanted.due_at ELSE t.again_at <= wanted.due_at END
     ORDER BY t.key FOR SHARE OF t`,
    [wanted.map(({ key }) => columnOfText(key)), wanted.map(({ dueAt }) => dueAt)],
  )
  return new Set(rows.map(({ key }) => textOfColumn(key)))
}

/**
 * Inserts tasks whose lanes are locked. `mayBeThere`: tasks of these keys may be there already, and are brought forward then.
 * Otherwise they are all new, or the transaction fails.
 */
export async function insert(
  tx: Scheduling,
  tasks: readonly NewTask[],
  { mayBeThere }: { readonly mayBeThere: boolean },
): Promise<void> {
  if (tasks.length === 0) return
  adoptFirstRuns(tx, tasks)
  const values = [
    tasks.map(({ key }) => columnOfText(key)),
    tasks.map(({ kind }) => kind),
    tasks.map((task) => laneColumn(task)),
    tasks.map(({ dueAt }) => wholeNumber(dueAt)),
    tasks.map(({ subject }) => subject ?? null),
    tasks.map(({ pool }) => (pool === undefined ? null : columnOfText(pool))),
  ]
  const inserted = tx.query<TaskAlarm>(mayBeThere ? insertMissing : insertNew, values)
  const there = mayBeThere ? bringForward(tx, tasks) : undefined
  const [rows] = await Promise.all([inserted, there])
  noteAlarms(tx, rows)
  tx.counted('backlog', rows.filter(({ kind }) => isBacklog(kind)).length)
}

/** `is_armed` says whether the task is the head of its lane, or has none. */
type TaskAlarm = Omit<Alarm, 'pool'> & {
  readonly key: string
  readonly pool: string | null
  readonly is_armed: boolean
}

const insertSql = (onConflict: string) => `WITH fresh AS (
    INSERT INTO tasks (key, kind, lane, due_at, subject, pool)
    SELECT key, kind, lane, due_at, subject, pool FROM unnest(
      $1::text[], $2::text[], $3::text[], $4::bigint[], $5::uuid[], $6::text[]
    ) WITH ORDINALITY AS new (key, kind, lane, due_at, subject, pool, place) ORDER BY place
    ${onConflict} RETURNING key, seq, kind, lane, due_at, pool
  ), armed AS (
    INSERT INTO alarms (kind, pool, due_at, seq, key)
    SELECT kind, coalesce(pool, ''), due_at, seq, key FROM fresh AS f WHERE f.lane IS NULL OR (
      NOT EXISTS (SELECT 1 FROM tasks AS t WHERE t.lane = f.lane)
      AND NOT EXISTS (SELECT 1 FROM fresh AS g WHERE g.lane = f.lane AND g.seq < f.seq)
    ) RETURNING key
  )
  SELECT f.key, f.seq, f.kind, f.due_at, f.pool, armed.key IS NOT NULL AS is_armed FROM fresh AS f LEFT JOIN armed ON armed.key = f.key`
const insertNew = insertSql('')
const insertMissing = insertSql('ON CONFLICT (key) DO NOTHING')

/** Puts the first run of a session, which has no lane yet, at the head of the session's lane. */
function adoptFirstRuns({ send }: Scheduling, tasks: readonly NewTask[]): void {
  const lanes = [...new Set(tasks.flatMap(({ lane }) => lane ?? []))]
  const adopting = lanes.filter((lane) => firstTaskOf(lane) !== undefined)
  if (adopting.length === 0) return
  send(
    `UPDATE tasks AS t SET lane = first.lane FROM unnest($1::text[], $2::text[]) AS first (lane, key)
     WHERE t.key = first.key AND t.lane IS NULL AND NOT EXISTS (SELECT 1 FROM tasks AS other WHERE other.lane = first.lane)`,
    [adopting.map(columnOfText), adopting.map((lane) => firstTaskOf(lane))],
  )
}

/** Brings tasks forward that are there and due later. A task that waits for its next try keeps its time. */
async function bringForward(tx: Scheduling, tasks: readonly NewTask[]): Promise<void> {
  const values = [tasks.map(({ key }) => columnOfText(key)), tasks.map(({ dueAt }) => wholeNumber(dueAt))]
  tx.send(
    `UPDATE tasks AS t SET again_at = wanted.due_at FROM unnest($1::text[], $2::bigint[]) AS wanted (key, due_at)
     WHERE t.key = wanted.key AND t.node IS NOT NULL AND (t.again_at IS NULL OR t.again_at > wanted.due_at)`,
    values,
  )
  const moved = move(tx, 'NOT t.held AND wanted.due_at < t.due_at', values)
  // What another transaction has changed between these statements is found here, and the transaction is run again.
  const settled = tx.query<{ key: string }>(
    `SELECT t.key FROM unnest($1::text[], $2::bigint[]) AS wanted (key, due_at) JOIN tasks AS t ON t.key = wanted.key
     WHERE CASE WHEN t.node IS NULL THEN t.held OR t.due_at <= wanted.due_at ELSE t.again_at <= wanted.due_at END
     FOR SHARE OF t`,
    values,
  )
  await moved
  if ((await settled).length < tasks.length) throw new TaskChanged('a task was claimed or settled meanwhile')
}

/** Moves unclaimed tasks to another time, with their alarms if they have one. */
async function move(tx: Scheduling, condition: string, values: readonly unknown[]): Promise<void> {
  const rows = await tx.query<TaskAlarm>(
    `WITH old AS (
      SELECT t.key, t.kind, t.pool, t.due_at, t.seq, wanted.due_at AS new_due_at
      FROM unnest($1::text[], $2::bigint[]) AS wanted (key, due_at) JOIN tasks AS t ON t.key = wanted.key
      WHERE t.node IS NULL AND ${condition} FOR UPDATE OF t
    ), moved AS (
      UPDATE tasks AS t SET due_at = old.new_due_at FROM old WHERE t.key = old.key
    ), gone AS (
      DELETE FROM alarms AS a USING old
      WHERE a.kind = old.kind AND a.pool = coalesce(old.pool, '') AND a.due_at = old.due_at AND a.seq = old.seq
      RETURNING a.kind, a.pool, old.new_due_at, a.seq, a.key
    )
    INSERT INTO alarms (kind, pool, due_at, seq, key) SELECT kind, pool, new_due_at, seq, key FROM gone
    RETURNING kind, pool, due_at, seq, key, true AS is_armed`,
    values,
  )
  noteAlarms(tx, rows)
}

/** Moves a task that waits for its next try to an earlier time. Does nothing for any other task. */
export async function expedite(tx: Scheduling, key: string, dueAt: number): Promise<void> {
  await move(tx, 't.held AND wanted.due_at < t.due_at', [[columnOfText(key)], [dueAt]])
}

/** Moves tasks that are locked, and that are not due at `now`, to other times. */
export async function defer(
  tx: Scheduling,
  tasks: readonly { readonly key: string; readonly dueAt: number }[],
): Promise<void> {
  if (tasks.length === 0) return
  await move(tx, 'wanted.due_at <> t.due_at', [tasks.map(({ key }) => key), tasks.map(({ dueAt }) => dueAt)])
}

/** Locks tasks until the end of the transaction. One that is not in the answer is gone. */
export async function lock(
  tx: Scheduling,
  keys: readonly string[],
): Promise<ReadonlyMap<string, 'open' | 'claimed'>> {
  const columns = keys.map(columnOfText)
  const lanes = await tx.query<{ lane: string }>(
    'SELECT DISTINCT lane FROM tasks WHERE key = ANY($1::text[]) AND lane IS NOT NULL',
    [columns],
  )
  lockLanes(
    tx,
    lanes.map(({ lane }) => lane),
  )
  const rows = await lockRows(tx, columns)
  const gone = lanes.filter(({ lane }) => !rows.some((row) => row.lane === lane))
  freeLanes(
    tx,
    gone.map(({ lane }) => lane),
  )
  return new Map(rows.map(({ key, node }) => [textOfColumn(key), node === null ? 'open' : 'claimed']))
}

/** Locks and returns the rows of tasks, whose keys are encoded. Lanes come first: see above. */
export function lockRows({ query }: { readonly query: Query }, keys: readonly string[]): Promise<TaskRow[]> {
  return query<TaskRow>(
    `SELECT ${taskColumns} FROM tasks WHERE key = ANY($1::text[]) ORDER BY key FOR UPDATE`,
    [keys],
  )
}

/** Deletes a task that was locked and found open. If it was the head of its lane, the next task becomes the head. */
export async function remove(tx: Scheduling, key: string): Promise<void> {
  const rows = await tx.query<TaskAlarm & { gone: TaskKind; gone_lane: string | null }>(
    `WITH gone AS (
      DELETE FROM tasks WHERE key = $1 RETURNING key, seq, kind, lane, pool, due_at
    ), was_armed AS (
      DELETE FROM alarms AS a USING gone AS g
      WHERE a.kind = g.kind AND a.pool = coalesce(g.pool, '') AND a.due_at = g.due_at AND a.seq = g.seq RETURNING a.key
    ), next AS (
      SELECT n.kind, coalesce(n.pool, '') AS pool, n.due_at, n.seq, n.key FROM gone AS g JOIN was_armed ON was_armed.key = g.key
      CROSS JOIN LATERAL (
        SELECT * FROM tasks AS t WHERE t.lane = g.lane AND t.seq > g.seq ORDER BY t.seq LIMIT 1
      ) AS n
    ), armed AS (
      INSERT INTO alarms (kind, pool, due_at, seq, key) SELECT kind, pool, due_at, seq, key FROM next
      RETURNING kind, pool, due_at, seq, key
    )
    SELECT g.kind AS gone, g.lane AS gone_lane, armed.*, armed.key IS NOT NULL AS is_armed
    FROM gone AS g LEFT JOIN armed ON true`,
    [columnOfText(key)],
  )
  const [row] = rows
  if (row === undefined) return
  if (isBacklog(row.gone)) tx.counted('backlog', -1)
  noteAlarms(tx, rows)
  if (row.gone_lane !== null) freeLanes(tx, [row.gone_lane])
}

/** Returns whether a task of the lane is open or claimed. */
export async function isOccupied(tx: Pick<Scheduling, 'query' | 'send'>, lane: string): Promise<boolean> {
  return (await occupied(tx, [lane])).has(lane)
}

/** Returns which of the lanes have a task. What a lane begins with may not be in it yet. */
export async function occupied(
  { query }: Pick<Scheduling, 'query'>,
  lanes: readonly string[],
): Promise<ReadonlySet<string>> {
  if (lanes.length === 0) return new Set()
  const rows = await query<{ lane: string }>(
    `SELECT wanted.lane FROM unnest($1::text[], $2::text[]) AS wanted (lane, first)
     WHERE EXISTS (SELECT 1 FROM tasks AS t WHERE t.lane = wanted.lane)
     OR EXISTS (SELECT 1 FROM tasks AS t WHERE t.key = wanted.first)`,
    [lanes.map(columnOfText), lanes.map((lane) => firstTaskOf(lane) ?? null)],
  )
  return new Set(rows.map(({ lane }) => textOfColumn(lane)))
}

/** Deletes tasks whose claims settled as done, and gives the next head of each lane its alarm. All of them are locked. */
export async function finish(tx: Scheduling, tasks: readonly TaskRow[]): Promise<void> {
  if (tasks.length === 0) return
  const keys = tasks.map(({ key }) => key)
  // Their own effects may have scheduled them once more.
  const repeated = tasks.some(({ subject }) => subject === null) ? lockRows(tx, keys) : undefined
  const rows = tx.query<TaskAlarm>(
    `WITH gone AS (
      DELETE FROM tasks WHERE key = ANY($1::text[]) RETURNING seq, lane
    )
    INSERT INTO alarms (kind, pool, due_at, seq, key)
    SELECT n.kind, coalesce(n.pool, ''), n.due_at, n.seq, n.key FROM gone AS g CROSS JOIN LATERAL (
      SELECT * FROM tasks AS t WHERE t.lane = g.lane AND t.seq > g.seq ORDER BY t.seq LIMIT 1
    ) AS n RETURNING kind, pool, due_at, seq, key, true AS is_armed`,
    [keys],
  )
  freeLanes(
    tx,
    tasks.flatMap(({ lane }) => lane ?? []),
  )
  tx.counted('backlog', -tasks.filter(({ kind }) => isBacklog(kind)).length)
  noteAlarms(tx, await rows)
  const again = ((await repeated) ?? []).flatMap((row) =>
    row.again_at === null ? [] : { ...newTask(row), dueAt: row.again_at },
  )
  await add(tx, again)
}

export interface Postponed {
  readonly task: TaskRow
  readonly dueAt: number
  readonly counts: boolean
}

/** Schedules tasks whose claims settled as `again`. All of them are locked. */
export async function postpone(tx: Scheduling, tasks: readonly Postponed[]): Promise<void> {
  if (tasks.length === 0) return
  const rows = await tx.query<TaskAlarm>(
    `WITH again AS (
      UPDATE tasks AS t SET node = NULL, claim = NULL, interrupted = false, held = true, again_at = NULL, cancelled = false,
        due_at = p.due_at, attempt = t.attempt + p.counts
      FROM unnest($1::text[], $2::bigint[], $3::int[]) AS p (key, due_at, counts) WHERE t.key = p.key
      RETURNING t.kind, coalesce(t.pool, '') AS pool, t.due_at, t.seq, t.key
    )
    INSERT INTO alarms (kind, pool, due_at, seq, key) SELECT kind, pool, due_at, seq, key FROM again
    RETURNING kind, pool, due_at, seq, key, true AS is_armed`,
    [
      tasks.map(({ task }) => task.key),
      tasks.map(({ dueAt }) => wholeNumber(dueAt)),
      tasks.map(({ counts }) => (counts ? 1 : 0)),
    ],
  )
  noteAlarms(tx, rows)
}

/** Makes claims of a node that is gone free again: their tasks are due as before, and known as interrupted. */
export async function freeClaims(
  { query }: Pick<Scheduling, 'query'>,
  node: Id,
  { isInterrupted, but = [] }: { readonly isInterrupted: boolean; readonly but?: readonly number[] },
): Promise<Alarm[]> {
  await query('SELECT key FROM tasks WHERE node = $1 ORDER BY key FOR UPDATE', [node])
  return query<Alarm>(
    `WITH free AS (
      UPDATE tasks SET node = NULL, claim = NULL, cancelled = false, interrupted = interrupted OR $2
      WHERE node = $1 AND claim <> ALL($3::bigint[])
      RETURNING kind, coalesce(pool, '') AS pool, due_at, seq, key
    )
    INSERT INTO alarms (kind, pool, due_at, seq, key) SELECT kind, pool, due_at, seq, key FROM free
    RETURNING kind, pool, due_at, seq`,
    [node, isInterrupted, but],
  )
}

/** A due alarm that this transaction has locked, with its task. */
export interface DueAlarm extends Alarm, Pick<TaskRow, 'key' | 'lane' | 'subject'> {}

/** A pool that may have a due task from a place on, and how many of its tasks may be claimed. */
export interface OpenPool {
  readonly kind: TaskKind
  readonly pool: string
  readonly from: Pick<Alarm, 'due_at' | 'seq'>
  readonly room: number
}

/**
 * Locks due tasks, in the order in which they are claimed. Those that another transaction has locked are passed over. Each pool is
 * searched from a place on, because dead rows before it would be walked through for as long as an old transaction can see them.
 */
export async function lockDue(
  { query }: Pick<Scheduling, 'query'>,
  pools: readonly OpenPool[],
  now: number,
  limit: number,
): Promise<DueAlarm[]> {
  const rows = await query<DueAlarm>(
    `SELECT due.* FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::int[]) AS open (kind, pool, due_at, seq, room)
     CROSS JOIN LATERAL (
       SELECT a.kind, a.pool, a.due_at, a.seq, a.key, t.lane, t.subject FROM alarms AS a JOIN tasks AS t ON t.key = a.key
       WHERE a.kind = open.kind AND a.pool = open.pool AND (a.due_at, a.seq) >= (open.due_at, open.seq) AND a.due_at <= $6
       ORDER BY a.due_at, a.seq LIMIT open.room FOR UPDATE OF a, t SKIP LOCKED
     ) AS due`,
    [...columnsOf(pools), pools.map(({ room }) => Math.min(room, limit)), now],
  )
  return rows.sort(inOrder).slice(0, limit)
}

/** Claims tasks that are locked: deletes their alarms, and writes the lease tokens. */
export async function claim(
  { query, send }: Pick<Scheduling, 'query' | 'send'>,
  node: Id,
  due: readonly (DueAlarm & { readonly claim: number })[],
): Promise<Map<number, TaskRow>> {
  send(
    `DELETE FROM alarms AS a USING unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) AS due (kind, pool, due_at, seq)
     WHERE a.kind = due.kind AND a.pool = due.pool AND a.due_at = due.due_at AND a.seq = due.seq`,
    [
      due.map(({ kind }) => kind),
      due.map(({ pool }) => pool),
      due.map((each) => each.due_at),
      due.map(({ seq }) => seq),
    ],
  )
  const rows = await query<TaskRow>(
    `UPDATE tasks AS t SET node = $3, claim = due.claim, claimed = DEFAULT, claims = t.claims + 1, held = false, cancelled = false
     FROM unnest($1::text[], $2::bigint[]) AS due (key, claim) WHERE t.key = due.key RETURNING ${qualified(taskColumns)}`,
    [due.map(({ key }) => key), due.map(({ claim }) => claim), node],
  )
  return new Map(rows.map((row) => [row.claim as number, row]))
}

function qualified(columns: string): string {
  return columns.replace(/\w+/g, (column) => `t.${column}`)
}

/** Returns the first alarm of each of the pools from its place on, due or not; in their order, `undefined` where there is none. */
export async function firstAlarms(
  { query }: Pick<Scheduling, 'query'>,
  pools: readonly Pick<OpenPool, 'kind' | 'pool' | 'from'>[],
): Promise<(Alarm | undefined)[]> {
  const rows = await query<Alarm & { place: number }>(
    `SELECT open.place, open.kind, open.pool, first.due_at, first.seq
     FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) WITH ORDINALITY AS open (kind, pool, due_at, seq, place)
     CROSS JOIN LATERAL (
       SELECT a.due_at, a.seq FROM alarms AS a
       WHERE a.kind = open.kind AND a.pool = open.pool AND (a.due_at, a.seq) >= (open.due_at, open.seq)
       ORDER BY a.due_at, a.seq LIMIT 1
     ) AS first`,
    columnsOf(pools),
  )
  const found = new Map(rows.map((row) => [row.place, row]))
  return pools.map((_, index) => found.get(index + 1))
}

function columnsOf(pools: readonly Pick<OpenPool, 'kind' | 'pool' | 'from'>[]): unknown[] {
  return [
    pools.map(({ kind }) => kind),
    pools.map(({ pool }) => pool),
    pools.map(({ from }) => from.due_at),
    pools.map(({ from }) => from.seq),
  ]
}

/** Returns the first alarm of every kind and pool. It goes from one name to the next, however many alarms there are. */
export function allFirstAlarms(query: Query): Promise<Alarm[]> {
  return query<Alarm>(
    `WITH RECURSIVE first AS (
      (SELECT kind, pool, due_at, seq FROM alarms ORDER BY kind, pool, due_at, seq LIMIT 1)
      UNION ALL
      SELECT n.* FROM first AS f CROSS JOIN LATERAL (
        SELECT a.kind, a.pool, a.due_at, a.seq FROM alarms AS a WHERE (a.kind, a.pool) > (f.kind, f.pool)
        ORDER BY a.kind, a.pool, a.due_at, a.seq LIMIT 1
      ) AS n
    ) SELECT kind, pool, due_at, seq FROM first`,
  )
}

/** Moves all due times, because the clock was set back: otherwise tasks that are due now would wait for it to catch up. */
export function shiftTasks({ send }: Pick<Scheduling, 'send'>, ms: number): void {
  send('UPDATE tasks SET due_at = due_at - $1, again_at = again_at - $1', [ms])
  send('UPDATE alarms SET due_at = due_at - $1', [ms])
}

function noteAlarms(tx: Scheduling, rows: readonly TaskAlarm[]): void {
  const armed = rows.filter((row) => row.is_armed)
  if (armed.length > 0)
    tx.armed(armed.map(({ kind, pool, due_at, seq }) => ({ kind, pool: pool ?? '', due_at, seq })))
}

export function isBacklog(kind: TaskKind): boolean {
  return kind === 'run' || kind === 'delivery'
}

export function newTask({
  key,
  kind,
  due_at: dueAt,
  lane,
  subject,
  pool,
}: Pick<TaskRow, 'key' | 'kind' | 'due_at' | 'lane' | 'subject' | 'pool'>): NewTask {
  return {
    key: textOfColumn(key),
    kind,
    dueAt,
    ...(lane !== null && { lane: textOfColumn(lane) }),
    ...(subject !== null && { subject }),
    ...(pool !== null && { pool: textOfColumn(pool) }),
  }
}

export function claimedTask(row: TaskRow): ClaimedTask {
  const { attempt, claims, interrupted } = row
  return { ...newTask(row), attempt, claims, interrupted }
}

export function inOrder(a: Pick<Alarm, 'due_at' | 'seq'>, b: Pick<Alarm, 'due_at' | 'seq'>): number {
  return a.due_at === b.due_at ? a.seq - b.seq : a.due_at - b.due_at
}

/** The order of the database, so that all transactions lock rows in the same one. */
export function byBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** @throws RangeError for a time that is no number */
function wholeNumber(time: number): number {
  if (!Number.isSafeInteger(Math.round(time))) throw new RangeError('a time must be a number')
  return Math.round(time)
}
