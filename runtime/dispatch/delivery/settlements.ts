/** Owns what is written of a delivery, and what is logged of it, however its claim ends. */

import type { DeliveryRecord, Effects, Settlement } from '../../store/port.ts'
import type { DispatchOptions } from '../options.ts'

/** What a delivery is parked for. */
export interface Complaint {
  readonly code: string
  /** For the record. */
  readonly message: string
  /** For the log. */
  readonly reason: string
}

export interface Retry {
  /** When the task may be claimed again. */
  readonly again: number
  /** When it will be, as far as anybody knows. */
  readonly nextAt: number
  readonly counts: boolean
  /** Whether others tell of it already. */
  readonly quiet: boolean
}

/** A delivery that ended has no next try, and no trouble but its last. */
const settled = {
  nextAt: undefined,
  code: undefined,
  reason: undefined,
  unsureSince: undefined,
  firstTriedAt: undefined,
} as const

export function createSettlements({ log, now }: Pick<DispatchOptions, 'log' | 'now'>) {
  return {
    /** Nothing went wrong: it goes on where it is, at a later time. */
    resume(again: number, delivery: DeliveryRecord, nextAt = again): Settlement {
      return { effects: { delivery: { ...progressOf(delivery), nextAt } }, again, counts: false }
    },

    /** Nothing happened, so nothing is written. */
    untouched(again: number): Settlement {
      return { effects: {}, again, counts: false }
    },

    retry(delivery: DeliveryRecord, { code, message, reason }: Complaint, retry: Retry): Settlement {
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
    },

    park(delivery: DeliveryRecord, { code, message, reason }: Complaint): Settlement {
      const { id, receipts, attempts } = delivery
      log.warn({ event: 'delivery-parked', ...names(delivery), code, reason, attempts }, 'delivery parked')
      const ending = { code, reason: message, endedAt: now() }
      return {
        effects: { delivery: { id, state: 'parked', receipts, attempts, ...settled, ...ending } },
        done: true,
      }
    },

    skip(delivery: DeliveryRecord): Settlement {
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
    },
  }
}

/** The run whose reply it was may be done with it. */
function deliveredEffect(run: string | undefined, at: number): Pick<Effects, 'delivered'> {
  return run === undefined ? {} : { delivered: { run, at } }
}

/** The fields that change while a delivery has not ended. */
export function progressOf({ id, receipts, unsureSince, firstTriedAt }: DeliveryRecord) {
  return { id, receipts, unsureSince, firstTriedAt }
}

export function prefixed<Of extends Complaint>(prefix: string, complaint: Of): Complaint {
  const { code, message, reason } = complaint
  return { code, message: prefix + message, reason: prefix + reason }
}

function names({ id: deliveryId, runId, channel, to }: DeliveryRecord) {
  return { deliveryId, runId, channel, to }
}
