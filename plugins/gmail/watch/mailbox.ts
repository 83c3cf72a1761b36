/** Owns one reading of a mailbox, from the cursor to the end of its history. */

import { isPluginError } from '@reveille/kit'
import { dayMs } from '../durations.ts'
import type { HistoryPage } from '../google/port.ts'
import { postByIds } from './batches.ts'
import type { WatchContext } from './context.ts'
import { type Cursor, laterOf, listingSlackMs, movedTo, unknownHistory } from './cursor.ts'
import { retry } from './retry.ts'

/** Resolves when all that had come before is with the gateway, or refused, and the cursor on disk says so. */
export async function readMailbox(context: WatchContext, signal: AbortSignal): Promise<void> {
  const { clock, cursor, status } = context
  const beganAt = clock.now()
  if (cursor.get().historyId === unknownHistory) await listMailbox(context, signal)
  else await readHistory(context, signal)
  cursor.change((before) => ({ ...before, readAt: beganAt }))
  await retry(context, signal, () => cursor.save())
  status.time('readAt', beganAt)
}

/** The history is not to be had from there: it is too old, or the id is one that Google never gave. */
function isUseless(error: unknown, pageToken: string | undefined): boolean {
  if (!isPluginError(error)) return false
  return error.code === 'history-expired' || (error.code === 'bad-request' && pageToken === undefined)
}

/** A failure in the middle begins anew at the cursor, and with it without a page token, which may be what failed. */
async function readHistory(context: WatchContext, signal: AbortSignal): Promise<void> {
  const { cursor, gmail, label } = context
  const since = cursor.get().historyId
  let end: string | undefined
  let pageToken: string | undefined
  do {
    const request = { since, labelId: label, ...(pageToken !== undefined && { pageToken }) }
    let page: HistoryPage
    try {
      page = await retry(context, signal, (inner) => gmail.history(request, inner))
    } catch (error) {
      if (!isUseless(error, pageToken)) throw error
      return await listMailbox(context, signal)
    }
    // Another mailbox has taken the place of the one that was read: what it tells is old by its numbers, and was never read.
    if (end === undefined && BigInt(page.historyId) < BigInt(since)) return await listMailbox(context, signal)
    // Later pages may say where the mailbox stands by then, which is beyond what the first one promised to list.
    end ??= page.historyId
    await postByIds(context, page.messageIds, page.lastId ?? page.historyId, signal)
    pageToken = page.nextPageToken
    const reached = pageToken === undefined ? laterOf(end, page.lastId ?? end) : page.lastId
    if (reached !== undefined) cursor.change((before) => movedTo(before, reached))
    await retry(context, signal, () => cursor.save())
  } while (pageToken !== undefined)
}

const longestBackMs = 30 * dayMs
/** Where our clock says that the mailbox was read in the future. */
const unsureBackMs = dayMs
const mostMails = 1000
/** What is beyond it is only counted, as far as this. */
const mostCounted = 10_000
const pageLength = 500

async function listMailbox(context: WatchContext, signal: AbortSignal): Promise<void> {
  const { clock, config, cursor, gmail, log } = context
  // Before the listing: what comes meanwhile is after this, and read as history.
  const { historyId } = await retry(context, signal, (inner) => gmail.profile(inner))
  const after = listedAfter(cursor.get(), clock.now())
  const { ids, cut } = await listIds(context, after, signal)
  const posted = await postByIds(context, ids.reverse(), historyId, signal)
  cursor.change((before) => ({ ...before, historyId }))
  await retry(context, signal, () => cursor.save())
  const facts = {
    account: config.account,
    listed: ids.length,
    posted,
    after: new Date(after).toISOString(),
    cut,
  }
  if (cut > 0) log.error('gmail-history-expired', facts)
  else log.warn('gmail-history-expired', facts)
}

/** Milliseconds since the Unix epoch. */
export function listedAfter({ readAt }: Cursor, now: number): number {
  if (readAt > now) return now - unsureBackMs
  return Math.max(readAt - listingSlackMs, now - longestBackMs)
}

/** The newest first. `cut`: how many older ones were left out. */
async function listIds(
  context: WatchContext,
  after: number,
  signal: AbortSignal,
): Promise<{ readonly ids: string[]; readonly cut: number }> {
  const { gmail, label } = context
  const ids = new Set<string>()
  let pageToken: string | undefined
  do {
    const request = { labelId: label, after, max: pageLength, ...(pageToken !== undefined && { pageToken }) }
    const page = await retry(context, signal, (inner) => gmail.list(request, inner))
    for (const id of page.messageIds) ids.add(id)
    pageToken = page.nextPageToken
  } while (pageToken !== undefined && ids.size < mostCounted)
  const all = [...ids]
  return { ids: all.slice(0, mostMails), cut: Math.max(0, all.length - mostMails) }
}
