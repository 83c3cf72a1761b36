/**
 * Copies a store into an empty one of the same or the other kind, while neither is in use. Each record is read, written, read again
 * from the copy and compared by its digest, all in one transaction of the target: it holds all of it or nothing.
 */

import { createHash } from 'node:crypto'
import type { DeliveryRecord, EventRecord, Id, RequestRecord, RunRecord } from './port.ts'
import { StoreError } from './port.ts'

/** How a value of a column is stored: a text of any characters, JSON, an id, a whole number, or true and false. */
type ColumnType = 'text' | 'json' | 'id' | 'number' | 'flag'

interface PlainTable {
  readonly table: string
  readonly columns: Readonly<Record<string, ColumnType>>
  /** The columns by which rows differ, in whose order they are read. */
  readonly key: readonly string[]
  /** Columns that PostgreSQL keeps in several rows, and adds up. */
  readonly summed?: readonly string[]
}

/** Tables that are the same in each store, but for how values are stored. */
export const plainTables = {
  sessions: {
    table: 'sessions',
    columns: { session: 'text', turns: 'number', last_at: 'number', made_up: 'flag' },
    key: ['session'],
  },
  runnerStates: {
    table: 'runner_states',
    columns: { session: 'text', runner: 'text', at: 'number', state: 'text' },
    key: ['session', 'runner'],
  },
  dedupe: {
    table: 'dedupe',
    columns: { scope: 'text', key: 'text', digest: 'text', until: 'number', original: 'id', request: 'id' },
    key: ['scope', 'key'],
  },
  tasks: {
    table: 'tasks',
    columns: {
      key: 'text',
      kind: 'text',
      lane: 'text',
      due_at: 'number',
      subject: 'id',
      pool: 'text',
      attempt: 'number',
      claims: 'number',
      interrupted: 'flag',
      held: 'flag',
      again_at: 'number',
    },
    key: ['seq'],
  },
  coalesced: {
    table: 'coalesced',
    columns: {
      key: 'text',
      number: 'number',
      run: 'id',
      at: 'number',
      deadline: 'number',
      joined: 'number',
      first_kept: 'number',
      size: 'number',
    },
    key: ['key', 'number'],
  },
  joined: {
    table: 'joined',
    columns: {
      action: 'id',
      run: 'id',
      number: 'number',
      request: 'id',
      at: 'number',
      size: 'number',
      message: 'text',
      prompt: 'text',
    },
    key: ['action'],
  },
  route: {
    table: 'route',
    columns: { one: 'number', channel: 'text', target: 'text', set_by: 'text' },
    key: ['one'],
  },
  spent: {
    table: 'spent',
    columns: {
      day: 'text',
      scope: 'text',
      runs: 'number',
      tokens: 'number',
      reported: 'number',
      micros: 'number',
    },
    key: ['day', 'scope'],
    summed: ['runs', 'tokens', 'reported', 'micros'],
  },
  costs: {
    table: 'costs',
    columns: {
      day: 'text',
      mapping: 'text',
      model: 'text',
      session: 'text',
      runs: 'number',
      tokens: 'number',
      micros: 'number',
      unpriced: 'number',
    },
    key: ['day', 'mapping', 'model', 'session'],
    summed: ['runs', 'tokens', 'micros', 'unpriced'],
  },
  jobs: {
    table: 'jobs',
    columns: {
      id: 'id',
      filter: 'json',
      options: 'json',
      state: 'text',
      whole: 'number',
      total: 'number',
      done: 'number',
      failed: 'number',
      skipped: 'number',
      created_at: 'number',
      ended_at: 'number',
    },
    key: ['id'],
  },
  jobItems: {
    table: 'job_items',
    columns: {
      job: 'id',
      number: 'number',
      request: 'id',
      replay: 'id',
      state: 'text',
      reason: 'text',
    },
    key: ['job', 'number'],
  },
  issues: {
    table: 'issues',
    columns: {
      key: 'text',
      code: 'text',
      subject: 'text',
      cause: 'text',
      next: 'json',
      count: 'number',
      first: 'number',
      last: 'number',
      state: 'text',
      muted_until: 'number',
      resolved_at: 'number',
      said_on: 'text',
      severity: 'number',
      alerted: 'text',
    },
    key: ['key'],
  },
  sourceValues: {
    table: 'source_values',
    columns: { source: 'text', name: 'text', value: 'text' },
    key: ['source', 'name'],
  },
} as const satisfies Readonly<Record<string, PlainTable>>

export type PlainKind = keyof typeof plainTables

