/** From a notification to a post that is on disk. */

import type { PluginLog, SourceCall } from '@reveille/kit'
import type { GmailConfiguration } from '../configuration.ts'
import type { Credentials } from '../google/credentials.ts'
import type { Google } from '../google/port.ts'
import { createHeeding } from './heeding.ts'
import { type CursorCell, openCursor } from './keeping.ts'
import { awaitLabel, isLabelChanged, whileLabelled } from './labelled.ts'
import { readMailbox } from './mailbox.ts'
import { pullNotifications } from './pulling.ts'
import { createReads, readWhenIdle } from './reading.ts'
import { type Receiving, receiveNotifications } from './receiving.ts'
import { beginWatching, keepWatching, tellTimes } from './renewal.ts'
import { needsConsent, retry, whatCanBeMended } from './retrying.ts'
import { retryRefused } from './second-tries.ts'
import { createStatus } from './status.ts'
import { type Lane, together } from './together.ts'
import { awaitCredentials, type RefusedConsent, refuseConsent } from './waiting.ts'
import type { Unlabelled } from './watched.ts'

export interface WatchOptions {
  readonly config: GmailConfiguration
  readonly log: PluginLog
  /** Opens Google with what a person consented to. */
  readonly open: (credentials: Credentials) => Promise<Google>
  /** From 0 to 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number
}

/** As the contract of sources says. */
export async function watchMailbox(options: WatchOptions, call: SourceCall): Promise<void> {
  const { config, log, random = Math.random } = options
  const { clock, storage, signal } = call
  const { account } = config
  const status = createStatus(call.report)
  const means = { clock, random, status }
  let cursor: CursorCell | undefined
  try {
    const receiving = config.mode === 'push' ? receiveNotifications(call) : undefined
    cursor = await retry(means, signal, () => openCursor({ storage, log, account, now: clock.now }))
    let refused: RefusedConsent | undefined
    for (;;) {
      const trouble = status.trouble()
      const credentials = await awaitCredentials({ storage, clock, account, trouble }, refused, signal)
      try {
        const open = () => options.open(credentials)
        const google = await retry(means, signal, open, { passes: whatCanBeMended })
        await watch({ ...means, ...google, config, log, call, cursor }, receiving)
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

/** Until the consent is refused. @throws the reason of the signal */
async function watch(unlabelled: Unlabelled, receiving: Receiving | undefined): Promise<void> {
  const { call, clock, config, cursor, log, status } = unlabelled
  const { account, mode } = config
  const { signal } = call
  const watched = { ...unlabelled, label: await awaitLabel(unlabelled, signal) }
  if (cursor.value === undefined) await beginWatching(watched, signal)
  const reads = createReads()
  const heeding = createHeeding({ account, cursor, reads, clock, log })
  const read = (inner: AbortSignal) => whileLabelled(watched, () => readMailbox(watched, inner), inner)
  const notified: Lane = (inner) =>
    receiving ? receiving.serve(heeding, inner) : pullNotifications(watched, heeding, inner)
  tellTimes(watched)
  status.begin(`New mail of ${account} is posted.`)
  log.info('gmail-watching', { account, mode, historyId: cursor.get().historyId })
  reads.request()
  await together(signal, [
    (inner) => reads.run((one) => retry(watched, one, read, { passes: whatCanBeMended }), inner),
    (inner) => readWhenIdle(reads, clock, inner),
    (inner) => keepWatching(watched, () => reads.request(), inner),
    (inner) => retryRefused(watched, inner),
    notified,
  ])
}
