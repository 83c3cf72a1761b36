/** Turns records into the columns of their tables, and rows into records. */

import type { DeliveryRecord, EventRecord, Id, RequestRecord, RunRecord } from '../port.ts'

/** Stands before a text that the column could not hold as it is, or that begins with it itself. */
const encoded = '\u0001'

/**
 * PostgreSQL's texts hold no NUL and no halves of surrogate pairs. A text with one of them is stored as JSON, which escapes both.
 * Each text has one form, so columns can be compared.
 */
export function columnOfText(text: string): string {
  const fits = text.isWellFormed() && !text.includes('\0') && !text.startsWith(encoded)
  return fits ? text : encoded + JSON.stringify(text)
}

export function textOfColumn(column: string): string {
  return column.startsWith(encoded) ? JSON.parse(column.slice(encoded.length)) : column
}

/** Texts of a record that have columns of their own, by the names of the columns. */
type Texts = Readonly<Record<string, string | null>>

function textsOf(texts: Readonly<Record<string, string | undefined>>): Texts {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, text === undefined ? null : columnOfText(text)]),
  )
}

/** Makes the fields of a record of columns that may be null. */
function withoutNulls(fields: Readonly<Record<string, string | number | null | undefined>>) {
  const found: Record<string, string | number> = {}
  for (const [name, value] of Object.entries(fields)) if (value != null) found[name] = value
  return found
}

const decoded = (column: string | null) => (column === null ? null : textOfColumn(column))

export interface RequestRow {
  readonly id: Id
  readonly outcome: RequestRecord['outcome']
  readonly endpoint: string
  readonly status: number
  readonly received_at: number
  readonly code: string | null
  readonly mapping: string | null
  readonly client: string | null
  readonly delivery_id: string | null
  readonly replay_of: Id | null
  readonly generation: number
  readonly generation_digest: string | null
  readonly node: string | null
  /** JSON of all other fields, apart from those that are kept in a table of their own. */
  readonly more: string
  /** In lists, whether the body is kept. */
  readonly body_kept?: boolean
}

/** The columns that are read for a list. */
export const requestColumns = [
  'id',
  'outcome',
  'endpoint',
  'status',
  'received_at',
  'code',
  'mapping',
  'client',
  'delivery_id',
  'replay_of',
  'generation',
  'generation_digest',
  'node',
  'more',
] as const satisfies readonly (keyof RequestRow)[]

export function rowOfRequest(request: RequestRecord): RequestRow {
  const { id, outcome, endpoint, status, receivedAt, code, mapping, client, deliveryId, replayOf, ...rest } =
    request
  const { generation, generationDigest, node, ...others } = rest
  const { body: _body, bodyKept: _bodyKept, head: _head, trace: _trace, ...more } = others
  return {
    id,
    outcome,
    endpoint: columnOfText(endpoint),
    status,
    received_at: receivedAt,
    ...(textsOf({ code, mapping, client, delivery_id: deliveryId }) as Pick<
      RequestRow,
      'code' | 'mapping' | 'client' | 'delivery_id'
    >),
    replay_of: replayOf ?? null,
    generation,
    generation_digest: generationDigest ?? null,
    node: node === undefined ? null : columnOfText(node),
    more: JSON.stringify(more),
  }
}

export function requestOf(row: RequestRow): RequestRecord {
  return {
    id: row.id,
    endpoint: textOfColumn(row.endpoint),
    generation: row.generation,
    outcome: row.outcome,
    status: row.status,
    receivedAt: row.received_at,
    ...withoutNulls({
      code: decoded(row.code),
      mapping: decoded(row.mapping),
      client: decoded(row.client),
      deliveryId: decoded(row.delivery_id),
      replayOf: row.replay_of,
      generationDigest: row.generation_digest,
      node: decoded(row.node),
    }),
    ...JSON.parse(row.more),
    ...(row.body_kept === true && { bodyKept: true }),
  }
}

export interface RunRow {
  readonly id: Id
  readonly kind: RunRecord['kind']
  readonly state: RunRecord['state']
  readonly stage: RunRecord['stage']
  readonly session: string
  readonly created_at: number
  /** JSON of every other field that the run was created with. It is written once. */
  readonly asked: string
  /** JSON of the fields that were written later. Null stands for a field that was removed. */
  readonly changes: string | null
}

export const runColumns = [
  'id',
  'kind',
  'state',
  'stage',
  'session',
  'created_at',
  'asked',
  'changes',
] as const satisfies readonly (keyof RunRow)[]