/** The values of a row of such a table, by the names of its columns. Ids are texts. */
export type PlainRow = Readonly<Record<string, string | number | boolean | null>>

/** A turn of a session, in the order in which turns were appended to it. */
export interface CopiedTurn {
  readonly session: string
  readonly turn: Id
  readonly at: number
  /** JSON. */
  readonly messages: string
  /** The time by which its age is counted: the earliest of it and of all that follow it in its session. */
  readonly since: number
}

/** What is copied, in this order. */
export const copiedKinds = [
  'requests',
  'runs',
  'events',
  'deliveries',
  'turns',
  ...(Object.keys(plainTables) as PlainKind[]),
] as const

export type CopiedKind = (typeof copiedKinds)[number]

/** What is read and written of each kind. */
export type Copied<Kind extends CopiedKind> = Kind extends 'requests'
  ? RequestRecord
  : Kind extends 'runs'
    ? RunRecord
    : Kind extends 'events'
      ? EventRecord
      : Kind extends 'deliveries'
        ? DeliveryRecord
        : Kind extends 'turns'
          ? CopiedTurn
          : PlainRow

/** What the sources have stored. The embedded store leaves it to them, in files of the data folder. */
export interface StoredValues {
  read(): Promise<readonly PlainRow[]>
  write(rows: readonly PlainRow[]): Promise<void>
}

/** A store that is not in use, opened to be copied. */
export interface CopySource {
  /** The schema and where the store is, without a password. */
  readonly name: string
  count(kind: CopiedKind): Promise<number>
  read<Kind extends CopiedKind>(kind: Kind): AsyncIterable<readonly Copied<Kind>[]>
  close(): Promise<void>
}

/** An empty store that is written in one transaction. */
export interface CopyTarget extends CopySource {
  write<Kind extends CopiedKind>(kind: Kind, items: readonly Copied<Kind>[]): Promise<void>
  /** Makes what follows from what was written, and commits. */
  commit(): Promise<void>
}

/** How much of one kind was copied, and the digest of it in both stores. */
export interface CopiedCount {
  readonly kind: CopiedKind
  readonly count: number
  readonly digest: string
}

export type OnCopied = (done: number, total: number) => void

/** @throws StoreError if the copy is not what was copied; the target is then as it was */
export async function copyStore(
  source: CopySource,
  target: CopyTarget,
  onCopied: OnCopied = () => undefined,
): Promise<readonly CopiedCount[]> {
  let total = 0
  for (const kind of copiedKinds) total += await source.count(kind)
  // Each record is written once and read once more.
  let done = 0
  const note = (count: number) => {
    done += count
    onCopied(done, 2 * total)
  }
  const counts: CopiedCount[] = []
  for (const kind of copiedKinds) {
    const from = await digestOf(kind, source.read(kind), async (items) => {
      await target.write(kind, items)
      note(items.length)
    })
    const to = await digestOf(kind, target.read(kind), async (items) => note(items.length))
    if (from.count !== to.count || from.digest !== to.digest)
      throw new StoreError(
        'STORE_UNAVAILABLE',
        `the copy differs in its ${kind}: ${from.count} were read and ${to.count} written, with the digests ${from.digest} and ${to.digest}; nothing was copied`,
      )
    counts.push({ kind, ...from })
  }
  await target.commit()
  return counts
}

/** Adds up the digests of all items, so that their order does not matter; turns have their number in their session. */
async function digestOf<Kind extends CopiedKind>(
  kind: Kind,
  pages: AsyncIterable<readonly Copied<Kind>[]>,
  take: (items: readonly Copied<Kind>[]) => Promise<void>,
): Promise<{ readonly count: number; readonly digest: string }> {
  const turns = new Map<string, number>()
  let count = 0
  let sum = 0n
  for await (const items of pages) {
    for (const item of items) {
      const hash = createHash('sha256').update(canonical(kind === 'turns' ? numbered(item, turns) : item))
      sum += BigInt(`0x${hash.digest('hex')}`)
    }
    count += items.length
    await take(items)
  }
  return { count, digest: BigInt.asUintN(64, sum).toString(16).padStart(16, '0') }
}

/** `since` is not compared: each store counts it in its own way. */
function numbered(item: unknown, turns: Map<string, number>): unknown {
  const { since: _since, ...turn } = item as CopiedTurn
  const number = (turns.get(turn.session) ?? 0) + 1
  turns.set(turn.session, number)
  return { ...turn, number }
}

/** Writes a value as JSON with its names in order, and bytes by their digest. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, each: unknown) => {
    if (each instanceof Uint8Array) return createHash('sha256').update(each).digest('hex')
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
