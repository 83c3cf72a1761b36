/**
 * The tables of the store, and the migrations that create them. Both databases have the same tables; ids are UUIDv7, so that the order
 * of ids is that of time.
 */

import type { ColumnType, Dialect, Driver, Table, Transaction } from '@reveille/kit'
import { StoreError } from './port.ts'

/** `text?` is a column that may be null. */
type Column = ColumnType | `${ColumnType}?`

type ValueOf<Of> = Of extends `${infer Type}?`
  ? ValueOf<Type> | null
  : Of extends 'integer' | 'number' | 'sequence'
    ? number
    : Of extends 'bytes'
      ? Uint8Array
      : string

/** The last argument names the primary key; default: the first column. `row` is only a type. */
function table<const Columns extends Readonly<Record<string, Column>>>(
  name: string,
  columns: Columns,
  primaryKey: readonly (keyof Columns & string)[] = [Object.keys(columns)[0] as string],
): Table & { readonly row?: { readonly [Name in keyof Columns]: ValueOf<Columns[Name]> } } {
  const entries = Object.entries<string>(columns).map(([column, type]) => [
    column,
    { type: type.replace('?', '') as ColumnType, isNullable: type.endsWith('?') },
  ])
  return { name, columns: Object.fromEntries(entries), primaryKey }
}

