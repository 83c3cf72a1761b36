/** Tries refused mails again, ever more seldom, until each is taken, gone or given up. */

import { dayMs, minuteMs } from '../durations.ts'
import { postAndRecord } from './batches.ts'
import type { WatchContext } from './context.ts'
import { isDue, type RefusedMail } from './cursor.ts'
import { fetchMail } from './fetching.ts'
import { forget, giveUp, refuse } from './refused-mails.ts'
import { isRecoverable, retry } from './retry.ts'

const checkEveryMs = minuteMs
const giveUpAfterMs = 7 * dayMs
/**
 * These tries are needed too, so that neither a week's pause of the source nor a leap of the clock gives a mail up.
 */
const minTries = 12

/**
 * Tries all mails at the beginning and after a reload, because the cause may be fixed; later each mail when it is
 * due.
 */
export async function retryRefused(context: WatchContext, signal: AbortSignal): Promise<void> {
  const { call, clock, cursor } = context
  let reload = new AbortController()
  call.onReloaded(() => reload.abort())
  for (let due = cursor.get().refused; ; ) {
    for (const mail of due)
      await retry(context, signal, (inner) => tryAgain(context, mail, inner), isRecoverable)
    await clock.sleep(checkEveryMs, AbortSignal.any([signal, reload.signal])).catch(() => undefined)
    signal.throwIfAborted()
    due = reload.signal.aborted ? cursor.get().refused : dueOf(context)
    reload = new AbortController()
  }
}

function dueOf({ clock, cursor }: WatchContext): readonly RefusedMail[] {
  const now = clock.now()
  return cursor.get().refused.filter((mail) => isDue(mail, now))
}

async function tryAgain(context: WatchContext, { id }: RefusedMail, signal: AbortSignal): Promise<void> {
  const { clock, cursor } = context
  const fetched = await fetchMail(context, id, signal)
  if (fetched.kind === 'missing' || fetched.kind === 'unwanted') forget(context, id)
  if (fetched.kind === 'refused') refuse(context, id, fetched.code)
  const mails = fetched.kind === 'mail' ? [fetched.mail] : []
  await postAndRecord(context, mails, cursor.get().historyId, signal)
  const still = cursor.get().refused.find((mail) => mail.id === id)
  if (!still || still.tries < minTries || clock.now() - still.since < giveUpAfterMs) return
  giveUp(context, still)
  await retry(context, signal, () => cursor.save())
}
