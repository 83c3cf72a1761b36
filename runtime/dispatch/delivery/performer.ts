/** Performs deliveries: sends their parts in order, with the receipt of each on disk before the next is sent. */

import { type Backoff, BoundedMap, type Channel, type ChannelLimits, retryDelayMs } from '@reveille/kit'
import { boundedCall } from '../../agent/bounded-call.ts'
import { type Failure, failureOf } from '../../agent/failure.ts'
import type { Claim, DeliveryRecord, Settlement } from '../../store/port.ts'
import { isNoAttempt, minRetryMs, ownFault } from '../failure-scope.ts'
import type { PerformerOptions } from '../performer-options.ts'
import type { ChannelCircuitBreaker, SendPermit } from './circuit-breaker.ts'
import { failureToSend, receiptOf, type SendOutcome, withoutQuotes } from './outcome.ts'
import { type DeliveryPlan, planParts } from './parts.ts'
import { pause } from './pause.ts'
import { createSettlements, prefixed, progressOf, retryWindowExpired } from './settlements.ts'

/** The time for one part, if its channel declares none. Milliseconds. */
const defaultSendTimeoutMs = 30_000
/** The wait after a receipt could not be written. Milliseconds. */
const storePauseMs = 5000
/** The wait after a rate limit that names no time. Milliseconds. */
const limitedBackoff: Backoff = { firstMs: 30_000, maxMs: 30_000 }

const backoff: Backoff = { firstMs: 2000, maxMs: 600_000 }
const unsure = 'it may have arrived: '
/** How many deliveries' progress is remembered beside the store. */
const maxRemembered = 10_000

export interface DeliveryPerformerOptions extends PerformerOptions {
  readonly breaker: ChannelCircuitBreaker
}

/** What is read from a channel before a reload can remove it. */
interface Plan extends DeliveryPlan {
  readonly limits: ChannelLimits
  /** Within this time the service recognises a repeated part. Milliseconds. */
  readonly windowMs: number
}

/** How far a delivery has got, whether or not that is on disk. */
interface Progress {
  readonly delivery: DeliveryRecord
  /** How often its task had been claimed. A replay makes a new task, which begins at one. */
  readonly claims: number
}

/** A call to `send`. */
interface SendAttempt {
  readonly at: number
  readonly text: string
  readonly configurationVersion: number
  readonly timeoutMs: number
}

