/** What the commands of the admin surface decide, from records that each store reads and locks in its own way. */

import {
  type Acceptance,
  type AlertWay,
  type Attempt,
  type Command,
  type CommandResult,
  type Dedupe,
  type DeliveryRecord,
  type Id,
  type IssueRecord,
  type ReplayJob,
  type RunError,
  type RunRecord,
  type RunRetry,
  StoreError,
  severities,
} from './port.ts'
import { heartbeatKey, onlyParked } from './tasks.ts'

export function unknown(what: string): CommandResult {
  return { ok: false, why: 'unknown', reason: `there is no such ${what}` }
}

export function wrongState(reason: string): CommandResult {
  return { ok: false, why: 'state', reason }
}

/** Sums up a command about several things. */
export function doneBut(count: number, refused: NonNullable<CommandResult['refused']>): CommandResult {
  const done = count - refused.length
  return refused.length === 0 ? { ok: true, done } : { ok: true, done, refused }
}

/** All heartbeats share one task, which outlives the heartbeat that is cancelled. */
export function taskOf({ kind, id }: Pick<RunRecord, 'kind' | 'id'>): string {
  return kind === 'heartbeat' ? heartbeatKey : `run:${id}`
}

export function whyNotCancel({ stage, state }: RunRecord): string | undefined {
  return stage === 'accepted' || stage === 'running' ? undefined : `its turn is over: it is ${state}`
}

/** What becomes of a run that is cancelled while it is not performed. */
export function cancelledAt(
  { id, attempts }: RunRecord,
  at: number,
): Partial<RunRecord> & { readonly id: Id } {
  return {
    id,
    state: 'cancelled',
    stage: 'cancelled',
    error: { code: 'CANCELLED', message: 'it was cancelled while it waited', retryable: false },
    attempts: attempts.map((attempt) => endOpenAttempt(attempt, at)),
    cancelledAt: at,
  }
}

/** The process did not survive an attempt that is still open. */
function endOpenAttempt(attempt: Attempt, at: number): Attempt {
  return attempt.outcome === undefined ? { ...attempt, endedAt: at, outcome: 'interrupted' } : attempt
}

export function whyNotResume({ state, forgottenAt }: RunRecord): string | undefined {
  if (state !== 'parked') return `only a parked run can be resumed: it is ${state}`
  return forgottenAt === undefined ? undefined : 'what it was asked is forgotten'
}

export function whyNotRetry({ kind, state, forgottenAt }: RunRecord): string | undefined {
  if (kind === 'heartbeat') return 'it is a heartbeat, and a failed one is tried again automatically'
  if (state !== 'failed' && state !== 'timed-out')
    return `only a failed or timed-out run can be retried: it is ${state}`
  return forgottenAt === undefined ? undefined : 'what it was asked is forgotten'
}

/** The record keeps how the run had ended, and drops every field about that end. */
export function retriedAt(
  { state, error, attempts, retries = [], summaryEventId }: RunRecord,
  at: number,
): Partial<RunRecord> {
  const before: RunRetry = {
    at,
    state: state === 'timed-out' ? 'timed-out' : 'failed',
    ...(error && { error }),
    attempts: attempts.length,
    ...(summaryEventId !== undefined && { summaryEventId }),
  }
  return {
    state: 'queued',
    stage: 'accepted',
    retries: [...retries, before],
    error: undefined,
    cancelRequestedAt: undefined,
    startedAt: undefined,
    ranAt: undefined,
    summarisedAt: undefined,
    deliveredAt: undefined,
    summaryEventId: undefined,
    deliveryIds: [],
  }
}

/** Adds an order to those that a run had. */
export function withOrder(
  { orders = [] }: RunRecord,
  { type: order, at, by }: Extract<Command, { readonly run: Id }>,
): Pick<RunRecord, 'orders'> {
  return by === undefined ? {} : { orders: [...orders, { order, at, by }] }
}

type Target = { readonly channel: string; readonly to: string }

