/** Performs deliveries: sends their parts in order, with the receipt of each on disk before the next is sent. */

import { type Backoff, BoundedMap, type Channel, type ChannelLimits, retryDelayMs } from '@reveille/kit'
import { boundedCall } from '../../agent/bounded-call.ts'
import { type Failure, failureOf } from '../../agent/failure.ts'
import { pause } from '../../pause.ts'
import type { Claim, DeliveryRecord, Id, RunRecord, Settlement } from '../../store/port.ts'
import { isNoAttempt, minRetryMs, ownFault } from '../failure-scope.ts'
import type { PerformerOptions } from '../performer-options.ts'
import type { ChannelCircuitBreaker, SendPermit } from './circuit-breaker.ts'
import { failureToSend, receiptOf, type SendOutcome, withoutQuotes } from './outcome.ts'
import { type DeliveryPlan, planParts } from './parts.ts'
import { createSettlements, prefixed, progressOf, retryWindowExpired } from './settlements.ts'

/** The time for one part, if its channel declares none. Milliseconds. */
const defaultSendTimeoutMs = 30_000
/** The wait after a receipt could not be written. Milliseconds. */
const storePauseMs = 5000
/** The wait after a rate limit that names no time. Milliseconds. */
const limitedBackoff: Backoff = { firstMs: 30_000, maxMs: 30_000 }

const backoff: Backoff = { firstMs: 2000, maxMs: 600_000 }
const unsure = 'it may have arrived: '
/** Maximum number of deliveries whose progress is remembered beside the store. */
const maxRemembered = 10_000

export interface DeliveryPerformerOptions
  extends Pick<PerformerOptions, 'stopping' | 'current' | 'channel' | 'log' | 'now' | 'timers' | 'random'>,
    Pick<PerformerOptions, 'observer' | 'onSending'> {
  readonly breaker: ChannelCircuitBreaker
}

/** Properties of a channel, read before a reload can remove it. */
interface Plan extends DeliveryPlan {
  readonly limits: ChannelLimits
  /** Within this time the service recognises a repeated part. Milliseconds. */
  readonly windowMs: number
}

/** State that the steps of one claim share. */
interface Sending {
  readonly claim: Claim
  readonly plan: Plan
  /** The delivery as the claim found it. */
  readonly found: DeliveryRecord
}

/** A call to `send`. */
interface SendAttempt {
  readonly at: number
  readonly text: string
  readonly configurationVersion: number
}

interface PerformerParts extends DeliveryPerformerOptions {
  readonly settle: ReturnType<typeof createSettlements>
  readonly progress: ReturnType<typeof createProgress>
}

export function createDeliveryPerformer(
  options: DeliveryPerformerOptions,
): (claim: Claim) => Promise<Settlement> {
  const runs = new Map<Id, RunRecord>()
  const settle = createSettlements(options, runs)
  const progress = createProgress()
  const send = createSender({ ...options, settle, progress })

  return async function performDelivery(claim) {
    const { delivery, run } = await claim.load()
    if (delivery === undefined || delivery.state !== 'pending') return { effects: {}, done: true }
    if (run !== undefined) runs.set(delivery.id, run)
    return perform(claim, delivery).finally(() => runs.delete(delivery.id))
  }

  async function perform(claim: Claim, stored: DeliveryRecord): Promise<Settlement> {
    const found = progress.appliedTo(stored, claim)
    const channel = options.channel(found.channel)
    if (!channel) return settle.park(found, noChannel(found.channel))
    const plan = planOf(channel, found, rulesOf(options).maxMessages)
    if ('code' in plan) return settle.park(found, plan)
    if (plan.parts.length === 0) return settle.skip(found)
    if (isRepeatUnknown(options, found, plan, options.now()))
      return settle.park(found, prefixed(unsure, lastOf(found)))
    return send({ claim, plan, found }, channel)
  }
}