export function createDeliveryPerformer(
  options: DeliveryPerformerOptions,
): (claim: Claim) => Promise<Settlement> {
  const { now, timers, breaker } = options
  const settle = createSettlements(options)
  const progress = new BoundedMap<string, Progress>(maxRemembered)

  return async function performDelivery(claim) {
    const { delivery: stored } = await claim.load()
    if (stored === undefined || stored.state !== 'pending') return { effects: {}, done: true }
    const delivery = withProgress(stored, claim)
    const channel = options.channel(delivery.channel)
    if (!channel) return settle.park(delivery, noChannel(delivery.channel))
    const plan = planOf(channel, delivery)
    if ('code' in plan) return settle.park(delivery, plan)
    if (plan.parts.length === 0) return settle.skip(delivery)
    if (isRepeatUnknown(delivery, plan, now()))
      return settle.park(delivery, prefixed(unsure, lastOf(delivery)))
    return send(claim, channel, plan, delivery)
  }

  /** Continues at the first part without a receipt. */
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
      const permit = await permitToSend(claim, plan, delivery, found)
      if ('effects' in permit) return permit
      await claim.hold()
      const attempt = {
        at: now(),
        text: part.text,
        configurationVersion: permit.configurationVersion,
        timeoutMs,
      }
      reportSentMessage(delivery.text, part.text)
      const key = `${found.id}:${index + 1}`
      const outcome = await boundedCall((signal) => channel.send(part, { target, key, signal }), bounds)
      const receipt = receiptOf(outcome)
      if (receipt === undefined) return unsent(claim, delivery, outcome, plan, attempt)
      breaker.sent(found.channel, attempt.configurationVersion)
      delivery = { ...delivery, receipts: [...delivery.receipts, receipt], unsureSince: undefined }
      remember(delivery, claim)
    }
    return settle.delivered(delivery, now() - startedAt)
  }

  /** Remembers what was sent, because a claim may be lost with everything that it has not written. */
  function remember(delivery: DeliveryRecord, { task }: Claim): void {
    progress.delete(delivery.id)
    progress.set(delivery.id, { delivery, claims: task.claims })
  }

  function withProgress(stored: DeliveryRecord, { task }: Claim): DeliveryRecord {
    const known = progress.get(stored.id)
    if (known === undefined || known.delivery.channel !== stored.channel || known.delivery.to !== stored.to)
      return stored
    const { receipts, unsureSince, firstTriedAt, code, reason } = known.delivery
    if (receipts.length > stored.receipts.length) return { ...stored, receipts, unsureSince, firstTriedAt }
    const isLost = task.claims > known.claims && receipts.length === stored.receipts.length
    return isLost && unsureSince !== undefined && stored.unsureSince === undefined
      ? { ...stored, unsureSince, firstTriedAt, code, reason }
      : stored
  }

  /** Waits until the next part may be sent, or settles. No part is sent before the receipts so far are on disk. */
  async function permitToSend(
    claim: Claim,
    { target, limits }: Plan,
    delivery: DeliveryRecord,
    found: DeliveryRecord,
  ): Promise<Extract<SendPermit, { kind: 'granted' }> | Settlement> {
    let isStored = delivery === found
    for (;;) {
      if (stopsOf(claim).some((signal) => signal.aborted)) return settle.resume(now(), delivery)
      const permit = breaker.requestPermit(found.channel, target.key, limits)
      if (permit.kind === 'release') return release(claim, permit, delivery, found)
      isStored ||= await isRecorded(claim, delivery)
      if (!isStored) return settle.resume(now() + storePauseMs, delivery)
      if (permit.kind === 'granted') return permit
      await pause(permit.ms, stopsOf(claim), timers)
    }
  }

  function stopsOf(claim: Claim): readonly AbortSignal[] {
    return [claim.lease, options.stopping]
  }

  /** This comes before the call, because the service may post the message back to a hook before it answers. */
  function reportSentMessage(reply: string, part: string) {
    options.onDelivered?.(reply)
    if (part !== reply) options.onDelivered?.(part)
  }

  function isRecorded(claim: Claim, delivery: DeliveryRecord): Promise<boolean> {
    return claim.checkpoint({ delivery: progressOf(delivery) }).then(
      () => true,
      () => false,
    )
  }

  /** Releases the place of a delivery that may not send now. If it waits for its channel it is due at once: its pool holds it back. */
  function release(
    claim: Claim,
    { whose, until }: Extract<SendPermit, { kind: 'release' }>,
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
    attempt: SendAttempt,
  ): Settlement {
    const failure = withoutQuotes(failureToSend(outcome, attempt.timeoutMs), attempt.text)
    const isInterrupted = outcome.kind === 'interrupted'
    if (!isInterrupted) breaker.failed(before.channel, attempt.configurationVersion, before.id, failure)

    const at = now()
    const counts = !isNoAttempt(failure)
    const tried = {
      ...before,
      attempts: before.attempts + (counts && !isInterrupted ? 1 : 0),
      firstTriedAt: before.firstTriedAt ?? attempt.at,
      unsureSince: before.unsureSince ?? (failure.maybeDelivered ? attempt.at : undefined),
    }
    if (tried.unsureSince !== undefined)
      remember({ ...tried, code: failure.code, reason: failure.message }, claim)
    const next = isInterrupted ? { again: at, nextAt: at, quiet: true } : nextTry(claim, tried, failure, at)
    if (isRepeatUnknown(tried, plan, next.nextAt)) return settle.park(tried, prefixed(unsure, failure))
    if (isInterrupted) return settle.resume(at, tried)
    if (!failure.retryable && counts) return settle.park(tried, failure)
    const expired = retryWindowExpired(tried, deliveries().retryForMs, at)
    if (expired !== undefined) return settle.park(tried, prefixed(expired, failure))
    return settle.retry(tried, failure, { ...next, counts })
  }

  /** While its channel is held a delivery waits only for that, unless the vendor asked to wait before writing to its target. */
  function nextTry(claim: Claim, delivery: DeliveryRecord, failure: Failure, at: number) {
    const own = failure.code === 'rate-limited' ? limitedBackoff : backoff
    const delayMs = retryDelayMs(failure, Math.max(1, delivery.attempts), own, options.random)
    const ownAt = at + Math.max(minRetryMs, delayMs)
    const until = breaker.blockedUntil(delivery.channel)
    if (until === undefined) return { again: ownAt, nextAt: ownAt, quiet: false }
    const isForTarget = !failure.wholeService && (failure.retryAfterMs ?? 0) > 0
    const nextAt = isForTarget ? Math.max(until, ownAt) : until
    return { again: !isForTarget && isPooled(claim, delivery) ? at : nextAt, nextAt, quiet: true }
  }

  /** Returns whether the service would no longer recognise a repeat of the part that may have arrived. */
  function isRepeatUnknown({ unsureSince }: DeliveryRecord, { windowMs }: Plan, at: number): boolean {
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

/** Tasks of earlier versions have no pool. */
function isPooled({ task }: Claim, { channel }: DeliveryRecord): boolean {
  return task.pool === channel
}

/** Returns the last failure, as far as it was written. */
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
