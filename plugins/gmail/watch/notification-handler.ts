/** Handles notifications. Each asks for nothing, or for a reading that reaches as far as it says. */

import { isSameMailbox } from '../account.ts'
import { secondMs } from '../durations.ts'
import type { Notification } from '../google/port.ts'
import type { WatchContext } from './context.ts'
import { isHistoryId, isRead } from './cursor.ts'
import type { Reads } from './reads.ts'

/** The content of a notification. Undefined if it is not one of Gmail's. */
export type About = Notification['about']

export type NotificationHandler = ReturnType<typeof createNotificationHandler>

/** Google may notify before its history shows the mail. The next reading finds a mail that is still missing. */
const againAfterMs = [2 * secondMs, 10 * secondMs]

export function createNotificationHandler(
  { config, cursor, clock, log }: Pick<WatchContext, 'config' | 'cursor' | 'clock' | 'log'>,
  reads: Reads,
) {
  const warned = new Set<string>()

  function warnOnce(reason: string): void {
    if (warned.has(reason)) return
    warned.add(reason)
    log.warn('gmail-notification-ignored', { reason })
  }

  /** Returns whether the notification needs no reading. */
  function isOld(about: About): boolean {
    if (about === undefined) warnOnce('it is none of Gmail')
    else if (!isSameMailbox(about.emailAddress, config.account)) warnOnce('it is for another account')
    else return isHistoryId(about.historyId) && isRead(cursor.get(), about.historyId)
    return true
  }

  return {
    /** Resolves when the notifications can be acknowledged. @throws PluginError, retryable; the reason of the signal */
    async handle(abouts: readonly About[], signal: AbortSignal) {
      const isBehind = () => abouts.some((about) => !isOld(about))
      if (!isBehind()) return
      await reads.request()
      for (const waitMs of againAfterMs) {
        if (!isBehind()) return
        await clock.sleep(waitMs, signal)
        await reads.request()
      }
    },
  }
}