export const tables = {
  /** A column for each field by which requests are filtered. `kept` counts the bytes of body, head and trace, where there is any. */
  requests: table('requests', {
    id: 'id',
    outcome: 'text',
    endpoint: 'text',
    mapping: 'text?',
    code: 'text?',
    client: 'text?',
    delivery: 'text?',
    replay_of: 'id?',
    generation: 'integer',
    digest: 'text?',
    node: 'text?',
    received_at: 'integer',
    record: 'text',
    kept: 'integer?',
    body: 'bytes?',
    head: 'text?',
    trace: 'text?',
  }),
  /** In which blocks of requests a value occurs, up to the id in `lookups_end`; see `records/lookups.ts`. */
  lookups: table('lookups', { name: 'text', value: 'text', block: 'integer' }, ['name', 'value', 'block']),
  lookups_end: table('lookups_end', { one: 'integer', id: 'id' }),
  /** `record` is written once; the fields that changed since are in `changes`. */
  runs: table('runs', {
    id: 'id',
    kind: 'text',
    state: 'text',
    session: 'text',
    endpoint: 'text?',
    created_at: 'integer',
    record: 'text',
    changes: 'text?',
  }),
  /**
   * `pending` is 1 until the event is consumed; urgency 0 asks for a heartbeat now. Until then `consumed_at` and `consumed_by` hold values of
   * the same width, so that SQLite overwrites the row in place.
   */
  events: table('events', {
    id: 'id',
    pending: 'integer?',
    urgency: 'integer',
    created_at: 'integer',
    consumed_at: 'integer?',
    consumed_by: 'id?',
    forgotten_at: 'integer?',
    record: 'text',
  }),
  deliveries: table('deliveries', { id: 'id', state: 'text', channel: 'text', record: 'text' }),
  /** The turns of sessions, in the order in which they were appended. A summary gets the number of the last turn it replaces. */
  turns: table('turns', { number: 'integer', session: 'text', turn: 'id', at: 'integer', messages: 'text' }, [
    'session',
    'number',
  ]),
  sessions: table('sessions', {
    session: 'text',
    turns: 'integer',
    last_at: 'integer',
    is_generated: 'integer',
  }),
  runner_states: table('runner_states', { session: 'text', runner: 'text', at: 'integer', state: 'text' }, [
    'session',
    'runner',
  ]),
  dedupe: table('dedupe', { key: 'text', digest: 'text?', until: 'integer', original: 'id', request: 'id' }),
  /** Runs that requests may join, by key and in order. Without `deadline` none joins any more. */
  coalesced: table(
    'coalesced',
    {
      key: 'text',
      number: 'integer',
      run: 'id',
      at: 'integer',
      deadline: 'integer?',
      joined: 'integer',
      first_kept: 'integer',
      size: 'integer',
    },
    ['key', 'number'],
  ),
  joined: table('joined', {
    action: 'id',
    run: 'id',
    number: 'integer',
    request: 'id',
    at: 'integer',
    size: 'integer',
    content: 'text?',
  }),
  /** `state` is null behind the head of a lane; `ready` tasks may be claimed once they are due. */
  tasks: table(
    'tasks',
    {
      sequence: 'sequence',
      key: 'text',
      kind: 'text',
      lane: 'text?',
      pool: 'text',
      due_at: 'integer',
      subject: 'id?',
      state: 'text?',
      attempt: 'integer',
      claims: 'integer',
      waits_again: 'integer',
      again_at: 'integer?',
      interrupted: 'integer',
      cancelled: 'integer',
      leased_by: 'id?',
      leased_until: 'integer?',
    },
    ['sequence'],
  ),
  /** Held by one node at a time: leadership, and the pools of channels. `until` is by the database's clock. */
  leases: table('leases', { name: 'text', owner: 'id', until: 'integer' }),
  nodes: table('nodes', {
    id: 'id',
    name: 'text',
    version: 'text',
    role: 'text',
    live: 'text?',
    started_at: 'integer',
    renewed_at: 'integer',
    /** Since when some node has renewed at each time, so that the database was there. */
    steady_since: 'integer',
    skew_ms: 'integer',
    wake_up: 'text',
  }),
  /** Sums that each node adds to in its own row, so that nodes do not wait for each other. */
  counts: table('counts', { node: 'id', name: 'text', value: 'integer' }, ['node', 'name']),
  /** Costs of runs by day (UTC) and scope: '' is all of them, else the policy. */
  spent: table(
    'spent',
    {
      day: 'text',
      scope: 'text',
      runs: 'integer',
      tokens: 'integer',
      reported: 'integer',
      micros: 'integer',
    },
    ['day', 'scope'],
  ),
  costs: table(
    'costs',
    {
      day: 'text',
      mapping: 'text',
      model: 'text',
      session: 'text',
      runs: 'integer',
      tokens: 'integer',
      micros: 'integer',
      unpriced: 'integer',
    },
    ['day', 'mapping', 'model', 'session'],
  ),
  /** `options_key` is the key that an operator gave the order, so that it can be given again; `node` began it. */
  jobs: table('jobs', {
    id: 'id',
    filter: 'text',
    options: 'text',
    options_key: 'text?',
    node: 'id',
    state: 'text',
    whole: 'integer',
    total: 'integer',
    done: 'integer',
    failed: 'integer',
    skipped: 'integer',
    created_at: 'integer',
    ended_at: 'integer?',
  }),
  job_items: table(
    'job_items',
    { job: 'id', number: 'integer', request: 'id', replay: 'id?', state: 'text', reason: 'text?' },
    ['job', 'number'],
  ),
  issues: table('issues', {
    key: 'text',
    code: 'text',
    severity: 'integer',
    subject: 'text',
    cause: 'text',
    next: 'text',
    count: 'integer',
    first: 'integer',
    last: 'integer',
    state: 'text',
    muted_until: 'integer?',
    resolved_at: 'integer?',
    reported_on: 'text?',
    alerted: 'text',
  }),
  /** Sign-ins of the console that were ended before their time. */
  sign_outs: table('sign_outs', { sign_in: 'text', until: 'integer' }),
  /** The destination of replies to `last`; one row. */
  route: table('route', { one: 'integer', channel: 'text', target: 'text?', set_by: 'text?' }),
  source_values: table('source_values', { source: 'text', name: 'text', value: 'text' }, ['source', 'name']),
} as const satisfies Readonly<Record<string, Table>>

/** A row of a table, as it is read. */
export type Row<Name extends keyof typeof tables> = NonNullable<(typeof tables)[Name]['row']>

/** Tables of requests and of their effects, under ids in the order of time. */
export const recordTables = [tables.requests, tables.runs, tables.events, tables.deliveries]

/**
 * The accept path writes to few indexes: most leave out the states in which records begin. A query repeats the condition of a partial
 * index, because SQLite uses it only then.
 */
