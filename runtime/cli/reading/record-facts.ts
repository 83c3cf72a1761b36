/** Shows one whole record, the most important facts first. */

import type { Attempt, DeliveryRecord, RequestRecord, RunOrder, RunRecord } from '../../store/records.ts'
import type { Facts } from '../facts.ts'
import type { Io } from '../io.ts'
import { pasted } from '../pasted.ts'
import { shortId } from '../table.ts'

/** How many of the newest requests of a burst are named. */
const shownRequests = 10

/** A request as the gateway answers it. */
type RequestAnswer = RequestRecord & {
  readonly bodyKept?: boolean
  readonly headers?: Facts
  readonly query?: Facts
  readonly replays?: readonly string[]
}

export function factsOfRequest(request: RequestAnswer, io: Io): Facts {
  const { id, outcome, status, code, reason, bodyBytes, bodyKept, headers, query, ...rest } = request
  const { replayOf, by, replays, forgottenAt, forgottenBy, ...others } = rest
  return {
    id,
    outcome,
    status,
    code,
    reason,
    next: bodyKept ? nextOfRequest(request, io) : undefined,
    ...others,
    replayOf,
    by,
    replays,
    forgottenAt,
    forgottenBy,
    bodyBytes,
    bodyKept,
    headers,
    query,
  }
}

/** What can be done with a request whose body is kept. */
function nextOfRequest({ id, outcome }: RequestAnswer, io: Io): string | undefined {
  const command = (name: string) => pasted(name, io)
  const body = `${command(`requests ${shortId(id)} --body`)} shows its body`
  const isEmpty = outcome === 'failed' || outcome === 'ignored' || outcome === 'skipped'
  return isEmpty ? `${body}, ${command(`replay ${shortId(id)}`)} does it again` : body
}

/** A run as the gateway answers it, with its results and, while it runs, its progress. */
type RunAnswer = RunRecord & {
  readonly summary?: unknown
  readonly deliveries?: readonly unknown[]
  readonly progress?: object
}

/** The summary and the deliveries of a run are shown without their texts, which repeat the reply. */
export function factsOfRun(run: RunAnswer, io: Io): Facts {
  const { id, state, stage, error, progress, attempts, coalesce, summary, deliveries, ...rest } = run
  const { summaryEventId, deliveryIds, orders, ...others } = rest
  return {
    id,
    state,
    stage,
    next: nextStep(run, io),
    error,
    progress,
    attempts: attempts?.map(attemptText),
    orders: orders?.map(orderText),
    joined: coalesce && coalescedFacts(coalesce, state),
    ...others,
    ...(deliveries === undefined
      ? { summaryEventId, deliveryIds }
      : { summary: summary && withoutTexts(summary), deliveries: deliveries.map(withoutTexts) }),
  }
}

/** What an operator can do about a run that waits for that. */
function nextStep({ id, kind, state, error, cancelRequestedAt }: RunRecord, io: Io): string | undefined {
  const command = (name: string) => pasted(`${name} ${shortId(id)}`, io)
  if (state === 'parked') {
    const when = error?.code === 'BUDGET' ? ' once the budget has room again' : ''
    return `${command('resume')} performs it${when}, ${command('cancel')} ends it`
  }
  if (kind === 'run' && (state === 'failed' || state === 'timed-out'))
    return `${command('runs retry')} performs it again from its stored prompt`
  return cancelRequestedAt !== undefined && state === 'running' ? 'it is being cancelled' : undefined
}

function attemptText({ number, startedAt, endedAt, outcome, reason }: Attempt): string {
  const start = new Date(startedAt).toISOString()
  const took = endedAt === undefined ? '' : ` after ${endedAt - startedAt} ms`
  return `${number}  ${start}  ${outcome ?? 'under way'}${took}${reason === undefined ? '' : `: ${reason}`}`
}

function orderText({ order, at, by }: RunOrder): string {
  return `${order}  ${new Date(at).toISOString()}  by ${by}`
}

function coalescedFacts(
  { count = 1, requests, requestIds = [], keep, deadline }: NonNullable<RunRecord['coalesce']>,
  state: RunRecord['state'],
): Facts {
  const newest = requestIds.slice(-shownRequests).toReversed()
  return {
    // `forEach` makes several messages of one request.
    messages: count === requests ? undefined : count,
    requests,
    keep: keep === 'all' ? 'the agent reads every message' : 'the agent reads the newest message',
    startsAt:
      deadline === undefined || state !== 'queued'
        ? undefined
        : `${new Date(deadline).toISOString()} at the latest`,
    newest: newest.length < 2 ? undefined : newest,
  }
}

function withoutTexts(record: unknown): Facts {
  const { text, prompt, ...rest } = record as Facts
  return rest
}

/** What a channel may have written about a part that it sent; no field is certain. */
interface KeptReceipt {
  readonly id?: unknown
  readonly at?: unknown
  readonly partial?: readonly { readonly target?: unknown; readonly reason?: unknown }[]
}

/** `waits`: why its channel is held, where it is. */
export function factsOfDelivery(delivery: DeliveryRecord, io: Io, waits?: string): Facts {
  const { id, state, channel, to, code, reason, attempts, nextAt, receipts, text, ...rest } = delivery
  return {
    id,
    state,
    next: state === 'parked' ? `${pasted(`replay ${shortId(id)}`, io)} sends it again` : undefined,
    waits,
    channel,
    to,
    code,
    reason,
    attempts,
    nextAt,
    parts: receipts.length > 0 ? ['sent', ...partLines(receipts)] : undefined,
    ...rest,
    text,
  }
}

/** `1  m4711  2026-01-31T12:00:00Z`, and below it the recipients that it did not reach. */
function partLines(receipts: readonly unknown[]): string[] {
  return receipts.flatMap((receipt, index) => {
    const { id, at, partial } = (receipt ?? {}) as KeptReceipt
    const line = [index + 1, id, at].filter((each) => each !== undefined).join('  ')
    return [line, ...missed(partial).map((each) => `   not to ${each}`)]
  })
}

/** The recipients of a group that its message did not reach. */
export function missed(partial: KeptReceipt['partial']): string[] {
  return Array.isArray(partial) ? partial.map(({ target, reason }) => `${target}: ${reason}`) : []
}
