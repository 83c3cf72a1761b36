/** Defines the list of each kind of record: its columns and their cells. */

import { cut } from '../../cut.ts'
import type { DeliveryRecord, EventRecord, RequestRecord, RunRecord } from '../../store/records.ts'
import { counted } from '../counted.ts'
import { shortId, shortTime, withShortIds } from '../table.ts'

export type RecordKind = 'requests' | 'runs' | 'events' | 'deliveries'

export interface View<Item> {
  readonly header: readonly string[]
  row(item: Item, now: number): readonly string[]
}

/** UTF-16 units. */
const previewLength = 100

/** UTF-16 units. The beginning of a search path, or of what a program printed, will do. */
const longestError = 200

const requests: View<RequestRecord> = {
  header: ['TIME', 'ID', 'ENDPOINT', 'OUTCOME', 'STATUS', 'DETAIL'],
  row: (item, now) => [
    shortTime(item.receivedAt, now),
    shortId(item.id),
    item.endpoint,
    item.outcome,
    String(item.status),
    requestDetail(item),
  ],
}

function requestDetail(item: RequestRecord): string {
  const { outcome, reason, mapping, actions, replayOf } = item
  const isMade = outcome === 'accepted' || reason === undefined
  return [
    replayOf && `replay of ${shortId(replayOf)}`,
    ...(isMade ? [mapping, ...actions.map(actionDetail)] : []),
    reason === undefined ? '' : reasonDetail(item),
  ]
    .filter(Boolean)
    .join('  ')
}

function actionDetail({ kind, id, duplicateOf }: RequestRecord['actions'][number]): string {
  return `${kind} ${shortId(id)}${duplicateOf === undefined ? '' : ' (came before)'}`
}

/** Refusals that one sender repeated within a minute are one record with a count. */
function reasonDetail({ reason = '', code, failure, count = 1 }: RequestRecord): string {
  const codes = [code === 'TOO_MANY_TRIES' ? code : undefined, failure].filter(Boolean).join(', ')
  const text = codes === '' ? withShortIds(reason) : `${codes}: ${reason}`
  return count > 1 ? `${text} (${counted(count, 'request')})` : text
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

/** The stage of a run whose agent has ended and whose reply is not delivered; else the state. */
function stateText({ state, stage }: RunRecord): string {
  return stage === 'ran' || stage === 'summarised' ? `${state}, ${stage}` : state
}

/** A burst shows its number of messages, and that of its requests where they are fewer. */
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
 * Shortens texts in lists, which are there to choose from: a text can be as long as a mail, and 500 of them are no list.
 * `reveille events ID` and `--json` have it whole.
 */
function preview(text: string, length = previewLength): string {
  const short = cut(text, length)
  return short === text ? text : `${short.trimEnd()}…`
}

/** Records come from the gateway as JSON; a field that an older gateway does not know is shown as empty. */
export const recordViews = { requests, runs, events, deliveries } as Record<RecordKind, View<never>>
