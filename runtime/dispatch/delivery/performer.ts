/** Owns a delivery: its parts sent in order, each with a receipt on disk before the next. */

import { type Backoff, BoundedMap, type Channel, type ChannelLimits, retryDelayMs } from '@reveille/kit'
import { boundedCall } from '../../agent/bounded-call.ts'
import { type Failure, failureOf } from '../../agent/failure.ts'
import type { Claim, DeliveryRecord, Settlement } from '../../store/port.ts'
import type { PerformerOptions } from '../options.ts'
import { withoutEcho } from './echo.ts'
import type { ChannelGate, Turn } from './gate.ts'
import { failureToSend, receiptOf, type SendOutcome } from './outcome.ts'
import { type DeliveryPlan, planParts } from './parts.ts'
import { endOfPatience } from './patience.ts'
import { pause } from './pause.ts'
import { createSettlements, prefixed, progressOf } from './settlements.ts'
import { isNoAttempt, leastRetryMs, ownFault } from './trouble.ts'

/** One part's time, where its channel does not say another. Milliseconds. */
const defaultSendTimeoutMs = 30_000
/** After a receipt could not be written. Milliseconds. */
const storePauseMs = 5000
/** A service that takes no more from us and does not say for how long. Milliseconds. */
const limitedBackoff: Backoff = { firstMs: 30_000, mostMs: 30_000 }

const backoff: Backoff = { firstMs: 2000, mostMs: 600_000 }
const unsure = 'it may have arrived: '
/** Deliveries whose progress is remembered beside the store. */
const mostRemembered = 10_000

export interface DeliveryPerformerOptions extends PerformerOptions {
  readonly gate: ChannelGate
}

/** What is read of a channel before a reload can take it away. */
interface Plan extends DeliveryPlan {
  readonly limits: ChannelLimits
  /** A repeat within it gives no second message. Milliseconds. */
  readonly windowMs: number
}

/** What a delivery has come to, whether or not that is on the disk. */
interface Progress {
  readonly delivery: DeliveryRecord
  /** How often its task had been claimed. A task that is made again, as by a replay, begins at one. */
  readonly claims: number
}

/** A call that was made. */
interface Sending {
  readonly at: number
  readonly text: string
  /** Of the channel's configuration. */
  readonly era: number
  readonly timeoutMs: number
}

