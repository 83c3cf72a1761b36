/** Turns records into rows and back. The values of a row are in the order of its table's columns; see `schema.ts`. */

import type { SqlValue } from '@reveille/kit'
import type { DeliveryRecord, EventRecord, RequestRecord, RunRecord } from '../port.ts'
import { encodeTrace } from '../requests.ts'
import { type Row, tables } from '../schema.ts'

export type RowValues = readonly SqlValue[]

const escapeCharacter = '\u0001'

/**
 * Texts from outside may hold NUL and halves of surrogate pairs, which no database keeps in a column of text. Such a text is stored as
 * JSON behind an escape character, so that it can be compared and is read back as it was.
 */
export function encodeString(text: string): string {
  const isPlain = text.isWellFormed() && !text.includes('\0') && !text.startsWith(escapeCharacter)
  return isPlain ? text : `${escapeCharacter}${JSON.stringify(text)}`
}

export function decodeString(value: string): string {
  return value.startsWith(escapeCharacter) ? JSON.parse(value.slice(1)) : value
}

function columnOf(text: string | undefined): string | null {
  return text === undefined ? null : encodeString(text)
}

/** `record` is the JSON of all other fields. */
export interface RequestRow extends Omit<Row<'requests'>, 'outcome' | 'kept' | 'body' | 'head' | 'trace'> {
  readonly outcome: RequestRecord['outcome']
  /** In lists, whether the body is kept: 1 or 0. */
  readonly has_body?: number
  readonly body?: Uint8Array | null
  readonly head?: string | null
  readonly trace?: string | null
}

const requestColumns = Object.keys(tables.requests.columns)
const knownColumns = requestColumns.slice(0, requestColumns.indexOf('record') + 1).join(', ')

/** The columns of a list, and those of one request. */
export const listedRequest = `${knownColumns}, CASE WHEN body IS NULL THEN 0 ELSE 1 END AS has_body`
export const wholeRequest = `${knownColumns}, body, head, trace`

export function rowOfRequest(request: RequestRecord): RowValues {
  const { id, outcome, endpoint, mapping, code, client, deliveryId, replayOf, generation, ...more } = request
  const { generationDigest, node, receivedAt, bodyKept: _bodyKept, body, head, trace, ...others } = more
  const keptHead = body === undefined || head === undefined ? null : JSON.stringify(head)
  const keptTrace = trace === undefined ? null : encodeTrace(trace)
  const kept = (body?.byteLength ?? 0) + byteLength(keptHead) + byteLength(keptTrace)
  return [
    id,
    outcome,
    encodeString(endpoint),
    columnOf(mapping),
    columnOf(code),
    columnOf(client),
    columnOf(deliveryId),
    replayOf ?? null,
    generation,
    columnOf(generationDigest),
    columnOf(node),
    receivedAt,
    JSON.stringify(others),
    body === undefined && trace === undefined ? null : kept,
    // A copy: a Buffer is a view of a pool, and cloning it would clone the whole pool.
    body === undefined ? null : new Uint8Array(body),
    keptHead,
    keptTrace,
  ]
}

function byteLength(text: string | null): number {
  return text === null ? 0 : Buffer.byteLength(text)
}

export function requestOf(row: RequestRow): RequestRecord {
  const { has_body, body, head, trace } = row
  const { status, bodyBytes, timings, actions, by, ...others } = JSON.parse(row.record)
  return {
    id: row.id,
    endpoint: decodeString(row.endpoint),
    generation: row.generation,
    outcome: row.outcome,
    status,
    ...(row.code !== null && { code: decodeString(row.code) }),
    ...(row.mapping !== null && { mapping: decodeString(row.mapping) }),
    ...(row.client !== null && { client: decodeString(row.client) }),
    ...(row.delivery !== null && { deliveryId: decodeString(row.delivery) }),
    ...(row.replay_of !== null && { replayOf: row.replay_of }),
    ...(by !== undefined && { by }),
    ...(row.digest !== null && { generationDigest: decodeString(row.digest) }),
    ...(row.node !== null && { node: decodeString(row.node) }),
    bodyBytes,
    receivedAt: row.received_at,
    timings,
    actions,
    ...others,
    ...(has_body === 1 && { bodyKept: true }),
    ...(body != null && { body }),
    ...(head != null && { head: JSON.parse(head) }),
    ...(trace != null && { trace: JSON.parse(trace) }),
  }
}

export type RunRow = Pick<Row<'runs'>, 'id' | 'record' | 'changes'> & Pick<RunRecord, 'state'>

export const wholeRun = 'id, state, record, changes'

export function rowOfRun(run: RunRecord): RowValues {
  const { id, kind, state, sessionKey, endpoint, createdAt } = run
  return [id, kind, state, encodeString(sessionKey), columnOf(endpoint), createdAt, JSON.stringify(run), null]
}

export function runOf({ record, changes, state }: RunRow): RunRecord {
  const run = JSON.parse(record)
  if (changes !== null) Object.assign(run, JSON.parse(changes))
  run.state = state
  // Null stands for a field that was removed.
  for (const name in run) if (run[name] === null) delete run[name]
  return run
}

/** `record` is the JSON of all other fields. Where the prompt holds the text, its `text` says from where to where. */
export type EventRow = Row<'events'>

export const wholeEvent = Object.keys(tables.events.columns).join(', ')

export function rowOfEvent(event: EventRecord): RowValues {
  const { session, text, prompt, trusted, origin, endpoint, mapping, generation } = event
  const isPending = event.state === 'pending'
  const at = prompt.indexOf(text)
  const kept = { session, text: at < 0 ? text : [at, at + text.length], prompt }
  return [
    event.id,
    isPending ? 1 : null,
    event.mode === 'now' ? 0 : 1,
    event.createdAt,
    isPending ? event.createdAt : (event.consumedAt ?? null),
    isPending ? event.id : (event.consumedBy ?? null),
    event.forgottenAt ?? null,
    JSON.stringify({ ...kept, trusted, origin, endpoint, mapping, generation }),
  ]
}

export function eventOf(row: EventRow): EventRecord {
  const { session, text, prompt, trusted, ...others } = JSON.parse(row.record)
  return {
    id: row.id,
    session,
    text: typeof text === 'string' ? text : prompt.slice(...text),
    prompt,
    mode: row.urgency === 0 ? 'now' : 'next-heartbeat',
    trusted,
    ...others,
    createdAt: row.created_at,
    state: row.pending === null ? 'consumed' : 'pending',
    ...(row.pending === null && row.consumed_at !== null && { consumedAt: row.consumed_at }),
    ...(row.pending === null && row.consumed_by !== null && { consumedBy: row.consumed_by }),
    ...(row.forgotten_at !== null && { forgottenAt: row.forgotten_at }),
  }
}

export type DeliveryRow = Pick<Row<'deliveries'>, 'record'>

export function rowOfDelivery(delivery: DeliveryRecord): RowValues {
  const { id, state, channel } = delivery
  return [id, state, encodeString(channel), JSON.stringify(delivery)]
}

export function deliveryOf({ record }: DeliveryRow): DeliveryRecord {
  return JSON.parse(record)
}
