/** Watches a mailbox, from a change of its history to a post that is on disk. */

import type { PluginLog, SourceCall } from '@reveille/kit'
import type { GmailConfiguration } from '../configuration.ts'
import type { Credentials } from '../google/credentials.ts'
import type { Gmail } from '../google/port.ts'
import { runTogether } from './concurrency.ts'
import { awaitCredentials, type RefusedConsent, refuseConsent } from './consent.ts'
import type { UnlabelledContext } from './context.ts'
import { beginCursor } from './cursor.ts'
import { type CursorCell, openCursor } from './cursor-cell.ts'
import { awaitLabel, isLabelChanged } from './label.ts'
import { pollMailbox } from './mailbox.ts'
import { retryRefused } from './refused-retries.ts'
import { isRecoverable, needsConsent, retry } from './retry.ts'
import { createStatus } from './status.ts'

export interface WatchOptions {
  readonly config: GmailConfiguration
  readonly log: PluginLog
  /** Opens Gmail with the credentials of a consent. */
  readonly open: (credentials: Credentials) => Promise<Gmail>
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
    cursor = await retry(retryContext, signal, () => openCursor({ storage, log, account, now: clock.now }))
    let refused: RefusedConsent | undefined
    for (;;) {
      const problem = status.problem()
      const credentials = await awaitCredentials({ storage, clock, account, problem }, refused, signal)
      try {
        const gmail = await retry(retryContext, signal, () => options.open(credentials), isRecoverable)
        await watch({ ...retryContext, gmail, config, log, call, cursor })
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
async function watch(unlabelled: UnlabelledContext): Promise<void> {
  const { call, config, cursor, log, status } = unlabelled
  const { account } = config
  const { signal } = call
  const context = { ...unlabelled, label: await awaitLabel(unlabelled, signal) }
  if (cursor.value === undefined) await beginAtEnd(context, signal)
  status.begin(`New mail of ${account} is posted.`)
  log.info('gmail-watching', { account, historyId: cursor.get().historyId })
  await runTogether(signal, [(inner) => pollMailbox(context, inner), (inner) => retryRefused(context, inner)])
}

/** Begins at the end of the history. Mails that are in the mailbox already do not count. */
async function beginAtEnd(context: UnlabelledContext, signal: AbortSignal): Promise<void> {
  const { clock, config, cursor, gmail } = context
  const { historyId } = await retry(context, signal, (inner) => gmail.profile(inner), isRecoverable)
  cursor.begin(beginCursor(config.account, historyId, clock.now()))
  await retry(context, signal, () => cursor.save())
}
