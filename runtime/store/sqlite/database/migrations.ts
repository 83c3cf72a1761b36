/** The schema: numbered migrations, applied in one transaction and counted by `user_version`. */

import type { DatabaseSync } from 'node:sqlite'
import { StoreError } from '../../port.ts'
import { epoch, placesInMs } from './ids.ts'
import { migrateToSchema6, type OnCopied } from './schema-6.ts'

/** SQL, or a function that copies rows; or SQL that only adds tables, columns and indexes, before which nothing need be backed up. */
type Migration = string | ((db: DatabaseSync, onCopied?: OnCopied) => void) | { readonly adds: string }

/**
 * A released migration is never edited: a change is a new entry at the end.
 *
 * The accept path writes to `requests` and `events`, or `runs` + `tasks` + `alarms`, all of which grow at their end. It
 * touches one index, that of pending events: the other partial indexes leave out the states in which records begin, and
 * requests that have no body or repeat no other.
 *
 * - `requests`   a column for each fact by which requests are found; `more` is JSON of the rare ones
 * - `runs`       what was asked in `text`, `prompt` and `draft`, and how it goes in `changes`
 * - `events`     the pending ones have `pending` = 1; urgency 0 asked for `now`
 * - `lookups`    in which blocks of requests a value occurs; written in the background, up to `lookups_until`
 * - `tasks`      what is still to be done; its row goes when it settles as done
 * - `alarms`     the tasks that may be claimed once due: those without a lane, and the heads of lanes
 * - `lanes`      the order within a lane, by acceptance
 * - `coalesced`  runs that requests may join, by key and in order; without `deadline` none joins any more
 * - `joined`     the requests that joined a run: the newest 1,000, with as much of their content as is kept
 * - `turns`      at places of their time, in the order in which they were appended
 * - `sessions`   one row for the turns of each session: how many, and when the last one was
 * - `spent`      what runs cost by day (UTC) and scope: '' is all of them, else the policy
 * - `costs`      what turns cost by day (UTC), mapping, model and session; `micros` are millionths of a US dollar
 * - `traces`     JSON that says why a request was decided as it was, at the request's place
 * - `jobs`, `job_items`  requests that are replayed, by number; an item has a `replay` once its turn has come
 * - `issues`     open, muted and resolved problems
 * - `pulse`      one row: the commit number, by which a commit with an unknown outcome is settled, the last sequence number, and
 *                the bytes of kept bodies, heads and traces
 */
