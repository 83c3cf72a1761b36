/** The facts of one whole record, the most important first, with what can be done about it. */

import type { Answer } from '../../api/routes/client.ts'
import type { Io } from '../io.ts'
import { commandLine, type Facts, shortId } from '../print.ts'

/** The number of the newest requests of a coalesced group that are named. */
const shownRequests = 10

/** The facts in this order, then all others, and these at the end. */
function ordered(record: object, first: Facts, last: readonly string[] = []): Facts {
  const rest = Object.entries(record).filter(([name]) => !(name in first) && !last.includes(name))
  const end = last.map((name) => [name, (record as Facts)[name]])
  return { ...first, ...Object.fromEntries([...rest, ...end]) }
}

export function requestFacts(request: Answer<'readRequest'>, io: Io): Facts {
  const { id, outcome, status, code, reason, bodyKept } = request
  const name = shortId(id)
  const body = `${commandLine(`show ${name} --body`, io)} shows its body`
  const isEmpty = outcome === 'failed' || outcome === 'ignored' || outcome === 'skipped'
  const next = isEmpty ? `${body}, ${commandLine(`replay ${name}`, io)} does it again` : body
  const first = { id, outcome, status, code, reason, next: bodyKept ? next : undefined }
  const last = ['replayOf', 'by', 'replays', 'forgottenAt', 'forgottenBy', 'bodyBytes', 'bodyKept']
  return ordered(request, first, [...last, 'headers', 'query'])
}

/** The summary and the deliveries of a run are shown without their texts, which repeat the reply. */
export function runFacts(run: Answer<'readRun'>, io: Io): Facts {
  const { id, state, stage, error, progress, attempts = [], orders = [], coalesce, deliveries } = run
  const next = nextOfRun(run, io)
  const { summaryEventId: _event, deliveryIds: _ids, summary, ...rest } = run
  return ordered(
    { ...rest, coalesce: undefined },
    {
      id,
      state,
      stage,
      next,
      error,
      progress,
      attempts: attempts.map(({ number, startedAt, endedAt, outcome, reason }) => {
        const took = endedAt === undefined ? '' : ` after ${endedAt - startedAt} ms`
        const why = reason === undefined ? '' : `: ${reason}`
        return `${number}  ${timeOf(startedAt)}  ${outcome ?? 'under way'}${took}${why}`
      }),
      orders: orders.map(({ order, at, by }) => `${order}  ${timeOf(at)}  by ${by}`),
      joined: coalesce && coalescedFacts(coalesce, state),
      summary: summary && withoutTexts(summary),
      deliveries: deliveries?.map(withoutTexts),
    },
  )
}

function timeOf(at: number): string {
  return new Date(at).toISOString()
}

/** The operator's next step for a waiting run. */
function nextOfRun(run: Answer<'readRun'>, io: Io): string | undefined {
  const { id, kind, state, error, cancelRequestedAt } = run
  const command = (name: string) => commandLine(`${name} ${shortId(id)}`, io)
  if (state === 'parked') {
    const when = error?.code === 'BUDGET' ? ' once the budget has room again' : ''
    return `${command('resume')} performs it${when}, ${command('cancel')} ends it`
  }
  if (kind === 'run' && (state === 'failed' || state === 'timed-out'))
    return `${command('retry')} performs it again from its stored prompt`
  return cancelRequestedAt !== undefined && state === 'running' ? 'it is being cancelled' : undefined
}

function coalescedFacts(
  { count = 1, requests, requestIds = [], keep, deadline }: NonNullable<Answer<'readRun'>['coalesce']>,
  state: string,
): Facts {
  const newest = requestIds.slice(-shownRequests).toReversed()
  const isWaiting = deadline !== undefined && state === 'queued'
  return {
    // `forEach` makes several messages of one request.
    messages: count === requests ? undefined : count,
    requests,
    keep: keep === 'all' ? 'the agent reads every message' : 'the agent reads the newest message',
    startsAt: isWaiting ? `${timeOf(deadline)} at the latest` : undefined,
    newest: newest.length < 2 ? undefined : newest,
  }
}

function withoutTexts(record: object): Facts {
  const { text: _text, prompt: _prompt, ...rest } = record as Facts
  return rest
}

/** `waits`: why its channel is held, where it is. */
export function deliveryFacts(delivery: Answer<'readDelivery'>, io: Io, waits?: string): Facts {
  const { id, state, channel, to, code, reason, attempts, nextAt, receipts } = delivery
  const next = state === 'parked' ? `${commandLine(`replay ${shortId(id)}`, io)} sends it again` : undefined
  const parts = receipts.length > 0 ? ['sent', ...partLines(receipts)] : undefined
  const first = { id, state, next, waits, channel, to, code, reason, attempts, nextAt, parts }
  return ordered({ ...delivery, receipts: undefined }, first, ['text'])
}

/** A channel's record of a part that it sent; no field is certain. */
interface KeptReceipt {
  readonly id?: unknown
  readonly at?: unknown
  readonly partial?: readonly { readonly target?: unknown; readonly reason?: unknown }[]
}

/** `1  m4711  2026-01-31T12:00:00Z`, and below it the recipients that it did not reach. */
function partLines(receipts: readonly unknown[]): string[] {
  return receipts.flatMap((receipt, index) => {
    const { id, at } = (receipt ?? {}) as KeptReceipt
    const line = [index + 1, id, at].filter((each) => each !== undefined).join('  ')
    return [line, ...missed(receipt).map((each) => `   not to ${each}`)]
  })
}

/** The recipients of a group that its message did not reach. */
export function missed(receipt: unknown): string[] {
  const { partial } = (receipt ?? {}) as KeptReceipt
  return Array.isArray(partial) ? partial.map(({ target, reason }) => `${target}: ${reason}`) : []
}