export function createDeliveryPerformer(
  options: DeliveryPerformerOptions,
): (claim: Claim) => Promise<Settlement> {
  const { now, timers, gate } = options
  const settle = createSettlements(options)
  const progress = new BoundedMap<string, Progress>(mostRemembered)

  return async function performDelivery(claim) {
    const { delivery: kept } = await claim.load()
    if (kept === undefined || kept.state !== 'pending') return { effects: {}, done: true }
    const delivery = withProgress(kept, claim)
    const channel = options.channel(delivery.channel)
    if (!channel) return settle.park(delivery, noChannel(delivery.channel))
    const plan = planOf(channel, delivery)
    if ('code' in plan) return settle.park(delivery, plan)
    if (plan.parts.length === 0) return settle.skip(delivery)
    if (isForgotten(delivery, plan, now())) return settle.park(delivery, prefixed(unsure, lastOf(delivery)))
    return send(claim, channel, plan, delivery)
  }

  /** Goes on at the first part without a receipt. */
  async function send(
    claim: Claim,
    channel: Channel,
    plan: Plan,
    found: DeliveryRecord,
  ): Promise<Settlement> {
    const startedAt = now()
    const { target, parts, limits } = plan
    const timeoutMs = limits.sendTimeoutMs ?? defaultSendTimeoutMs
    const bounds = { ms: timeoutMs, stops: stopsOf(claim), timers }
    let delivery = found
    for (const [index, part] of parts.entries()) {
      if (index < found.receipts.length) continue
      const turn = await turnToSend(claim, plan, delivery, found)
      if ('effects' in turn) return turn
      const sending = { at: now(), text: part.text, era: turn.era, timeoutMs }
      tellOwnWords(delivery.text, part.text)
      const key = `${found.id}:${index + 1}`
      const outcome = await boundedCall((signal) => channel.send(part, { target, key, signal }), bounds)
      const receipt = receiptOf(outcome)
      if (receipt === undefined) return unsent(claim, delivery, outcome, plan, sending)
      gate.sent(found.channel, sending.era)
      delivery = { ...delivery, receipts: [...delivery.receipts, receipt], unsureSince: undefined }
      remember(delivery, claim)
    }
    return settle.delivered(delivery, now() - startedAt)
  }

  /** A claim may be lost with all that it has not written; what was sent under it was sent all the same. */
  function remember(delivery: DeliveryRecord, { task }: Claim): void {
    progress.delete(delivery.id)
    progress.set(delivery.id, { delivery, claims: task.claims })
  }

  function withProgress(kept: DeliveryRecord, { task }: Claim): DeliveryRecord {
    const known = progress.get(kept.id)
    if (known === undefined || known.delivery.channel !== kept.channel || known.delivery.to !== kept.to)
      return kept
    const { receipts, unsureSince, firstTriedAt, code, reason } = known.delivery
    if (receipts.length > kept.receipts.length) return { ...kept, receipts, unsureSince, firstTriedAt }
    const isLost = task.claims > known.claims && receipts.length === kept.receipts.length
    return isLost && unsureSince !== undefined && kept.unsureSince === undefined
      ? { ...kept, unsureSince, firstTriedAt, code, reason }
      : kept
  }

  /** Nothing more is sent, or waited for, while a receipt is not kept; a settlement carries those so far. */
  async function turnToSend(
    claim: Claim,
    { target, limits }: Plan,
    delivery: DeliveryRecord,
    found: DeliveryRecord,
  ): Promise<Extract<Turn, { kind: 'go' }> | Settlement> {
    let isKept = delivery === found
    for (;;) {
      if (stopsOf(claim).some((signal) => signal.aborted)) return settle.resume(now(), delivery)
      const turn = gate.turn(found.channel, target.key, limits)
      if (turn.kind === 'leave') return leave(claim, turn, delivery, found)
      isKept ||= await isRecorded(claim, delivery)
      if (!isKept) return settle.resume(now() + storePauseMs, delivery)
      if (turn.kind === 'go') return turn
      await pause(turn.ms, stopsOf(claim), timers)
    }
  }

  function stopsOf(claim: Claim): readonly AbortSignal[] {
    return [claim.lease, options.stopping]
  }

  /** Before the call: whoever is sent them may bring them back to us sooner than the receipt. */
  function tellOwnWords(reply: string, part: string) {
    options.onDelivered?.(reply)
    if (part !== reply) options.onDelivered?.(part)
  }

  function isRecorded(claim: Claim, delivery: DeliveryRecord): Promise<boolean> {
    return claim.checkpoint({ delivery: progressOf(delivery) }).then(
      () => true,
      () => false,
    )
  }

  /** It is not its turn. What waits for its channel is due at once: the pool is what holds it back. */
  function leave(
    claim: Claim,
    { whose, until }: Extract<Turn, { kind: 'leave' }>,
    delivery: DeliveryRecord,
    found: DeliveryRecord,
  ): Settlement {
    const again = whose === 'channel' && isPooled(claim, delivery) ? now() : until
    return delivery === found ? settle.untouched(again) : settle.resume(again, delivery, until)
  }

  function unsent(
    claim: Claim,
    before: DeliveryRecord,
    outcome: SendOutcome,
    plan: Plan,
    sending: Sending,
  ): Settlement {
    const failure = withoutEcho(failureToSend(outcome, sending.timeoutMs), sending.text)
    const isInterrupted = outcome.kind === 'interrupted'
    if (!isInterrupted) gate.failed(before.channel, sending.era, before.id, failure)

    const at = now()
    const counts = !isNoAttempt(failure)
    const tried = {
      ...before,
      attempts: before.attempts + (counts && !isInterrupted ? 1 : 0),
      firstTriedAt: before.firstTriedAt ?? sending.at,
      unsureSince: before.unsureSince ?? (failure.maybeDelivered ? sending.at : undefined),
    }
    if (tried.unsureSince !== undefined)
      remember({ ...tried, code: failure.code, reason: failure.message }, claim)
    const next = isInterrupted ? { again: at, nextAt: at, quiet: true } : nextTry(claim, tried, failure, at)
    if (isForgotten(tried, plan, next.nextAt)) return settle.park(tried, prefixed(unsure, failure))
    if (isInterrupted) return settle.resume(at, tried)
    if (!failure.retryable && counts) return settle.park(tried, failure)
    const given = endOfPatience(tried, deliveries().retryForMs, at)
    if (given !== undefined) return settle.park(tried, prefixed(given, failure))
    return settle.retry(tried, failure, { ...next, counts })
  }

  /** While its channel is held a delivery waits for that alone, unless the vendor asked for patience with its target. */
  function nextTry(claim: Claim, delivery: DeliveryRecord, failure: Failure, at: number) {
    const own = failure.code === 'rate-limited' ? limitedBackoff : backoff
    const delayMs = retryDelayMs(failure, Math.max(1, delivery.attempts), own, options.random)
    const ownAt = at + Math.max(leastRetryMs, delayMs)
    const until = gate.restsUntil(delivery.channel)
    if (until === undefined) return { again: ownAt, nextAt: ownAt, quiet: false }
    const isTargets = !failure.wholeChannel && (failure.retryAfterMs ?? 0) > 0
    const nextAt = isTargets ? Math.max(until, ownAt) : until
    return { again: !isTargets && isPooled(claim, delivery) ? at : nextAt, nextAt, quiet: true }
  }

  /** Whether nobody would know a repeat of what may have arrived for one. */
  function isForgotten({ unsureSince }: DeliveryRecord, { windowMs }: Plan, at: number): boolean {
    return unsureSince !== undefined && at >= unsureSince + windowMs && !deliveries().retryUnsure
  }

  function planOf(channel: Channel, delivery: DeliveryRecord): Plan | Failure {
    try {
      const plan = planParts(channel, delivery, deliveries().maxMessages)
      return { ...plan, limits: channel.limits, windowMs: channel.idempotency?.windowMs ?? 0 }
    } catch (error) {
      return failureOf(error, ownFault, { place: true })
    }
  }

  function deliveries() {
    return options.current().snapshot.settings.deliveries
  }
}

/** Tasks of earlier versions are in no pool. */
function isPooled({ task }: Claim, { channel }: DeliveryRecord): boolean {
  return task.pool === channel
}

/** What it met last, as far as that was written. */
function lastOf({
  code = 'INTERRUPTED',
  reason = 'the gateway stopped while the part was being sent',
}: DeliveryRecord) {
  return { code, message: reason, reason }
}

function noChannel(name: string) {
  const reason = `channel ${name} is no longer configured`
  return { code: 'NO_ROUTE', message: reason, reason }
}
