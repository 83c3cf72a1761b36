/** Owns a delivery: its parts sent in order, each with a receipt on disk before the next. */

import type { Channel, Part, Receipt, Target } from '@reveille/kit'
import { boundedCall, type CallOutcome } from '../../agent/bounded-call.ts'
import { type Failure, failureOf } from '../../agent/failure.ts'
import type { Claim, DeliveryRecord, Effects, Settlement } from '../../store/port.ts'
import { type Backoff, retryDelayMs } from '../backoff.ts'
import type { PerformerOptions } from '../options.ts'

/** Tries before a delivery is parked. */
const deliveryAttemptLimit = 8
/** One part's time. Milliseconds. */
const sendTimeoutMs = 30_000
/** After a receipt could not be written. Milliseconds. */
const storePauseMs = 5000

const backoff: Backoff = { firstMs: 2000, mostMs: 600_000 }

interface Plan {
  readonly target: Target
  readonly parts: readonly Part[]
  /** A repeat within it gives no second message. Read before a reload can take the channel away. Milliseconds. */
  readonly windowMs: number
}

export function createDeliveryPerformer(options: PerformerOptions): (claim: Claim) => Promise<Settlement> {
  const { log, now, timers } = options

  return async function performDelivery(claim) {
    const { delivery } = await claim.load()
    if (delivery === undefined || delivery.state !== 'pending') return { effects: {}, done: true }
    const channel = options.channel(delivery.channel)
    if (!channel) return park(delivery, noChannel(delivery.channel))
    const plan = planOf(channel, delivery)
    if ('code' in plan) return park(delivery, plan)
    if (plan.parts.length === 0) return skip(delivery)
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
    const { target, parts, windowMs } = plan
    const stops = [claim.lease, options.stopping]
    let delivery = found
    for (const [index, part] of parts.entries()) {
      if (index < found.receipts.length) continue
      if (stops.some((signal) => signal.aborted)) return resumeAt(now(), delivery)
      const key = `${found.id}:${index + 1}`
      const bounds = { ms: sendTimeoutMs, stops, timers }
      const sentAt = now()
      tellOwnWords(delivery.text, part.text)
      const outcome = await boundedCall((signal) => channel.send(part, { target, key, signal }), bounds)
      const receipt = receiptOf(outcome)
      if (receipt === undefined) return unsent(delivery, outcome, windowMs, sentAt)
      delivery = { ...delivery, receipts: [...delivery.receipts, receipt], unsureSince: undefined }
      if (index < parts.length - 1 && !(await isRecorded(claim, delivery))) {
        return resumeAt(now() + storePauseMs, delivery)
      }
    }
    return delivered(delivery, now() - startedAt)
  }

  /** Before the call: whoever is sent them may bring them back to us sooner than the receipt. */
  function tellOwnWords(reply: string, part: string) {
    options.onDelivered?.(reply)
    if (part !== reply) options.onDelivered?.(part)
  }

  /** Nothing more is sent while its receipt could not be kept; the settlement carries those so far. */
  function isRecorded(claim: Claim, delivery: DeliveryRecord): Promise<boolean> {
    return claim.checkpoint({ delivery: progressOf(delivery) }).then(
      () => true,
      () => false,
    )
  }

  function resumeAt(again: number, delivery: DeliveryRecord): Settlement {
    return { effects: { delivery: progressOf(delivery) }, again, counts: false }
  }

  function delivered(delivery: DeliveryRecord, ms: number): Settlement {
    const at = now()
    const { id, runId, receipts, attempts } = delivery
    log.info({ event: 'delivery-delivered', ...names(delivery), parts: receipts.length, ms }, 'delivered')
    return {
      effects: {
        delivery: { id, state: 'delivered', receipts, attempts: attempts + 1, endedAt: at, ...settled },
        ...deliveredEffect(runId, at),
      },
      done: true,
    }
  }

  function unsent(
    delivery: DeliveryRecord,
    outcome: CallOutcome<Receipt>,
    windowMs: number,
    sentAt: number,
  ): Settlement {
    const at = now()
    const failure = failureToSend(outcome)
    const attempts = delivery.attempts + 1
    const delay =
      outcome.kind === 'interrupted' ? 0 : retryDelayMs(failure, attempts, backoff, options.random)
    const unsureSince = delivery.unsureSince ?? (failure.maybeDelivered ? sentAt : undefined)
    const tried = { ...delivery, attempts, unsureSince }

    if (unsureSince !== undefined && at + delay >= unsureSince + windowMs) {
      return park(tried, { ...failure, ...prefixed('it may have arrived: ', failure) })
    }
    if (outcome.kind === 'interrupted') return resumeAt(at, { ...delivery, unsureSince })
    if (!failure.retryable) return park(tried, failure)
    if (attempts >= deliveryAttemptLimit) {
      return park(tried, { ...failure, ...prefixed(`given up after ${attempts} attempts: `, failure) })
    }

    const { code, message, reason } = failure
    log.warn(
      { event: 'delivery-retried', ...names(delivery), code, reason, attempts, inMs: delay },
      'delivery will be retried',
    )
    return {
      effects: { delivery: { ...progressOf(tried), attempts, code, reason: message, nextAt: at + delay } },
      again: at + delay,
      counts: true,
    }
  }

  function park(delivery: DeliveryRecord, failure: Pick<Failure, 'code' | 'message' | 'reason'>): Settlement {
    const { id, receipts, attempts } = delivery
    const { code, message, reason } = failure
    log.warn({ event: 'delivery-parked', ...names(delivery), code, reason, attempts }, 'delivery parked')
    return {
      effects: {
        delivery: {
          id,
          state: 'parked',
          receipts,
          attempts,
          ...settled,
          code,
          reason: message,
          endedAt: now(),
        },
      },
      done: true,
    }
  }

  function skip(delivery: DeliveryRecord): Settlement {
    const at = now()
    const facts = { code: 'BLANK_REPLY', reason: 'the channel renders the reply as nothing' }
    log.info({ event: 'delivery-skipped', ...names(delivery), ...facts }, 'nothing to deliver')
    return {
      effects: {
        delivery: { id: delivery.id, state: 'skipped', ...settled, ...facts, endedAt: at },
        ...deliveredEffect(delivery.runId, at),
      },
      done: true,
    }
  }
}

