/** Begins the watch and renews it well before Google ends it, even if clocks are set meanwhile. */

import { type Backoff, isPluginError, timeOf } from '@reveille/kit'
import { dayMs, minuteMs, secondMs } from '../durations.ts'
import { withSetup } from './consent.ts'
import type { WatchContext } from './context.ts'
import { beginCursor, type WatchRecord } from './cursor.ts'
import { isRecoverable, retry, waitMs } from './retry.ts'
import type { Problem } from './status.ts'

/** https://developers.google.com/workspace/gmail/api/guides/push#renewing_mailbox_watch */
const lifetimeMs = 7 * dayMs
const backoff: Backoff = { firstMs: minuteMs, maxMs: 30 * minuteMs }
/** Shorter, because nothing works before the first watch. */
const firstBackoff: Backoff = { firstMs: 10 * secondMs, maxMs: 5 * minuteMs }
/** After this time the clock is read again, because it may have been set. */
const maxRestMs = 5 * minuteMs
/** A watch that lasts shorter than this and cannot be renewed is reported. */
const alarmMs = dayMs

/** Begins the first watch. Mails that are in the mailbox already do not count. */
export async function beginWatching(context: WatchContext, signal: AbortSignal): Promise<void> {
  const { clock, config, cursor, gmail, label } = context
  const request = { topic: config.topic, labelId: label }
  const describe = ({ message }: Error) => withSetup(message)
  const { historyId, endsAt } = await retry(context, signal, (inner) => gmail.watch(request, inner), {
    shouldRetry: isRecoverable,
    backoff: firstBackoff,
    describe,
  })
  const now = clock.now()
  cursor.begin({
    ...beginCursor(config.account, historyId, now),
    watch: { ...request, begunAt: now, endsAt },
  })
  await retry(context, signal, () => cursor.save())
  logRenewed(context)
}

/** Renews the watch whenever it is time, and calls `renewed` afterwards. */
export async function keepWatching(
  context: WatchContext,
  renewed: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { clock, cursor, random, status } = context
  const problem = status.problem()
  let failures = 0
  /** The time since the watch was begun, by timers, because the clock may be set. */
  let restedMs = 0
  try {
    for (;;) {
      const { watch } = cursor.get()
      if (watch && isForLabel(context, watch) && !isDue(context, watch, restedMs)) {
        const rest = Math.min(maxRestMs, Math.max(secondMs, renewsAt(context, watch) - clock.now()))
        await clock.sleep(rest, signal)
        restedMs += rest
        continue
      }
      try {
        await renew(context, signal)
        failures = 0
        restedMs = 0
        problem.clear()
        renewed()
      } catch (error) {
        if (signal.aborted || !isPluginError(error) || !isRecoverable(error)) throw error
        failures += 1
        const wait = waitMs(failures, backoff, random, error.retryAfter)
        reportFailure(context, problem, failures, wait, error)
        await clock.sleep(wait, signal)
      }
    }
  } finally {
    problem.release()
  }
}

async function renew(context: WatchContext, signal: AbortSignal): Promise<void> {
  const { clock, config, cursor, gmail, label } = context
  const request = { topic: config.topic, labelId: label }
  const { watch } = cursor.get()
  // Google has one topic for a mailbox, and the earlier one was ours.
  if (watch && watch.topic !== config.topic) await gmail.stop(signal)
  const { endsAt } = await gmail.watch(request, signal)
  cursor.change((before) => ({ ...before, watch: { ...request, begunAt: clock.now(), endsAt } }))
  await retry(context, signal, () => cursor.save())
  logRenewed(context)
}

function isForLabel({ config, label }: WatchContext, { topic, labelId }: WatchRecord): boolean {
  return topic === config.topic && labelId === label
}

/** A watch that was begun in the future shows that the clock was set back, so its end is unknown. */
function isDue(context: WatchContext, watch: WatchRecord, restedMs: number): boolean {
  const now = context.clock.now()
  return now < watch.begunAt || now >= renewsAt(context, watch) || restedMs >= intervalMs(context, watch)
}

function renewsAt(context: WatchContext, watch: WatchRecord): number {
  return watch.begunAt + intervalMs(context, watch)
}

/**
 * The watch is renewed at half of its time at the latest. Its end is by Google's clock; a span that makes no sense
 * counts as the documented one.
 */
function intervalMs({ config }: WatchContext, { begunAt, endsAt }: WatchRecord): number {
  const lasts = endsAt - begunAt
  const half = (lasts >= minuteMs ? Math.min(lasts, lifetimeMs) : lifetimeMs) / 2
  return Math.min(config.renewEveryMinutes * minuteMs, half)
}

/** Reports until when the watch lasts, and when it is renewed. */
export function reportTimes(context: WatchContext): void {
  const { watch } = context.cursor.get()
  if (!watch) return
  context.status.time('watchEnds', watch.endsAt)
  context.status.time('watchRenews', renewsAt(context, watch))
}

function logRenewed(context: WatchContext): void {
  const { watch } = context.cursor.get()
  if (!watch) return
  reportTimes(context)
  context.log.info('gmail-watch-renewed', {
    endsAt: timeOf(watch.endsAt).at,
    next: timeOf(renewsAt(context, watch)).at,
  })
}

/** Mails are read without a watch too, only later. While the watch lasts for days, a line in the log is enough. */
function reportFailure(
  context: WatchContext,
  problem: Problem,
  failures: number,
  wait: number,
  { code, message, retryable }: { code: string; message: string; retryable: boolean },
): void {
  const { clock, cursor, log, status } = context
  const { watch } = cursor.get()
  const left = watch && isForLabel(context, watch) ? watch.endsAt - clock.now() : 0
  status.time('watchRenews', clock.now() + wait)
  if (failures === 1) log.warn('gmail-watch-not-renewed', { code, endsAt: timeOf(watch?.endsAt).at })
  if (left >= alarmMs) return
  const end = left > 0 ? 'ends within a day' : 'is not in force'
  const detail = `The watch of the mailbox ${end}, and could not be renewed: ${message}`
  problem.set('failing', retryable ? detail : withSetup(detail))
}