export const migrations: readonly Migration[] = [
  `
  CREATE TABLE requests (
    id BLOB PRIMARY KEY, outcome TEXT NOT NULL, endpoint TEXT NOT NULL, record TEXT NOT NULL, body BLOB
  ) STRICT;
  CREATE INDEX requests_by_outcome ON requests (outcome, id) WHERE outcome <> 'accepted';

  CREATE TABLE runs (
    id BLOB PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL, session TEXT NOT NULL, record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX runs_by_state ON runs (state, id) WHERE state <> 'queued' AND state <> 'succeeded';

  CREATE TABLE events (id BLOB PRIMARY KEY, state TEXT NOT NULL, record TEXT NOT NULL) STRICT;
  CREATE TABLE inbox (rank INTEGER NOT NULL, id BLOB NOT NULL, PRIMARY KEY (rank, id)) STRICT, WITHOUT ROWID;

  CREATE TABLE deliveries (id BLOB PRIMARY KEY, state TEXT NOT NULL, record TEXT NOT NULL) STRICT;
  CREATE INDEX deliveries_by_state ON deliveries (state, id) WHERE state <> 'delivered';

  CREATE TABLE turns (
    session TEXT NOT NULL, number INTEGER NOT NULL, turn BLOB NOT NULL, at INTEGER NOT NULL,
    messages TEXT NOT NULL, PRIMARY KEY (session, number)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX turns_once ON turns (session, turn);
  CREATE INDEX turns_by_time ON turns (at);

  CREATE TABLE dedupe (
    scope TEXT NOT NULL, key TEXT NOT NULL, digest TEXT, until INTEGER NOT NULL, original BLOB NOT NULL,
    request BLOB NOT NULL, PRIMARY KEY (scope, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE tasks (
    key TEXT PRIMARY KEY, seq INTEGER NOT NULL, kind TEXT NOT NULL, lane TEXT, due_at INTEGER NOT NULL,
    subject BLOB, attempt INTEGER NOT NULL, claims INTEGER NOT NULL, claimed INTEGER NOT NULL,
    interrupted INTEGER NOT NULL, held INTEGER NOT NULL, rearm_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tasks_claimed ON tasks (key) WHERE claimed = 1;
  CREATE TABLE alarms (
    kind TEXT NOT NULL, due_at INTEGER NOT NULL, seq INTEGER NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (kind, due_at, seq)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE lanes (
    lane TEXT NOT NULL, seq INTEGER NOT NULL, key TEXT NOT NULL, PRIMARY KEY (lane, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE route (one INTEGER PRIMARY KEY CHECK (one = 1), channel TEXT NOT NULL, target TEXT, set_by TEXT) STRICT;
  CREATE TABLE pulse (one INTEGER PRIMARY KEY CHECK (one = 1), commits INTEGER NOT NULL, sequence INTEGER NOT NULL) STRICT;
  INSERT INTO pulse VALUES (1, 0, 0);
  CREATE TABLE probe (weight BLOB) STRICT;
  `,
  // Headers and query of a request whose body is kept, and an index that leads to those requests alone.
  `
  ALTER TABLE requests ADD COLUMN head TEXT;
  CREATE INDEX requests_with_body ON requests (id) WHERE body IS NOT NULL;
  `,
  // Alarms by pool, so that a full pool is not walked. The requests of coalesced runs, sessions, and what runs cost.
  `
  ALTER TABLE tasks ADD COLUMN pool TEXT;
  ALTER TABLE alarms RENAME TO alarms_of_no_pool;
  CREATE TABLE alarms (
    kind TEXT NOT NULL, pool TEXT NOT NULL, due_at INTEGER NOT NULL, seq INTEGER NOT NULL, key TEXT NOT NULL,
    PRIMARY KEY (kind, pool, due_at, seq)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO alarms SELECT kind, '', due_at, seq, key FROM alarms_of_no_pool;
  DROP TABLE alarms_of_no_pool;

  CREATE TABLE coalesced (
    key TEXT NOT NULL, number INTEGER NOT NULL, run BLOB NOT NULL, at INTEGER NOT NULL, deadline INTEGER,
    joined INTEGER NOT NULL, first_kept INTEGER NOT NULL, size INTEGER NOT NULL, PRIMARY KEY (key, number)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX coalesced_by_run ON coalesced (run);
  CREATE INDEX coalesced_by_time ON coalesced (at);
  CREATE TABLE joined (
    action BLOB PRIMARY KEY, run BLOB NOT NULL, number INTEGER NOT NULL, request BLOB NOT NULL, at INTEGER NOT NULL,
    size INTEGER NOT NULL, message TEXT, prompt TEXT
  ) STRICT;
  CREATE UNIQUE INDEX joined_in_order ON joined (run, number);

  CREATE TABLE sessions (
    session TEXT PRIMARY KEY, turns INTEGER NOT NULL, last_at INTEGER NOT NULL, made_up INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sessions_by_time ON sessions (last_at, session);
  CREATE INDEX sessions_made_up ON sessions (last_at, session) WHERE made_up = 1;
  INSERT INTO sessions
    SELECT session, count(*), max(at), session GLOB 'hook:????????-????-7???-????-????????????' FROM turns GROUP BY session;
  CREATE TABLE runner_states (
    session TEXT NOT NULL, runner TEXT NOT NULL, at INTEGER NOT NULL, state TEXT NOT NULL,
    PRIMARY KEY (session, runner)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE spent (
    day TEXT NOT NULL, scope TEXT NOT NULL, runs INTEGER NOT NULL, tokens INTEGER NOT NULL, told INTEGER NOT NULL,
    PRIMARY KEY (day, scope)
  ) STRICT, WITHOUT ROWID;
  `,
  // Deliveries by channel, to list them and to count the open ones.
  `
  ALTER TABLE deliveries ADD COLUMN channel TEXT NOT NULL DEFAULT '';
  UPDATE deliveries SET channel = record ->> '$.channel';
  CREATE INDEX deliveries_by_channel ON deliveries (state, channel, id) WHERE state <> 'delivered';
  `,
  // An index that leads to the oldest bodies of requests without effect, past all accepted ones.
  `
  CREATE INDEX requests_with_spare_body ON requests (id) WHERE body IS NOT NULL AND outcome <> 'accepted';
  `,
  migrateToSchema6,
  // Fewer indexes that every run pays for. Claimed tasks are searched only at open. One index leads to the newest sessions, and to
  // the oldest with a generated key. Turns lie in the order in which they were appended, at places of their time. A summary lies
  // before turns that are older than itself, so a turn's place is made of the earliest time of all that follow it.
  `
  DROP INDEX tasks_claimed;
  DROP INDEX sessions_by_time;
  DROP INDEX sessions_made_up;
  CREATE INDEX sessions_in_order ON sessions (made_up, last_at, session);

  ALTER TABLE turns RENAME TO turns_6;
  CREATE TABLE turns (
    place INTEGER PRIMARY KEY, session TEXT NOT NULL, turn BLOB NOT NULL, at INTEGER NOT NULL, messages TEXT NOT NULL
  ) STRICT;
  INSERT INTO turns
    SELECT place, session, turn, at, messages FROM (
      SELECT max((since - ${epoch}) * ${placesInMs} - nth) OVER (ORDER BY nth) + nth AS place, session, number FROM (
        SELECT session, number, since, row_number() OVER (ORDER BY since, session, number) AS nth FROM (
          SELECT session, number, min(at) OVER (
            PARTITION BY session ORDER BY number ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
          ) AS since FROM turns_6
        )
      )
    ) CROSS JOIN turns_6 USING (session, number);
  CREATE INDEX turns_by_session ON turns (session);
  DROP TABLE turns_6;
  `,
  // Traces, replay jobs and issues. The bytes of bodies are carried along, and no longer counted at each open.
  {
    adds: `
  CREATE TABLE traces (place INTEGER PRIMARY KEY, trace TEXT NOT NULL) STRICT;
  ALTER TABLE events ADD COLUMN forgotten_at INTEGER;
  DROP INDEX requests_with_spare_body;
  ALTER TABLE pulse ADD COLUMN body_bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE pulse SET body_bytes = (
    SELECT coalesce(sum(length(body) + coalesce(octet_length(head), 0)), 0)
    FROM requests INDEXED BY requests_with_body WHERE body IS NOT NULL
  );

  CREATE TABLE jobs (
    id BLOB PRIMARY KEY, filter TEXT NOT NULL, options TEXT NOT NULL, state TEXT NOT NULL, whole INTEGER NOT NULL,
    total INTEGER NOT NULL, done INTEGER NOT NULL, failed INTEGER NOT NULL, skipped INTEGER NOT NULL,
    created_at INTEGER NOT NULL, ended_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE job_items (
    job BLOB NOT NULL, number INTEGER NOT NULL, request BLOB NOT NULL, replay BLOB, state TEXT NOT NULL, reason TEXT,
    PRIMARY KEY (job, number)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX job_items_once ON job_items (job, request);
  CREATE INDEX job_items_open ON job_items (job, number) WHERE state = 'open';

  CREATE TABLE issues (
    key TEXT PRIMARY KEY, code TEXT NOT NULL, subject TEXT NOT NULL, cause TEXT NOT NULL, next TEXT NOT NULL,
    count INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, state TEXT NOT NULL,
    muted_until INTEGER, resolved_at INTEGER, said_on TEXT, severity INTEGER NOT NULL,
    alerted TEXT NOT NULL DEFAULT ''
  ) STRICT, WITHOUT ROWID;
  `,
  },
  // What turns cost in money.
  {
    adds: `
  ALTER TABLE spent ADD COLUMN micros INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE costs (
    day TEXT NOT NULL, mapping TEXT NOT NULL, model TEXT NOT NULL, session TEXT NOT NULL, runs INTEGER NOT NULL,
    tokens INTEGER NOT NULL, micros INTEGER NOT NULL, unpriced INTEGER NOT NULL, PRIMARY KEY (day, mapping, model, session)
  ) STRICT, WITHOUT ROWID;
  `,
  },
  // Replays by the request that they repeat.
  { adds: 'CREATE INDEX requests_by_original ON requests (replay_of) WHERE replay_of IS NOT NULL' },
  // Bodies that are kept for a short while.
  {
    adds: `CREATE INDEX requests_with_brief_body ON requests (place)
      WHERE body IS NOT NULL AND outcome IN ('ignored', 'skipped')`,
  },
]