/** Sends the parts without a receipt, one after the other. */
function createSender(parts: PerformerParts) {
  const { now, timers, breaker, settle, progress, onSending } = parts
  const permitToSend = createPermits(parts)
  const settleUnsent = createFailures(parts)

  return async function send(sending: Sending, channel: Channel): Promise<Settlement> {
    const { claim, plan, found } = sending
    const startedAt = now()
    const timeoutMs = plan.limits.sendTimeoutMs ?? defaultSendTimeoutMs
    const bounds = { ms: timeoutMs, stops: stopsOf(parts, claim), timers }
    let delivery = found
    for (const [index, part] of plan.parts.entries()) {
      if (index < found.receipts.length) continue
      const permit = await permitToSend(sending, delivery)
      if ('effects' in permit) return permit
      await claim.confirm()
      const attempt = { at: now(), text: part.text, configurationVersion: permit.configurationVersion }
      onSending?.(delivery.text)
      if (part.text !== delivery.text) onSending?.(part.text)
      const call = { target: plan.target, key: `${found.id}:${index + 1}` }
      const outcome = await boundedCall((signal) => channel.send(part, { ...call, signal }), bounds)
      const receipt = receiptOf(outcome)
      if (receipt === undefined) return settleUnsent(sending, delivery, { ...attempt, outcome, timeoutMs })
      breaker.sent(found.channel, attempt.configurationVersion)
      delivery = { ...delivery, receipts: [...delivery.receipts, receipt], unsureSince: undefined }
      progress.remember(delivery, claim)
    }
    return settle.delivered(delivery, now() - startedAt)
  }
}

/** Waits until the next part may be sent, or settles. No part is sent before the receipts so far are on disk. */
function createPermits(parts: PerformerParts) {
  const { now, timers, breaker, settle } = parts

  /** Releases the slot of a delivery that may not send now. If it waits for its channel it is due at once: its pool holds it back. */
  function release(
    { found }: Sending,
    { whose, until }: Extract<SendPermit, { kind: 'release' }>,
    delivery: DeliveryRecord,
  ): Settlement {
    const again = whose === 'channel' ? now() : until
    return delivery === found ? settle.untouched(again) : settle.resume(again, delivery, until)
  }

  return async function permitToSend(
    sending: Sending,
    delivery: DeliveryRecord,
  ): Promise<Extract<SendPermit, { kind: 'granted' }> | Settlement> {
    const { claim, plan, found } = sending
    const stops = stopsOf(parts, claim)
    let isStored = delivery === found
    for (;;) {
      if (stops.some((signal) => signal.aborted)) return settle.resume(now(), delivery)
      const permit = breaker.requestPermit(found.channel, plan.target.key, plan.limits)
      if (permit.kind === 'release') return release(sending, permit, delivery)
      isStored ||= await isRecorded(claim, delivery)
      if (!isStored) return settle.resume(now() + storePauseMs, delivery)
      if (permit.kind === 'granted') return permit
      await pause(permit.ms, stops, timers)
    }
  }
}

