/** Watches a mailbox, from a notification to a post that is on disk. */

import type { PluginLog, SourceCall } from '@reveille/kit'
import type { GmailConfiguration } from '../configuration.ts'
import type { Credentials } from '../google/credentials.ts'
import type { Google } from '../google/port.ts'
import { runTogether, type Task } from './concurrency.ts'
import { awaitCredentials, type RefusedConsent, refuseConsent } from './consent.ts'
import type { UnlabelledContext } from './context.ts'
import { type CursorCell, openCursor } from './cursor-cell.ts'
import { awaitLabel, isLabelChanged, whileLabelled } from './label.ts'
import { readMailbox } from './mailbox.ts'
import { createNotificationHandler } from './notification-handler.ts'
import { pullNotifications } from './pull.ts'
import { createPushHandler, type PushHandler } from './push-handler.ts'
import { createReads, readWhenIdle } from './reads.ts'
import { retryRefused } from './refused-retries.ts'
import { beginWatching, keepWatching, reportTimes } from './renewal.ts'
import { isRecoverable, needsConsent, retry } from './retry.ts'
import { createStatus } from './status.ts'

export interface WatchOptions {
  readonly config: GmailConfiguration
  readonly log: PluginLog
  /** Opens Google with the credentials of a consent. */
  readonly open: (credentials: Credentials) => Promise<Google>
  /** Returns a number from 0 to 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number
}

/** Watches the mailbox as the contract of sources asks. */
export async function watchMailbox(options: WatchOptions, call: SourceCall): Promise<void> {
  const { config, log, random = Math.random } = options
  const { clock, storage, signal } = call
  const { account } = config
  const status = createStatus(call.report)
  const retryContext = { clock, random, status }
  let cursor: CursorCell | undefined
  try {
    const pushHandler = config.mode === 'push' ? createPushHandler(call) : undefined
    cursor = await retry(retryContext, signal, () => openCursor({ storage, log, account, now: clock.now }))
    let refused: RefusedConsent | undefined
    for (;;) {
      const problem = status.problem()
      const credentials = await awaitCredentials({ storage, clock, account, problem }, refused, signal)
      try {
        const open = () => options.open(credentials)
        const google = await retry(retryContext, signal, open, { shouldRetry: isRecoverable })
        await watch({ ...retryContext, ...google, config, log, call, cursor }, pushHandler)
      } catch (error) {
        if (isLabelChanged(error)) continue
        if (!needsConsent(error)) throw error
        refused = await refuseConsent(storage, credentials, error)
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await cursor?.settled()
  }
}

/** Watches until the consent is refused or the label has changed. @throws the reason of the signal */
async function watch(unlabelled: UnlabelledContext, pushHandler: PushHandler | undefined): Promise<void> {
  const { call, clock, config, cursor, log, status } = unlabelled
  const { account, mode } = config
  const { signal } = call
  const context = { ...unlabelled, label: await awaitLabel(unlabelled, signal) }
  if (cursor.value === undefined) await beginWatching(context, signal)
  const reads = createReads()
  const handler = createNotificationHandler(context, reads)
  const read = (inner: AbortSignal) => whileLabelled(context, () => readMailbox(context, inner), inner)
  const notified: Task = (inner) =>
    pushHandler ? pushHandler.serve(handler, inner) : pullNotifications(context, handler, inner)
  reportTimes(context)
  status.begin(`New mail of ${account} is posted.`)
  log.info('gmail-watching', { account, mode, historyId: cursor.get().historyId })
  reads.request()
  await runTogether(signal, [
    (inner) => reads.run((one) => retry(context, one, read, { shouldRetry: isRecoverable }), inner),
    (inner) => readWhenIdle(reads, clock, inner),
    (inner) => keepWatching(context, () => reads.request(), inner),
    (inner) => retryRefused(context, inner),
    notified,
  ])
}
