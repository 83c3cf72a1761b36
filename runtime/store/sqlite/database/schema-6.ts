/**
 * The migration to schema 6: requests, runs and events at integer places, with columns in the place of JSON. It is frozen, like
 * every released migration, so it names all columns itself.
 */

import type { DatabaseSync } from 'node:sqlite'
import type { EventRecord, RequestRecord, RunRecord } from '../../port.ts'
import { blobOfId, createFreePlaces } from './ids.ts'
import { columnOfText } from './rows.ts'

/** Called after each thousand rows, with the number of rows that were copied and of all rows. */
export type OnCopied = (done: number, total: number) => void

const tables = `
  ALTER TABLE requests RENAME TO requests_5;
  ALTER TABLE runs RENAME TO runs_5;
  ALTER TABLE events RENAME TO events_5;
  DROP INDEX requests_by_outcome;
  DROP INDEX requests_with_body;
  DROP INDEX requests_with_spare_body;
  DROP INDEX runs_by_state;

  CREATE TABLE requests (
    place INTEGER PRIMARY KEY, id BLOB NOT NULL, outcome TEXT NOT NULL, endpoint TEXT NOT NULL, generation INTEGER NOT NULL,
    status INTEGER NOT NULL, code TEXT, mapping TEXT, client TEXT, delivery TEXT, replay_of BLOB, digest TEXT, node TEXT,
    received_at INTEGER NOT NULL, body_bytes INTEGER NOT NULL, read_ms REAL, resolve_ms REAL, accept_ms REAL,
    actions TEXT, more TEXT, body BLOB, head TEXT
  ) STRICT;
  CREATE TABLE runs (
    place INTEGER PRIMARY KEY, id BLOB NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL, session TEXT NOT NULL,
    text ANY NOT NULL, prompt ANY NOT NULL, text_at INTEGER, created_at INTEGER NOT NULL, draft TEXT NOT NULL, changes TEXT
  ) STRICT;
  CREATE TABLE events (
    place INTEGER PRIMARY KEY, id BLOB NOT NULL, pending INTEGER, urgency INTEGER NOT NULL,
    text ANY NOT NULL, prompt ANY NOT NULL, text_at INTEGER, trusted INTEGER NOT NULL, session TEXT NOT NULL,
    request BLOB, run BLOB, endpoint TEXT, mapping TEXT, generation INTEGER NOT NULL, created_at INTEGER NOT NULL,
    consumed_at INTEGER, consumed_by BLOB
  ) STRICT;
  CREATE TABLE lookups (
    name TEXT NOT NULL, value ANY NOT NULL, block INTEGER NOT NULL, PRIMARY KEY (name, value, block)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX lookups_by_block ON lookups (block);
  CREATE TABLE lookups_until (place INTEGER NOT NULL) STRICT;
  INSERT INTO lookups_until VALUES (-9007199254740991);`

const indexes = `
  CREATE INDEX requests_by_outcome ON requests (outcome) WHERE outcome <> 'accepted';
  CREATE INDEX requests_with_body ON requests (place) WHERE body IS NOT NULL;
  CREATE INDEX requests_with_spare_body ON requests (place) WHERE body IS NOT NULL AND outcome <> 'accepted';
  CREATE INDEX runs_by_state ON runs (state) WHERE state <> 'queued' AND state <> 'succeeded';
  CREATE INDEX events_pending ON events (urgency) WHERE pending = 1;
  DROP TABLE requests_5;
  DROP TABLE runs_5;
  DROP TABLE events_5;
  DROP TABLE inbox;`

const stride = 1_000

export function migrateToSchema6(db: DatabaseSync, onCopied: OnCopied = () => undefined): void {
  const { total } = db
    .prepare(
      `SELECT (SELECT count(*) FROM requests) + (SELECT count(*) FROM runs) + (SELECT count(*) FROM events) AS total`,
    )
    .get() as { total: number }
  let done = 0
  db.exec(tables)

  function copy(table: string, columns: number, valuesOf: (row: Row) => readonly Value[]): void {
    const placeOf = createFreePlaces(db, table)
    const insert = db.prepare(`INSERT INTO ${table} VALUES (?, ?${', ?'.repeat(columns)})`)
    const rows = db.prepare(`SELECT * FROM ${table}_5 ORDER BY id`).iterate() as unknown as Iterable<Row>
    for (const row of rows) {
      insert.run(placeOf(row.id), row.id, ...valuesOf(row))
      done += 1
      if (done % stride === 0) onCopied(done, total)
    }
  }

  copy('requests', 20, ({ record, outcome, endpoint, body, head }) => {
    const { timings, replayOf, ...request } = JSON.parse(record) as RequestRecord
    const { reason, failure, count } = request
    const more = reason === undefined && failure === undefined && count === undefined
    return [
      outcome as string,
      endpoint as string,
      request.generation,
      request.status,
      request.code ?? null,
      request.mapping ?? null,
      request.client ?? null,
      null,
      replayOf === undefined ? null : blobOfId(replayOf),
      null,
      null,
      request.receivedAt,
      request.bodyBytes,
      timings.read ?? null,
      timings.resolve ?? null,
      timings.accept ?? null,
      request.actions.length === 0 ? null : JSON.stringify(request.actions),
      more ? null : JSON.stringify({ reason, failure, count }),
      body ?? null,
      head ?? null,
    ]
  })
  copy('runs', 9, ({ record }) => {
    const { id: _id, kind, state, message, prompt, createdAt, ...draft } = JSON.parse(record) as RunRecord
    return [
      kind,
      state,
      draft.sessionKey.toWellFormed(),
      columnOfText(message),
      columnOfText(prompt),
      null,
      createdAt,
      JSON.stringify(draft),
      null,
    ]
  })
  copy('events', 15, ({ record }) => {
    const event = JSON.parse(record) as EventRecord
    const { requestId, runId } = event.origin
    return [
      event.state === 'pending' ? 1 : null,
      event.mode === 'now' ? 0 : 1,
      columnOfText(event.text),
      columnOfText(event.prompt),
      null,
      event.trusted ? 1 : 0,
      event.session,
      requestId === undefined ? null : blobOfId(requestId),
      runId === undefined ? null : blobOfId(runId),
      event.endpoint ?? null,
      event.mapping ?? null,
      event.generation,
      event.createdAt,
      event.consumedAt ?? null,
      event.consumedBy === undefined ? null : blobOfId(event.consumedBy),
    ]
  })
  onCopied(total, total)
  db.exec(indexes)
}

type Value = string | number | null | Uint8Array

interface Row {
  readonly id: Uint8Array
  readonly record: string
  readonly [column: string]: Value
}