/** Settles a delivery of which a part was not sent: parks it, or says when it is tried again. */
function createFailures(parts: PerformerParts) {
  const { now, random, breaker, settle, progress } = parts

  /** While its channel is held a delivery waits only for that, unless the vendor asked to wait before writing to its target. */
  function nextTry(delivery: DeliveryRecord, failure: Failure, at: number) {
    const own = failure.code === 'rate-limited' ? limitedBackoff : backoff
    const ownAt =
      at + Math.max(minRetryMs, retryDelayMs(failure, Math.max(1, delivery.attempts), own, random))
    const until = breaker.blockedUntil(delivery.channel)
    if (until === undefined) return { again: ownAt, nextAt: ownAt, quiet: false }
    const isForTarget = !failure.wholeService && (failure.retryAfterMs ?? 0) > 0
    const nextAt = isForTarget ? Math.max(until, ownAt) : until
    return { again: isForTarget ? nextAt : at, nextAt, quiet: true }
  }

  return function settleUnsent(
    { claim, plan }: Sending,
    before: DeliveryRecord,
    attempt: SendAttempt & { readonly outcome: SendOutcome; readonly timeoutMs: number },
  ): Settlement {
    const { outcome, text, configurationVersion } = attempt
    const failure = withoutQuotes(failureToSend(outcome, attempt.timeoutMs), text)
    const isInterrupted = outcome.kind === 'interrupted'
    if (!isInterrupted) breaker.failed(before.channel, configurationVersion, before.id, failure)

    const at = now()
    const counts = !isNoAttempt(failure)
    const tried = {
      ...before,
      attempts: before.attempts + (counts && !isInterrupted ? 1 : 0),
      firstTriedAt: before.firstTriedAt ?? attempt.at,
      unsureSince: before.unsureSince ?? (failure.maybeDelivered ? attempt.at : undefined),
    }
    if (tried.unsureSince !== undefined)
      progress.remember({ ...tried, code: failure.code, reason: failure.message }, claim)
    const next = isInterrupted ? { again: at, nextAt: at, quiet: true } : nextTry(tried, failure, at)
    if (isRepeatUnknown(parts, tried, plan, next.nextAt)) return settle.park(tried, prefixed(unsure, failure))
    if (isInterrupted) return settle.resume(at, tried)
    if (!failure.retryable && counts) return settle.park(tried, failure)
    const expired = retryWindowExpired(tried, rulesOf(parts).retryForMs, at)
    if (expired !== undefined) return settle.park(tried, prefixed(expired, failure))
    return settle.retry(tried, failure, { ...next, counts })
  }
}

/** Remembers what was sent, because a claim may be lost with everything that it has not written. */
function createProgress() {
  /** `claims`: how often the task had been claimed. A replay makes a new task, which begins at one. */
  const remembered = new BoundedMap<string, { readonly delivery: DeliveryRecord; readonly claims: number }>(
    maxRemembered,
  )
  return {
    remember(delivery: DeliveryRecord, { task }: Claim): void {
      remembered.delete(delivery.id)
      remembered.set(delivery.id, { delivery, claims: task.claims })
    },
    /** Returns the delivery as far as it has got, whether or not that is on disk. */
    appliedTo(stored: DeliveryRecord, { task }: Claim): DeliveryRecord {
      const { delivery, claims = 0 } = remembered.get(stored.id) ?? {}
      if (delivery === undefined || delivery.channel !== stored.channel || delivery.to !== stored.to)
        return stored
      const { receipts, unsureSince, firstTriedAt, code, reason } = delivery
      if (receipts.length > stored.receipts.length) return { ...stored, receipts, unsureSince, firstTriedAt }
      const isLost = task.claims > claims && receipts.length === stored.receipts.length
      return isLost && unsureSince !== undefined && stored.unsureSince === undefined
        ? { ...stored, unsureSince, firstTriedAt, code, reason }
        : stored
    },
  }
}

function stopsOf({ stopping }: DeliveryPerformerOptions, claim: Claim): readonly AbortSignal[] {
  return [claim.lease, stopping]
}

function rulesOf({ current }: DeliveryPerformerOptions) {
  return current().snapshot.settings.deliveries
}

function isRecorded(claim: Claim, delivery: DeliveryRecord): Promise<boolean> {
  return claim.checkpoint({ delivery: progressOf(delivery) }).then(
    () => true,
    () => false,
  )
}

/** Returns whether the service would no longer recognise a repeat of the part that may have arrived. */
function isRepeatUnknown(
  options: DeliveryPerformerOptions,
  { unsureSince }: DeliveryRecord,
  { windowMs }: Plan,
  at: number,
): boolean {
  return unsureSince !== undefined && at >= unsureSince + windowMs && !rulesOf(options).retryUnsure
}

function planOf(channel: Channel, delivery: DeliveryRecord, maxMessages: number): Plan | Failure {
  try {
    const plan = planParts(channel, delivery, maxMessages)
    return { ...plan, limits: channel.limits, windowMs: channel.idempotency?.windowMs ?? 0 }
  } catch (error) {
    return failureOf(error, ownFault, { place: true })
  }
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
