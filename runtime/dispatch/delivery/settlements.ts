/** Makes the settlements of a delivery, whichever way its claim ends, and logs them. */

import type { Failure } from '../../agent/failure.ts'
import type { DeliveryRecord, Id, RunRecord, Settlement } from '../../store/port.ts'
import type { DispatchOptions } from '../options.ts'

/** Reason for parking or retrying a delivery: `message` is the sentence for the record, `reason` the one for the log. */
export type ParkReason = Pick<Failure, 'code' | 'message' | 'reason'>

export interface Retry {
  /** When the task may be claimed again. */
  readonly again: number
  /** When it is expected to be sent. */
  readonly nextAt: number
  readonly counts: boolean
  /** True if other log lines report the cause already. */
  readonly quiet: boolean
}

/** The fields that are cleared when a delivery has ended. */
const cleared = {
  nextAt: undefined,
  code: undefined,
  reason: undefined,
  unsureSince: undefined,
  firstTriedAt: undefined,
} as const

/** `runs`: those whose deliveries are being performed, by delivery. */
export function createSettlements(
  { log, now, observer }: Pick<DispatchOptions, 'log' | 'now' | 'observer'>,
  runs: ReadonlyMap<Id, RunRecord>,
) {
  return {
    /** Nothing went wrong: the delivery continues where it is, at a later time. */
    resume(again: number, delivery: DeliveryRecord, nextAt = again): Settlement {
      return { effects: { delivery: { ...progressOf(delivery), nextAt } }, again, counts: false }
    },

    /** Nothing happened, so nothing is written. */
    untouched(again: number): Settlement {
      return { effects: {}, again, counts: false }
    },

    retry(delivery: DeliveryRecord, { code, message, reason }: ParkReason, retry: Retry): Settlement {
      const { attempts } = delivery
      const { again, nextAt, counts, quiet } = retry
      const inMs = Math.max(0, nextAt - now())
      const facts = { ...names(delivery), code, reason, attempts, inMs }
      if (quiet) log.debug({ event: 'delivery-retried', ...facts }, 'delivery will be retried')
      else log.warn({ event: 'delivery-retried', ...facts }, 'delivery will be retried')
      return {
        effects: { delivery: { ...progressOf(delivery), attempts, code, reason: message, nextAt } },
        again,
        counts,
      }
    },

    delivered(delivery: DeliveryRecord, ms: number): Settlement {
      const { receipts, attempts } = delivery
      log.info({ event: 'delivery-delivered', ...names(delivery), parts: receipts.length, ms }, 'delivered')
      observer?.deliveryEnded?.(delivery, 'delivered', undefined, runs.get(delivery.id))
      return ended(delivery, { state: 'delivered', attempts: attempts + 1 })
    },

    park(delivery: DeliveryRecord, { code, message, reason }: ParkReason): Settlement {
      const { attempts } = delivery
      log.warn({ event: 'delivery-parked', ...names(delivery), code, reason, attempts }, 'delivery parked')
      observer?.deliveryEnded?.(delivery, 'parked', { code, reason }, runs.get(delivery.id))
      return ended(delivery, { state: 'parked', code, reason: message })
    },

    skip(delivery: DeliveryRecord): Settlement {
      const facts = { code: 'BLANK_REPLY', reason: 'the channel renders the reply as nothing' }
      log.info({ event: 'delivery-skipped', ...names(delivery), ...facts }, 'nothing to deliver')
      observer?.deliveryEnded?.(delivery, 'skipped', facts, runs.get(delivery.id))
      return ended(delivery, { state: 'skipped', ...facts })
    },
  }

  /** Ends the delivery. Unless it is parked, it may be the last one that its run waits for. */
  function ended(
    { id, runId: run, receipts, attempts }: DeliveryRecord,
    fields: Partial<DeliveryRecord>,
  ): Settlement {
    const at = now()
    const delivery = { id, receipts, attempts, ...cleared, ...fields, endedAt: at }
    const delivered = run !== undefined && fields.state !== 'parked' ? { run, at } : undefined
    return { effects: { delivery, delivered }, done: true }
  }
}

/** The fields that change while a delivery has not ended. */
export function progressOf({ id, receipts, unsureSince, firstTriedAt }: DeliveryRecord) {
  return { id, receipts, unsureSince, firstTriedAt }
}

export function prefixed(prefix: string, { code, message, reason }: ParkReason): ParkReason {
  return { code, message: prefix + message, reason: prefix + reason }
}

function names({ id: deliveryId, runId, channel, to }: DeliveryRecord) {
  return { deliveryId, runId, channel, to }
}

/**
 * Returns the beginning of the reason why a delivery is tried no more, or undefined within its retry window. The window is
 * counted from the first failed try, never in tries.
 */
export function retryWindowExpired(
  { attempts, firstTriedAt }: Pick<DeliveryRecord, 'attempts' | 'firstTriedAt'>,
  retryForMs: number,
  now: number,
): string | undefined {
  if (firstTriedAt === undefined || now - firstTriedAt < retryForMs) return undefined
  const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  // Tries that were no attempts are not counted. If there were only such, the channel was held all the time.
  return `given up after ${attempts === 0 ? '' : `${tries} in `}${inWords(retryForMs)}: `
}

const units = [
  ['d', 86_400_000, 2],
  ['h', 3_600_000, 1],
  ['min', 60_000, 1],
  ['s', 1000, 1],
] as const

/** 24 hours are shown as hours, as in the setting. Days begin at two. */
function inWords(ms: number): string {
  const [unit, each] = units.find(([, one, least]) => ms >= least * one) ?? ['s', 1000]
  return `${Math.round((ms / each) * 10) / 10} ${unit}`
}