/** With what every run begins. */
const begun = { attempts: [], deliveryIds: [] } as const

export function rowOfRun(run: RunRecord): RunRow {
  const { id, kind, state, stage, sessionKey, createdAt, attempts, deliveryIds, ...rest } = run
  return {
    id,
    kind,
    state,
    stage,
    session: columnOfText(sessionKey),
    created_at: createdAt,
    asked: JSON.stringify({
      ...rest,
      attempts: attempts.length === 0 ? undefined : attempts,
      deliveryIds: deliveryIds.length === 0 ? undefined : deliveryIds,
    }),
    changes: null,
  }
}

export function runOf(row: RunRow): RunRecord {
  const run = {
    id: row.id,
    kind: row.kind,
    sessionKey: textOfColumn(row.session),
    state: row.state,
    stage: row.stage,
    ...begun,
    createdAt: row.created_at,
    ...JSON.parse(row.asked),
    ...(row.changes !== null && JSON.parse(row.changes)),
  }
  for (const name in run) if (run[name] === null) delete run[name]
  return run
}

/** Writes the fields of a patch into what is written again of a run. A field that is undefined is removed. */
export function changedRun(
  row: Pick<RunRow, 'state' | 'stage' | 'changes'>,
  patch: Partial<RunRecord>,
): Pick<RunRow, 'state' | 'stage'> & { readonly changes: string } {
  const { id: _id, state = row.state, stage = row.stage, ...fields } = patch
  const changes: Record<string, unknown> = row.changes === null ? {} : JSON.parse(row.changes)
  for (const [name, value] of Object.entries(fields)) changes[name] = value ?? null
  return { state, stage, changes: JSON.stringify(changes) }
}

export interface EventRow {
  readonly id: Id
  readonly session: string
  readonly pending: boolean
  readonly urgent: boolean
  /** JSON of every other field that the event was created with. It is written once. */
  readonly draft: string
  readonly created_at: number
  readonly consumed_at: number | null
  readonly consumed_by: Id | null
  readonly forgotten_at: number | null
}

export const eventColumns = [
  'id',
  'session',
  'pending',
  'urgent',
  'draft',
  'created_at',
  'consumed_at',
  'consumed_by',
  'forgotten_at',
] as const satisfies readonly (keyof EventRow)[]

export function rowOfEvent(event: EventRecord): EventRow {
  const { id, session, state, mode, createdAt, consumedAt, consumedBy, forgottenAt, ...draft } = event
  return {
    id,
    session: columnOfText(session),
    pending: state === 'pending',
    urgent: mode === 'now',
    draft: JSON.stringify(draft),
    created_at: createdAt,
    consumed_at: consumedAt ?? null,
    consumed_by: consumedBy ?? null,
    forgotten_at: forgottenAt ?? null,
  }
}

export function eventOf(row: EventRow): EventRecord {
  return {
    id: row.id,
    session: textOfColumn(row.session),
    state: row.pending ? 'pending' : 'consumed',
    mode: row.urgent ? 'now' : 'next-heartbeat',
    createdAt: row.created_at,
    ...JSON.parse(row.draft),
    ...withoutNulls({
      consumedAt: row.consumed_at,
      consumedBy: row.consumed_by,
      forgottenAt: row.forgotten_at,
    }),
  }
}

export interface DeliveryRow {
  readonly id: Id
  readonly state: DeliveryRecord['state']
  readonly channel: string
  /** The text, which is written once. */
  readonly text: string
  /** JSON of every other field. */
  readonly record: string
}

export const deliveryColumns = [
  'id',
  'state',
  'channel',
  'text',
  'record',
] as const satisfies readonly (keyof DeliveryRow)[]

export function rowOfDelivery({ id, state, channel, text, ...rest }: DeliveryRecord): DeliveryRow {
  return {
    id,
    state,
    channel: columnOfText(channel),
    text: columnOfText(text),
    record: JSON.stringify(rest),
  }
}

export function deliveryOf(row: DeliveryRow): DeliveryRecord {
  return {
    id: row.id,
    state: row.state,
    channel: textOfColumn(row.channel),
    text: textOfColumn(row.text),
    ...JSON.parse(row.record),
  }
}

/** The ids that were minted from a time on are as great as this one or greater, and all earlier ones are smaller. */
export function firstIdOf(time: number): Id {
  const hex = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-0000-0000-000000000000`
}
