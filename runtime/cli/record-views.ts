/** Owns how each kind of record looks: the columns of its list, and the filters that its list takes. */

import type { DeliveryRecord, EventRecord, RequestRecord, RunRecord } from '../store/records.ts'
import { shortId, shortTime } from './table.ts'

export type RecordKind = 'requests' | 'runs' | 'events' | 'deliveries'

interface View<Item> {
  readonly header: readonly string[]
  row(item: Item, now: number): readonly string[]
}

const requests: View<RequestRecord> = {
  header: ['TIME', 'ID', 'ENDPOINT', 'OUTCOME', 'STATUS', 'WHY'],
  row: (item, now) => [
    shortTime(item.receivedAt, now),
    shortId(item.id),
    item.endpoint,
    item.outcome,
    String(item.status),
    item.reason ??
      [item.mapping, ...item.actions.map(({ kind, id }) => `${kind} ${shortId(id)}`)].join('  ').trim(),
  ],
}

const runs: View<RunRecord> = {
  header: ['TIME', 'ID', 'ENDPOINT', 'STATE', 'STAGE', 'RUNNER', 'SESSION', 'WHY'],
  row: (item, now) => [
    shortTime(item.createdAt, now),
    shortId(item.id),
    item.endpoint ?? item.kind,
    item.state,
    item.stage,
    item.runner,
    item.sessionKey,
    item.error ? `${item.error.code}: ${item.error.message}` : (item.mapping ?? ''),
  ],
}

const events: View<EventRecord> = {
  header: ['TIME', 'ID', 'ENDPOINT', 'STATE', 'MODE', 'TEXT'],
  row: (item, now) => [
    shortTime(item.createdAt, now),
    shortId(item.id),
    item.endpoint ?? (item.origin.runId ? `run ${shortId(item.origin.runId)}` : ''),
    item.state,
    item.mode,
    item.text,
  ],
}

const deliveries: View<DeliveryRecord> = {
  header: ['TIME', 'ID', 'RUN', 'TO', 'STATE', 'TRIES', 'WHY'],
  row: (item, now) => [
    shortTime(item.createdAt, now),
    shortId(item.id),
    shortId(item.runId),
    item.to === undefined ? item.channel : `${item.channel}:${item.to}`,
    item.state,
    String(item.attempts),
    [item.code, item.reason].filter(Boolean).join(': '),
  ],
}

/** The record comes from the gateway as JSON; a field that an older one lacks shows as nothing. */
export const recordViews = { requests, runs, events, deliveries } as Record<RecordKind, View<never>>
