/** The context of every function that changes the store: one transaction, and notes for the time after its commit. */

import type { Dialect, Driver, Transaction } from '@reveille/kit'
import type { OutcomeWithoutEffect } from './counters.ts'
import { type Change, type Id, StoreError, type StoreLimits, type StoreOptions } from './port.ts'
import { lower, type Places, type Pool } from './queue/places.ts'
import { tables } from './schema.ts'

/** The running counts, so that no limit has to count rows. */
export type Counted = OutcomeWithoutEffect | 'backlog' | 'pending' | 'pendingNow' | 'keptBytes'

export type Counters = Record<Counted, number>

export type Limits = StoreLimits & Pick<StoreOptions, 'maxWithoutEffect'>

export interface Context extends Transaction {
  readonly dialect: Dialect
  readonly isShared: boolean
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  /** This process. */
  readonly node: Id
  /** The counts of all nodes, with what this transaction has added. */
  readonly counters: Counters
  readonly limits: Limits
  /** Goes on without waiting for a statement whose result is not needed. The transaction fails if it does. */
  later(statement: Promise<unknown>): void
  /** Adds to a count. */
  count(name: Counted, by: number): void
  /** Notes a change for listeners. */
  changed(type: Change['type'], id: string, state: string, stage?: string): void
  /** Notes that a task of a pool may be due at this time. */
  due(pool: Pool, at: number): void
  /** Notes that a pool that was full has room. */
  room(pool: Pool): void
  /** Notes that the holder of a lease has to be notified of a cancel. */
  cancelled(lease: string): void
}

/** Notes of a transaction. */
export interface Notes {
  readonly changes: Change[]
  readonly counts: Map<Counted, number>
  /** Where tasks may be due, or where there is room for them. */
  readonly pools: Places
  readonly cancelled: string[]
}

export interface ContextOptions {
  readonly driver: Pick<Driver, 'dialect' | 'isShared'>
  readonly node: Id
  readonly limits: Limits
  readonly counters: Counters
}

/** Makes the context of a transaction, and what it notes. */
export function createContext(
  tx: Transaction,
  now: number,
  { driver: { dialect, isShared }, node, limits, counters }: ContextOptions,
): { readonly context: Context; readonly notes: Notes; readonly sent: () => Promise<unknown> } {
  const notes: Notes = { changes: [], counts: new Map(), pools: new Map(), cancelled: [] }
  const counted = { ...counters }
  let pending: Promise<unknown>[] = []
  /** Resolves when all statements have ended. */
  const sent = () => Promise.all(pending.splice(0))
  /** Keys that are locked for this transaction. */
  let locked: ReadonlySet<string> = new Set()
  const context: Context = {
    all: (sql, values) => tx.all(sql, values),
    run: (sql, values) => tx.run(sql, values),
    insert: (table, rows, onConflict) => tx.insert(table, rows, onConflict),
    update: (table, columns, rows) => tx.update(table, columns, rows),
    async lock(keys) {
      const missing = keys.filter((key) => !locked.has(key))
      if (missing.length === 0) return
      // Statements sent after it wait as well.
      context.later(tx.lock(missing))
      locked = new Set([...locked, ...missing])
    },
    /** Notes made inside are undone too. */
    async nested(work) {
      const before = structuredClone(notes)
      const countedBefore = { ...counted }
      const lockedBefore = locked
      await sent()
      try {
        return await tx.nested(async () => {
          const result = await work()
          await sent()
          return result
        })
      } catch (error) {
        pending = []
        locked = lockedBefore
        Object.assign(notes, before)
        Object.assign(counted, countedBefore)
        throw error
      }
    },
    dialect,
    isShared,
    now,
    node,
    limits,
    counters: counted,
    later(statement) {
      statement.catch(() => undefined)
      pending.push(statement)
    },
    count(name, by) {
      if (by === 0) return
      counted[name] += by
      notes.counts.set(name, (notes.counts.get(name) ?? 0) + by)
    },
    changed(type, id, state, stage) {
      notes.changes.push({ type, id, state, ...(stage !== undefined && { stage }) })
    },
    due({ kind, pool }, dueAt) {
      lower(notes.pools, { kind, pool, dueAt, isFull: true })
    },
    room({ kind, pool }) {
      lower(notes.pools, { kind, pool, dueAt: Number.POSITIVE_INFINITY, isFull: false })
    },
    cancelled(lease) {
      notes.cancelled.push(lease)
    },
  }
  return { context, notes, sent }
}

/** Writes what was counted, as the last statement of a transaction. */
export function writeCounts({ run, later, node }: Context, { counts }: Notes): void {
  const changed = [...counts].filter(([, by]) => by !== 0).toSorted()
  if (changed.length === 0) return
  const rows = changed.map((_, index) => `(?1, ?${2 * index + 2}, ?${2 * index + 3})`)
  later(
    run(
      `INSERT INTO counts (node, name, value) VALUES ${rows.join(', ')}
       ON CONFLICT (node, name) DO UPDATE SET value = counts.value + excluded.value`,
      [node, ...changed.flat()],
    ),
  )
}

export const noCounts: Readonly<Counters> = {
  ignored: 0,
  skipped: 0,
  duplicate: 0,
  failed: 0,
  refused: 0,
  backlog: 0,
  pending: 0,
  pendingNow: 0,
  keptBytes: 0,
}

/** In the place of a node's id: what earlier processes have counted. */
export const noNode = '00000000-0000-0000-0000-000000000000'

/** Sums up what earlier processes have counted, where there is no other one. */
export async function foldCounts(tx: Pick<Context, 'all' | 'run' | 'insert'>): Promise<void> {
  const counts = await readCounts(tx)
  await tx.run(`DELETE FROM counts WHERE name <> 'commits'`)
  await tx.insert(
    tables.counts,
    Object.keys(noCounts).map((name) => [noNode, name, counts[name as Counted]]),
  )
}

/** Reads the counts of all nodes, but for one. */
export async function readCounts({ all }: Pick<Context, 'all'>, butFor?: Id): Promise<Counters> {
  const rows = await all<{ name: Counted; value: number }>(
    `SELECT name, sum(value) AS value FROM counts ${butFor === undefined ? '' : 'WHERE node <> ?1'} GROUP BY name`,
    butFor === undefined ? [] : [butFor],
  )
  return { ...noCounts, ...Object.fromEntries(rows.map(({ name, value }) => [name, Number(value)])) }
}

/** An error whose call has written nothing. */
export function isHarmless(error: unknown): error is StoreError {
  return error instanceof StoreError && (error.code === 'BACKLOG' || error.code === 'LEASE_LOST')
}
