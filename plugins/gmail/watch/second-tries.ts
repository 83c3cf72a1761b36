/** Owns trying refused mails again, each ever more seldom, until it is taken, gone or given up. */

import { dayMs, minuteMs } from '../durations.ts'
import { isDue, type RefusedMail } from './cursor.ts'
import { fetchMail } from './fetching.ts'
import { postAndRemember } from './passing-on.ts'
import { forget, giveUp, refuse } from './refusing.ts'
import { retry, whatCanBeMended } from './retrying.ts'
import type { Watched } from './watched.ts'

const lookEveryMs = minuteMs
const patienceMs = 7 * dayMs
/** A source that rested for a week, and a clock that leapt, are no reason to give up. */
const leastTries = 12

/** All at once when it begins and after a reload, because what refused them may have been mended; else each when it is due. */
export async function retryRefused(watched: Watched, signal: AbortSignal): Promise<void> {
  const { call, clock, cursor } = watched
  let reload = new AbortController()
  call.onReloaded(() => reload.abort())
  for (let due = cursor.get().refused; ; ) {
    for (const mail of due)
      await retry(watched, signal, (inner) => tryAgain(watched, mail, inner), { passes: whatCanBeMended })
    await clock.sleep(lookEveryMs, AbortSignal.any([signal, reload.signal])).catch(() => undefined)
    signal.throwIfAborted()
    due = reload.signal.aborted ? cursor.get().refused : dueOf(watched)
    reload = new AbortController()
  }
}

function dueOf({ clock, cursor }: Watched): readonly RefusedMail[] {
  const now = clock.now()
  return cursor.get().refused.filter((mail) => isDue(mail, now))
}

async function tryAgain(watched: Watched, { id }: RefusedMail, signal: AbortSignal): Promise<void> {
  const { clock, cursor } = watched
  const fetched = await fetchMail(watched, id, signal)
  if (fetched.is === 'missing' || fetched.is === 'unwanted') forget(watched, id)
  if (fetched.is === 'refused') refuse(watched, id, fetched.code)
  const mails = fetched.is === 'mail' ? [fetched.mail] : []
  await postAndRemember(watched, mails, cursor.get().historyId, signal)
  const still = cursor.get().refused.find((mail) => mail.id === id)
  if (!still || still.tries < leastTries || clock.now() - still.since < patienceMs) return
  giveUp(watched, still)
  await retry(watched, signal, () => cursor.save())
}
