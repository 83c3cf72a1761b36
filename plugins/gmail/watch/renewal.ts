/** Owns the watch: begun, and begun anew well before Google ends it, whatever clocks do meanwhile. */

import { type Backoff, isPluginError, timeOf } from '@reveille/kit'
import { dayMs, minuteMs, secondMs } from '../durations.ts'
import { waitMs } from './backoff.ts'
import { beginCursor, type WatchRecord } from './cursor.ts'
import { retry, whatCanBeMended } from './retrying.ts'
import type { Trouble } from './status.ts'
import { withSetup } from './waiting.ts'
import type { Watched } from './watched.ts'

/** https://developers.google.com/workspace/gmail/api/guides/push#renewing_mailbox_watch */
const lifetimeMs = 7 * dayMs
const backoff: Backoff = { firstMs: minuteMs, mostMs: 30 * minuteMs }
/** Where nothing works without it. */
const firstBackoff: Backoff = { firstMs: 10 * secondMs, mostMs: 5 * minuteMs }
/** Then the clock is looked at, which may have been set. */
const longestRestMs = 5 * minuteMs
/** When an operator is told that it could not be begun anew. */
const alarmMs = dayMs

/** Where nothing was kept: what is in the mailbox is no news, and what comes from now on is. */
export async function beginWatching(watched: Watched, signal: AbortSignal): Promise<void> {
  const { clock, config, cursor, gmail, label } = watched
  const request = { topic: config.topic, labelId: label }
  const words = ({ message }: Error) => withSetup(message)
  const { historyId, endsAt } = await retry(watched, signal, (inner) => gmail.watch(request, inner), {
    passes: whatCanBeMended,
    backoff: firstBackoff,
    words,
  })
  const now = clock.now()
  cursor.begin({
    ...beginCursor(config.account, historyId, now),
    watch: { ...request, begunAt: now, endsAt },
  })
  await retry(watched, signal, () => cursor.save())
  tellRenewed(watched)
}

/** Begins the watch anew whenever it is time, and says so to `renewed`. */
export async function keepWatching(
  watched: Watched,
  renewed: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { clock, cursor, random, status } = watched
  const trouble = status.trouble()
  let failures = 0
  /** Since the watch was begun, by timers: the clock may be set. */
  let restedMs = 0
  try {
    for (;;) {
      const { watch } = cursor.get()
      if (watch && isFor(watched, watch) && !isDue(watched, watch, restedMs)) {
        const rest = Math.min(longestRestMs, Math.max(secondMs, renewsAt(watched, watch) - clock.now()))
        await clock.sleep(rest, signal)
        restedMs += rest
        continue
      }
      try {
        await renew(watched, signal)
        failures = 0
        restedMs = 0
        trouble.clear()
        renewed()
      } catch (error) {
        if (signal.aborted || !isPluginError(error) || !whatCanBeMended(error)) throw error
        failures += 1
        const wait = waitMs(failures, backoff, random, error.retryAfter)
        tellFailure(watched, trouble, failures, wait, error)
        await clock.sleep(wait, signal)
      }
    }
  } finally {
    trouble.leave()
  }
}

async function renew(watched: Watched, signal: AbortSignal): Promise<void> {
  const { clock, config, cursor, gmail, label } = watched
  const request = { topic: config.topic, labelId: label }
  const { watch } = cursor.get()
  // Google has one topic for a mailbox: that of before was ours to end.
  if (watch && watch.topic !== config.topic) await gmail.stop(signal)
  const { endsAt } = await gmail.watch(request, signal)
  cursor.change((before) => ({ ...before, watch: { ...request, begunAt: clock.now(), endsAt } }))
  await retry(watched, signal, () => cursor.save())
  tellRenewed(watched)
}

function isFor({ config, label }: Watched, { topic, labelId }: WatchRecord): boolean {
  return topic === config.topic && labelId === label
}

/** A watch that was begun in the future is one of a clock that was set back: nobody knows when it ends. */
function isDue(watched: Watched, watch: WatchRecord, restedMs: number): boolean {
  const now = watched.clock.now()
  return now < watch.begunAt || now >= renewsAt(watched, watch) || restedMs >= intervalMs(watched, watch)
}

function renewsAt(watched: Watched, watch: WatchRecord): number {
  return watch.begunAt + intervalMs(watched, watch)
}

/** At half of its time at the latest. Its end is by Google's clock, which may be far from ours: then it lasts as documented. */
function intervalMs({ config }: Watched, { begunAt, endsAt }: WatchRecord): number {
  const lasts = endsAt - begunAt
  const half = (lasts >= minuteMs ? Math.min(lasts, lifetimeMs) : lifetimeMs) / 2
  return Math.min(config.renewEveryMinutes * minuteMs, half)
}

/** Until when the watch lasts, and when it is begun anew. */
export function tellTimes(watched: Watched): void {
  const { watch } = watched.cursor.get()
  if (!watch) return
  watched.status.time('watchEnds', watch.endsAt)
  watched.status.time('watchRenews', renewsAt(watched, watch))
}

function tellRenewed(watched: Watched): void {
  const { watch } = watched.cursor.get()
  if (!watch) return
  tellTimes(watched)
  watched.log.info('gmail-watch-renewed', {
    endsAt: timeOf(watch.endsAt).at,
    next: timeOf(renewsAt(watched, watch)).at,
  })
}

/** Mails are read without a watch too, only later: while it lasts for days, a line in the log is enough. */
function tellFailure(
  watched: Watched,
  trouble: Trouble,
  failures: number,
  wait: number,
  { code, message, retryable }: { code: string; message: string; retryable: boolean },
): void {
  const { clock, cursor, log, status } = watched
  const { watch } = cursor.get()
  const left = watch && isFor(watched, watch) ? watch.endsAt - clock.now() : 0
  status.time('watchRenews', clock.now() + wait)
  if (failures === 1) log.warn('gmail-watch-not-renewed', { code, endsAt: timeOf(watch?.endsAt).at })
  if (left >= alarmMs) return
  const end = left > 0 ? 'ends within a day' : 'is not in force'
  const detail = `The watch of the mailbox ${end}, and could not be begun anew: ${message}`
  trouble.set('failing', retryable ? detail : withSetup(detail))
}