/** Returns whether the migrations of a store with this schema only add to it. */
export function onlyAdds(version: number): boolean {
  return migrations.slice(version).every((step) => typeof step === 'object')
}

/** Returns the number of the newest migration that was applied; 0 for an empty database. */
export function schemaOf(db: DatabaseSync): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

/** Brings the database to the newest schema. @throws StoreError `SCHEMA_NEWER` if a newer version has written it */
export function migrate(
  db: DatabaseSync,
  steps: readonly Migration[] = migrations,
  onCopied?: OnCopied,
  onStep?: (schema: number) => void,
): void {
  const version = schemaOf(db)
  if (version > steps.length) {
    throw new StoreError(
      'SCHEMA_NEWER',
      `the store has schema ${version}, this version knows schemas up to ${steps.length}: start the newer version again, or restore a backup made before it`,
    )
  }
  if (version === steps.length) return
  db.exec('BEGIN IMMEDIATE')
  try {
    for (const [index, step] of steps.entries()) {
      if (index < version) continue
      if (typeof step === 'string') db.exec(step)
      else if (typeof step === 'function') step(db, onCopied)
      else db.exec(step.adds)
      onStep?.(index + 1)
    }
    db.exec(`PRAGMA user_version = ${steps.length}`)
    db.exec('COMMIT')
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}
