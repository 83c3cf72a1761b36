/** Turns requests into rows and back: a column for each fact by which requests are found, one text for the rare ones. */

import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Id, RequestRecord } from '../../port.ts'
import { blobOfId, createPlaceFinder, idOfBlob, placeOfBlob } from '../database/ids.ts'
import { createRowWriter, type Flat } from '../database/rows.ts'

/** The columns of a request after its place and its id, in the order of `flattenRequest`. */
export const requestColumns = [
  'outcome',
  'endpoint',
  'generation',
  'status',
  'code',
  'mapping',
  'client',
  'delivery',
  'replay_of',
  'digest',
  'node',
  'received_at',
  'body_bytes',
  'read_ms',
  'resolve_ms',
  'accept_ms',
  'actions',
  'more',
  'body',
  'head',
] as const

/** The columns that are read for a list. */
export const listedColumns = [
  'id',
  ...requestColumns.filter((name) => name !== 'body' && name !== 'head'),
  'body IS NOT NULL AS kept',
].join(', ')

export interface RequestRow {
  readonly id: Uint8Array
  readonly outcome: RequestRecord['outcome']
  readonly endpoint: string
  readonly generation: number
  readonly status: number
  readonly code: string | null
  readonly mapping: string | null
  readonly client: string | null
  /** The sender's own id of the delivery. */
  readonly delivery: string | null
  readonly replay_of: Uint8Array | null
  /** The digest of the generation. */
  readonly digest: string | null
  readonly node: string | null
  readonly received_at: number
  readonly body_bytes: number
  readonly read_ms: number | null
  readonly resolve_ms: number | null
  readonly accept_ms: number | null
  readonly actions: string | null
  readonly more: string | null
  /** In lists, whether the body is kept: 1 or 0. */
  readonly kept?: number
  readonly body?: Uint8Array | null
  readonly head?: string | null
  readonly trace?: string | null
}

/** The values of `requestColumns`, with ids as texts. */
export type RequestValues = readonly (string | number | null | Uint8Array)[]

/** Appends the values of `requestColumns`, with ids as texts. */
export function flattenRequest(flat: Flat, request: RequestRecord): void {
  const { timings, body, head, replayOf } = request
  flat.push(
    request.outcome,
    request.endpoint,
    request.generation,
    request.status,
    request.code ?? null,
    request.mapping ?? null,
    request.client ?? null,
    request.deliveryId ?? null,
    replayOf ?? null,
    request.generationDigest ?? null,
    request.node ?? null,
    request.receivedAt,
    request.bodyBytes,
    timings.read ?? null,
    timings.resolve ?? null,
    timings.accept ?? null,
    actionsText(request.actions),
    moreText(request),
    // A copy: a Buffer is a view of a pool, and cloning it would clone the whole pool.
    body === undefined ? null : new Uint8Array(body),
    body === undefined || head === undefined ? null : JSON.stringify(head),
  )
}

export function requestOf(row: RequestRow): RequestRecord {
  const timings = { read: row.read_ms, resolve: row.resolve_ms, accept: row.accept_ms }
  return {
    id: idOfBlob(row.id),
    endpoint: row.endpoint,
    generation: row.generation,
    outcome: row.outcome,
    status: row.status,
    ...withoutNulls({ code: row.code, mapping: row.mapping, client: row.client, deliveryId: row.delivery }),
    ...(row.replay_of !== null && { replayOf: idOfBlob(row.replay_of) }),
    ...withoutNulls({ generationDigest: row.digest, node: row.node }),
    bodyBytes: row.body_bytes,
    receivedAt: row.received_at,
    timings: withoutNulls(timings),
    actions: row.actions === null ? [] : JSON.parse(row.actions),
    ...(row.more !== null && JSON.parse(row.more)),
    ...(row.kept === 1 && row.body === undefined && { bodyKept: true }),
    ...(row.body != null && { body: row.body }),
    ...(row.head != null && { head: JSON.parse(row.head) }),
    ...(row.trace != null && { trace: JSON.parse(row.trace) }),
  }
}

/** Ids and kinds need no escapes, so the usual text is put together by hand. */
function actionsText(actions: RequestRecord['actions']): string | null {
  const [first] = actions
  if (first === undefined) return null
  return actions.length === 1 && first.duplicateOf === undefined
    ? `[{"kind":"${first.kind}","id":"${first.id}"}]`
    : JSON.stringify(actions)
}

function moreText(request: RequestRecord): string | null {
  const { reason, failure, count, forgottenAt, forgottenBy, authenticatedBy, by } = request
  return (reason ?? failure ?? count ?? forgottenAt ?? authenticatedBy ?? by) === undefined
    ? null
    : JSON.stringify({ reason, failure, count, forgottenAt, forgottenBy, authenticatedBy, by })
}

function withoutNulls<Fields extends Record<string, unknown>>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  const found: Partial<Record<string, unknown>> = {}
  for (const name in fields) if (fields[name] !== null) found[name] = fields[name]
  return found as { [Name in keyof Fields]?: NonNullable<Fields[Name]> }
}

const replayOfAt = requestColumns.indexOf('replay_of')
const [bodyAt, headAt] = [requestColumns.indexOf('body'), requestColumns.indexOf('head')]

/** Counts as `bytesInRow` does. */
export function bytesOfValues(values: RequestValues): number {
  const [body, head] = [values[bodyAt], values[headAt]] as [Uint8Array | null, string | null]
  if (body === null) return 0
  return body.byteLength + (head === null ? 0 : Buffer.byteLength(head))
}

export type Requests = ReturnType<typeof createRequests>

export function createRequests(db: DatabaseSync) {
  const rows = createRowWriter(db, 'requests', ['place', 'id', ...requestColumns])
  const traces = createRowWriter(db, 'traces', ['place', 'trace'])
  const findPlace = createPlaceFinder(db, 'requests')
  const select = db.prepare(`SELECT ${listedColumns} FROM requests WHERE place = ?`)

  return {
    rows: {
      flush() {
        rows.flush()
        traces.flush()
      },
      forget() {
        rows.forget()
        traces.forget()
      },
    },
    has: (id: Uint8Array): boolean => findPlace(id) !== undefined,
    findPlace,
    find(id: Uint8Array): RequestRecord | undefined {
      const place = findPlace(id)
      return place === undefined ? undefined : requestOf(select.get(place) as unknown as RequestRow)
    },
    /** Returns the place of the row, which is written with the next flush. `trace` is JSON. */
    add(id: Uint8Array, values: RequestValues, trace?: string): number {
      const place = placeOfBlob(id)
      const original = values[replayOfAt]
      const own: readonly SQLInputValue[] =
        typeof original === 'string' ? values.with(replayOfAt, blobOfId(original)) : values
      rows.add(place, id, ...own)
      if (trace !== undefined) traces.add(place, trace)
      return place
    },
  }
}

export function valuesOfRequest(request: RequestRecord): RequestValues {
  const values: Flat = []
  flattenRequest(values, request)
  return values as RequestValues
}

/** Makes the record of a request that is not written yet. */
export function requestOfValues(id: Id, values: RequestValues): RequestRecord {
  const row = Object.fromEntries(requestColumns.map((name, index) => [name, values[index]]))
  const replayOf = values[replayOfAt]
  const blob = typeof replayOf === 'string' ? blobOfId(replayOf) : null
  return requestOf({ ...row, id: blobOfId(id), replay_of: blob } as unknown as RequestRow)
}