export function whyNotReplay(delivery: DeliveryRecord, to: Target): string | undefined {
  if (delivery.state !== 'parked') return onlyParked(delivery.state)
  if (delivery.forgottenAt !== undefined) return 'its text is forgotten'
  const isElsewhere = to.channel !== delivery.channel || to.to !== delivery.to
  return isElsewhere && delivery.receipts.length > 0 ? 'a part of it has arrived somewhere else' : undefined
}

/** Keeps what the delivery is and what has arrived of it, and drops every field about its fate. */
export function pendingAgain(
  { id, runId, text, receipts, generation, createdAt }: DeliveryRecord,
  { channel, to }: Target,
  at: number,
  by: string | undefined,
): DeliveryRecord {
  return {
    id,
    ...(runId !== undefined && { runId }),
    state: 'pending',
    channel,
    to,
    text,
    receipts,
    attempts: 0,
    generation,
    createdAt,
    nextAt: at,
    ...(by !== undefined && { by }),
  }
}

/** How many items of a replay job one command adds, hands out or settles. */
const mostItems = 1_000

/** @throws StoreError `BAD_ENTRY` */
export function refuseOverMostItems(count: number): void {
  if (count > mostItems) throw new StoreError('BAD_ENTRY', `a command takes at most ${mostItems} items`)
}

/** What an action is whose key came before. `digest` is that of the original's body. */
export function repetitionOf(
  { bodyDigest, isGiven }: Dedupe,
  {
    digest,
    original,
    request,
  }: { readonly digest: string | null; readonly original: Id; readonly request: Id },
): Extract<Acceptance['actions'][number], { readonly original: Id }> {
  const differs = bodyDigest !== undefined && digest !== null && digest !== bodyDigest
  const outcome = differs && isGiven ? 'conflict' : 'duplicate'
  return { outcome, original, request, ...(differs && !isGiven && { hasOtherBody: true }) }
}

/** The key that an operator gave the order of a job, so that it can be given again. */
export function keyOfOptions(options: object): string | undefined {
  const { key } = options as { readonly key?: unknown }
  return typeof key === 'string' ? key : undefined
}

/** A job as its row has it. */
export interface CountedJob extends Pick<ReplayJob, 'state' | 'total' | 'done' | 'failed' | 'skipped'> {
  /** JSON. */
  readonly filter: string
  readonly options: string
  /** 1 once all items were added. */
  readonly whole: 0 | 1
  readonly created_at: number
  readonly ended_at: number | null
}

/** A job is over when it has all of its items and each of them has ended. */
export function withEnd<Job extends CountedJob>(job: Job, at: number): Job {
  const isOver = job.whole === 1 && job.done + job.failed + job.skipped === job.total
  return isOver && job.state === 'running' ? { ...job, state: 'done', ended_at: at } : job
}

/** The column `options` of a new job, which holds who began it too. */
export function optionsOfJob({ options, by }: Pick<ReplayJob, 'options' | 'by'>): string {
  return JSON.stringify({ ...options, by })
}

export function jobOf(id: Id, row: CountedJob): ReplayJob {
  const { state, total, done, failed, skipped } = row
  const { by, ...options } = JSON.parse(row.options)
  return {
    id,
    filter: JSON.parse(row.filter),
    options,
    ...(by !== undefined && { by }),
    ...{ state, total, done, failed, skipped },
    createdAt: row.created_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
  }
}

/** The states of issues in the order of their list. */
export const issueStates: readonly IssueRecord['state'][] = ['open', 'muted', 'resolved']
/** The ranks in the list of issues are those of the open ones by severity, of the muted ones, and one of all resolved ones. */
export const ranksPerState = severities.length

/** An issue as its row has it. */
export interface IssueRow
  extends Pick<IssueRecord, 'key' | 'code' | 'subject' | 'cause' | 'count' | 'first' | 'last' | 'state'> {
  /** An index in `severities`. */
  readonly severity: number
  /** JSON. */
  readonly next: string
  readonly muted_until: number | null
  readonly resolved_at: number | null
  /** The day on which an event about it was posted last. */
  readonly said_on: string | null
  /** Joined by commas. */
  readonly alerted: string
}

