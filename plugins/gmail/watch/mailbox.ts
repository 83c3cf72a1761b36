/** Owns one reading of a mailbox, from the cursor to the end of its history. */

import { isPluginError } from '@reveille/kit'
import type { HistoryPage } from '../google/port.ts'
import { laterOf, movedTo, unknownHistory } from './cursor.ts'
import { listMailbox } from './listing.ts'
import { passOn } from './passing-on.ts'
import { retry } from './retrying.ts'
import type { Watched } from './watched.ts'

/** Resolves when all that had come before is with the gateway, or refused, and the cursor on disk says so. */
export async function readMailbox(watched: Watched, signal: AbortSignal): Promise<void> {
  const { clock, cursor, status } = watched
  const beganAt = clock.now()
  if (cursor.get().historyId === unknownHistory) await listMailbox(watched, signal)
  else await readHistory(watched, signal)
  cursor.change((before) => ({ ...before, readAt: beganAt }))
  await retry(watched, signal, () => cursor.save())
  status.time('readAt', beganAt)
}

/** The history is not to be had from there: it is too old, or the id is one that Google never gave. */
function isUseless(error: unknown, pageToken: string | undefined): boolean {
  if (!isPluginError(error)) return false
  return error.code === 'history-expired' || (error.code === 'bad-request' && pageToken === undefined)
}

/** A failure in the middle begins anew at the cursor, and with it without a page token, which may be what failed. */
async function readHistory(watched: Watched, signal: AbortSignal): Promise<void> {
  const { cursor, gmail, label } = watched
  const since = cursor.get().historyId
  let end: string | undefined
  let pageToken: string | undefined
  do {
    const request = { since, labelId: label, ...(pageToken !== undefined && { pageToken }) }
    let page: HistoryPage
    try {
      page = await retry(watched, signal, (inner) => gmail.history(request, inner))
    } catch (error) {
      if (!isUseless(error, pageToken)) throw error
      return await listMailbox(watched, signal)
    }
    // Another mailbox has taken the place of the one that was read: what it tells is old by its numbers, and was never read.
    if (end === undefined && BigInt(page.historyId) < BigInt(since)) return await listMailbox(watched, signal)
    // Later pages may say where the mailbox stands by then, which is beyond what the first one promised to list.
    end ??= page.historyId
    await passOn(watched, page.messageIds, page.lastId ?? page.historyId, signal)
    pageToken = page.nextPageToken
    const reached = pageToken === undefined ? laterOf(end, page.lastId ?? end) : page.lastId
    if (reached !== undefined) cursor.change((before) => movedTo(before, reached))
    await retry(watched, signal, () => cursor.save())
  } while (pageToken !== undefined)
}