/** A delivery that ended has no next try, and no trouble but its last. */
const settled = { nextAt: undefined, code: undefined, reason: undefined, unsureSince: undefined } as const

/** The run whose reply it was may be done with it. */
function deliveredEffect(run: string | undefined, at: number): Pick<Effects, 'delivered'> {
  return run === undefined ? {} : { delivered: { run, at } }
}

/** The fields that change while a delivery has not ended. */
function progressOf({ id, receipts, unsureSince }: DeliveryRecord) {
  return { id, receipts, unsureSince }
}

function planOf(channel: Channel, delivery: DeliveryRecord): Plan | Failure {
  try {
    const parts = channel.render(delivery.text)
    if (!Array.isArray(parts)) throw new TypeError('the channel rendered the reply as no list of parts')
    const target = channel.target(delivery.to ?? '')
    return { target, parts, windowMs: channel.idempotency?.windowMs ?? 0 }
  } catch (error) {
    return failureOf(error, 'CHANNEL_FAILED')
  }
}

/** A receipt that comes while the call is being stopped still proves that the part was sent. */
function receiptOf(outcome: CallOutcome<Receipt>): Receipt | undefined {
  if (outcome.kind === 'threw') return undefined
  return keepable(outcome.kind === 'answered' ? outcome.answer : outcome.late)
}

/** What of a receipt is data. One that the store had to refuse would have its part sent again. */
function keepable(receipt: Receipt | undefined): Receipt | undefined {
  try {
    const text = JSON.stringify(receipt)
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return { id: String(receipt?.id ?? '') }
  }
}

/** A channel that was stopped and does not say how far it came may have sent the part. */
function failureToSend(outcome: CallOutcome<Receipt>): Failure {
  if (outcome.kind === 'answered')
    return failureOf('the channel answered without a receipt', 'CHANNEL_FAILED')
  const failure = failureOf(outcome.error, 'CHANNEL_FAILED')
  if (outcome.kind === 'threw' || failure.code !== 'CHANNEL_FAILED') return failure
  const message =
    outcome.kind === 'timed-out'
      ? `the channel did not answer within ${sendTimeoutMs / 1000} s`
      : 'the gateway stopped while the part was being sent'
  const code = outcome.kind === 'timed-out' ? 'TIMEOUT' : 'INTERRUPTED'
  return { code, message, reason: message, retryable: true, maybeDelivered: true, wholeChannel: false }
}

function noChannel(name: string) {
  const reason = `channel ${name} is no longer configured`
  return { code: 'NO_ROUTE', message: reason, reason }
}

function prefixed(prefix: string, { message, reason }: Failure) {
  return { message: prefix + message, reason: prefix + reason }
}

function names({ id: deliveryId, runId, channel, to }: DeliveryRecord) {
  return { deliveryId, runId, channel, to }
}