/** Returns the state of an issue. A muted one is open again as soon as its time is over. */
export function issueState(row: Pick<IssueRow, 'state' | 'muted_until'>, now: number): IssueRecord['state'] {
  const { state, muted_until: until } = row
  return state === 'muted' && until !== null && until <= now ? 'open' : state
}

export function issueOf(row: IssueRow, now: number): IssueRecord {
  const { key, code, subject, cause, count, first, last } = row
  const state = issueState(row, now)
  return {
    ...{ key, code, subject, cause, next: JSON.parse(row.next), count, first, last, state },
    severity: severities[row.severity] ?? 'failing',
    ...(state === 'muted' && row.muted_until !== null && { mutedUntil: row.muted_until }),
    ...(row.resolved_at !== null && { resolvedAt: row.resolved_at }),
    ...(row.said_on !== null && { saidOn: row.said_on }),
    ...(row.alerted !== '' && { alerted: row.alerted.split(',') as AlertWay[] }),
  }
}

/** How many requests one command forgets. */
const mostForgotten = 500

/** @throws StoreError `BAD_ENTRY` */
export function refuseOverMostForgotten(count: number): void {
  if (count > mostForgotten)
    throw new StoreError('BAD_ENTRY', `a command forgets at most ${mostForgotten} requests`)
}

/** The heartbeats that showed each event without success. */
export type ShowedBy = ReadonlyMap<Id, readonly Id[]>

/** Finds heartbeats by the events that they showed. Only the one that consumed an event is named by it. */
export function showedByOf(heartbeats: Iterable<RunRecord>): ShowedBy {
  const showedBy = new Map<Id, Id[]>()
  for (const { id, eventIds = [] } of heartbeats) {
    for (const event of eventIds) showedBy.set(event, [...(showedBy.get(event) ?? []), id])
  }
  return showedBy
}

/** What became of one request. */
export interface Consequences<FoundEvent> {
  readonly runs: Map<Id, RunRecord>
  readonly events: Map<Id, FoundEvent>
}

/** What forgetting needs to know of an event. */
export interface ShownEvent {
  readonly isPending: boolean
  readonly consumedBy: Id | undefined
}

/** Returns why what became of a request cannot be erased now. */
export function whyNotErase<FoundEvent extends ShownEvent>(
  { runs, events }: Consequences<FoundEvent>,
  taskState: (key: string) => 'open' | 'claimed' | 'gone',
  isUnsent: (delivery: Id) => boolean,
): string | undefined {
  for (const { id, kind, state, deliveryIds } of runs.values()) {
    const isOpen = state === 'queued' || state === 'running' || taskState(`run:${id}`) !== 'gone'
    if (isOpen && kind === 'heartbeat') return `the heartbeat ${id}, which shows it, is under way`
    if (isOpen) return `its run ${id} is ${state}`
    const unsent = deliveryIds.find(isUnsent)
    if (unsent !== undefined) return `the delivery ${unsent} is not sent yet`
  }
  const isPending = [...events.values()].some((event) => event.isPending)
  if (isPending && taskState(heartbeatKey) === 'claimed') return 'a heartbeat is under way'
  return undefined
}

/** Returns a run's fields, JSON of it parsed, without its texts. Codes and times stay. */
export function withoutTexts(fields: Partial<RunRecord>): Partial<RunRecord> {
  const { name: _name, reply: _reply, warnings: _warnings, error, attempts, retries, ...rest } = fields
  const forgotten = (old: RunError) => ({ ...old, message: 'forgotten' })
  return {
    ...rest,
    ...(error && { error: forgotten(error) }),
    ...(retries && {
      retries: retries.map((retry) => ({ ...retry, ...(retry.error && { error: forgotten(retry.error) }) })),
    }),
    ...(attempts && { attempts: attempts.map(({ reason: _reason, ...attempt }) => attempt) }),
  }
}
