/** Owns how each kind of record looks in a list: its columns, and what stands in them. */

import { cut } from '../../cut.ts'
import type { DeliveryRecord, EventRecord, RequestRecord, RunRecord } from '../../store/records.ts'
import { counted } from '../counted.ts'
import { shortId, shortTime, withShortIds } from '../table.ts'

export type RecordKind = 'requests' | 'runs' | 'events' | 'deliveries'

interface View<Item> {
  readonly header: readonly string[]
  row(item: Item, now: number): readonly string[]
}

/** UTF-16 units. */
const previewLength = 100

/** UTF-16 units. Of the path that was searched for a program, or of what it printed, the beginning will do. */
const longestError = 200

const requests: View<RequestRecord> = {
  header: ['TIME', 'ID', 'ENDPOINT', 'OUTCOME', 'STATUS', 'DETAIL'],
  row: (item, now) => [
    shortTime(item.receivedAt, now),
    shortId(item.id),
    item.endpoint,
    item.outcome,
    String(item.status),
    item.reason === undefined
      ? [item.mapping, ...item.actions.map(actionDetail)].join('  ').trim()
      : reasonDetail(item),
  ],
}

function actionDetail({ kind, id, duplicateOf }: RequestRecord['actions'][number]): string {
  return `${kind} ${shortId(id)}${duplicateOf === undefined ? '' : ' (came before)'}`
}

/** What one sender repeated within a minute is one line. */
function reasonDetail({ reason = '', code, failure, count = 1 }: RequestRecord): string {
  const codes = [code === 'TOO_MANY_TRIES' ? code : undefined, failure].filter(Boolean).join(', ')
  const told = codes === '' ? withShortIds(reason) : `${codes}: ${reason}`
  return count > 1 ? `${told} (${counted(count, 'request')})` : told
}

const runs: View<RunRecord> = {
  header: ['TIME', 'ID', 'ENDPOINT', 'STATE', 'RUNNER', 'SESSION', 'DETAIL'],
  row: (item, now) => [
    shortTime(item.createdAt, now),
    shortId(item.id),
    item.endpoint ?? item.kind,
    stateText(item),
    item.runner,
    item.sessionKey,
    item.error ? preview(`${item.error.code}: ${item.error.message}`, longestError) : runDetail(item),
  ],
}

/** Of a run whose agent has ended and whose reply has not, how far it is; else its state says all. */
function stateText({ state, stage }: RunRecord): string {
  return stage === 'ran' || stage === 'summarised' ? `${state}, ${stage}` : state
}

/** A burst shows how many messages it stands for, and of how many requests where these are fewer. */
function runDetail({ mapping = '', coalesce }: RunRecord): string {
  const { count = 1, requests } = coalesce ?? {}
  if (count === 1) return mapping
  if (count === requests) return `${mapping} (${counted(count, 'request')})`
  const of = requests === undefined ? '' : ` of ${counted(requests, 'request')}`
  return `${mapping} (${counted(count, 'message')}${of})`
}

const events: View<EventRecord> = {
  header: ['TIME', 'ID', 'ENDPOINT', 'STATE', 'MODE', 'TEXT'],
  row: (item, now) => [
    shortTime(item.createdAt, now),
    shortId(item.id),
    item.endpoint ?? (item.origin.runId ? `run ${shortId(item.origin.runId)}` : ''),
    item.state,
    item.mode,
    preview(item.text),
  ],
}

const deliveries: View<DeliveryRecord> = {
  header: ['TIME', 'ID', 'RUN', 'CHANNEL', 'TO', 'STATE', 'TRIES', 'REASON'],
  row: (item, now) => [
    shortTime(item.createdAt, now),
    shortId(item.id),
    item.runId === undefined ? '' : shortId(item.runId),
    item.channel,
    item.to ?? '',
    item.state,
    String(item.attempts),
    preview([item.code, item.reason].filter(Boolean).join(': '), longestError),
  ],
}

/**
 * A list is there to choose from, on a terminal as in a pipe: a text can be as long as a mail, and 500 of them help
 * nobody. `reveille events ID` and `--json` have it whole.
 */
function preview(text: string, length = previewLength): string {
  const short = cut(text, length)
  return short === text ? text : `${short.trimEnd()}…`
}

/** The record comes from the gateway as JSON; a field that an older one lacks shows as nothing. */
export const recordViews = { requests, runs, events, deliveries } as Record<RecordKind, View<never>>
