/** Follows whether the store can write. Unwritten issues are listed from memory meanwhile. */

import type { Health, Outage } from '../store/port.ts'
import { type Ledger, withoutFullStop } from './ledger.ts'

const subject = 'store'

export function createStoreWatch(ledger: Ledger) {
  let isLost = false

  function noteOutage(outage: Outage): void {
    ledger.note({
      code: 'DISK_LOST_WRITES',
      subject,
      // Its end is no second outage.
      count: isLost && outage.until !== undefined ? 0 : 1,
      describe: () => ({
        cause: causeOf(outage),
        label: 'Find in the system log why the disk failed, and repair or replace it. Then end this issue',
        command: `reveille resolve DISK_LOST_WRITES:${subject}`,
      }),
    })
    isLost = outage.until === undefined
  }

  return {
    /** Is called when the store becomes able or unable to write, and once after a start. */
    changed({ writable, reason = 'no reason given', outage }: Health): void {
      if (outage !== undefined) noteOutage(outage)
      else if (!writable)
        ledger.note({
          code: 'STORE_UNWRITABLE',
          subject,
          describe: () => ({
            cause: `Requests are answered 503, because the store cannot write: ${withoutFullStop(reason)}.`,
            label: 'Fix the cause, such as a full disk; the gateway resumes automatically',
            command: 'reveille doctor',
          }),
        })
      if (!writable) return
      if (ledger.isOpen('STORE_UNWRITABLE', subject)) ledger.resolve('STORE_UNWRITABLE', subject)
      void ledger.flush()
    },
  }
}

function causeOf({ since, until, reason }: Outage): string {
  const from = new Date(since).toISOString()
  return until === undefined
    ? `The disk has been losing writes since ${from} (${reason}). Requests are answered 503 until everything that can be read is in a new file.`
    : `The disk lost writes from ${from} to ${new Date(until).toISOString()} (${reason}). Requests were answered 503 meanwhile; the store is in a new file now.`
}