const indexes = `
  CREATE INDEX requests_by_original ON requests (replay_of, id) WHERE replay_of IS NOT NULL;
  CREATE INDEX requests_by_outcome ON requests (outcome, id) WHERE outcome <> 'accepted';
  CREATE INDEX requests_kept ON requests (id) WHERE kept IS NOT NULL;
  CREATE INDEX requests_kept_briefly ON requests (id) WHERE body IS NOT NULL AND outcome IN ('ignored', 'skipped');
  CREATE INDEX runs_by_state ON runs (state, id) WHERE state <> 'queued' AND state <> 'succeeded';
  CREATE INDEX runs_by_session ON runs (session, id);
  CREATE INDEX runs_by_endpoint ON runs (endpoint, id) WHERE endpoint IS NOT NULL;
  CREATE INDEX events_pending ON events (urgency, id) WHERE pending = 1;
  CREATE INDEX deliveries_by_state ON deliveries (state, channel, id) WHERE state <> 'delivered';
  CREATE INDEX turns_by_time ON turns (at);
  CREATE INDEX turns_by_id ON turns (turn);
  CREATE INDEX sessions_by_time ON sessions (is_generated, last_at, session);
  CREATE INDEX dedupe_by_time ON dedupe (until);
  CREATE INDEX lookups_by_block ON lookups (block);
  CREATE UNIQUE INDEX coalesced_by_run ON coalesced (run);
  CREATE UNIQUE INDEX joined_by_run ON joined (run, number);
  CREATE UNIQUE INDEX tasks_by_key ON tasks (key);
  CREATE INDEX tasks_by_state ON tasks (state, kind, pool, due_at, sequence) WHERE state IS NOT NULL;
  CREATE INDEX tasks_by_lane ON tasks (lane, sequence) WHERE lane IS NOT NULL;
  CREATE UNIQUE INDEX job_items_once ON job_items (job, request);
  CREATE INDEX job_items_open ON job_items (job, number) WHERE state = 'open'`

/** One migration: SQL statements, without their semicolons. A released migration is never edited; a change is a new entry. */
export const migrations: readonly ((dialect: Dialect) => readonly string[])[] = [
  (dialect) => [
    ...Object.values(tables).map((each) => definitionOf(each, dialect)),
    ...indexes.split(';').map((each) => each.trim()),
  ],
]

function definitionOf({ name, columns, primaryKey }: Table, { types, tableOptions }: Dialect): string {
  const lines = Object.entries(columns).map(
    ([column, { type, isNullable }]) => `${column} ${types[type]}${isNullable ? '' : ' NOT NULL'}`,
  )
  const isAssigned = Object.values(columns).some(({ type }) => type === 'sequence')
  if (!isAssigned) lines.push(`PRIMARY KEY (${primaryKey.join(', ')})`)
  return `CREATE TABLE ${name} (${lines.join(', ')}) ${tableOptions}`
}

/** The schema that this version writes. */
export const schemaVersion = migrations.length

/** Returns 0 for a database without tables. */
export async function schemaOf({ all }: Pick<Transaction, 'all'>): Promise<number> {
  const [row] = await all<{ version: number }>('SELECT version FROM meta')
  return row?.version ?? 0
}

/**
 * Applies the migrations that the database does not have yet, in one transaction. A node also serves the schema of the next version,
 * so that nodes can be upgraded one after the other.
 * @throws StoreError `SCHEMA_NEWER`
 */
export async function migrate(driver: Driver, steps = migrations): Promise<void> {
  await driver.transaction(async (tx) => {
    await tx.lock(['schema'])
    // A role that only serves may not create tables, not even those that are there.
    const version = await servedSchema(tx, driver, steps.length)
    if (version >= steps.length) return
    if (version === 0) {
      await driver.createNamespace?.(tx)
      await tx.run('CREATE TABLE meta (one INTEGER PRIMARY KEY, version INTEGER NOT NULL)')
    }
    for (const step of steps.slice(version)) await apply(tx, step(driver.dialect))
    await tx.run('DELETE FROM meta')
    await tx.run('INSERT INTO meta (one, version) VALUES (1, ?1)', [steps.length])
  })
}

/** Returns the schema of a database, 0 for one without a store. @throws StoreError `SCHEMA_NEWER` */
export function schemaIn(driver: Driver): Promise<number> {
  return driver.transaction((tx) => servedSchema(tx, driver, schemaVersion))
}

async function servedSchema(tx: Transaction, { isShared }: Driver, known: number): Promise<number> {
  const version = await tx.nested(() => schemaOf(tx)).catch(() => 0)
  if (version > known + (isShared ? 1 : 0)) throw newer(version, known)
  return version
}

async function apply(tx: Transaction, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await tx.run(statement)
}

function newer(found: number, known: number): StoreError {
  return new StoreError(
    'SCHEMA_NEWER',
    `the store has schema ${found}, this version knows schemas up to ${known}: start the newer version again, or restore a backup made before it`,
  )
}
