/** Owns what is done where the history is not to be had: the mailbox is listed, as far back as it was not read. */

import { dayMs } from '../durations.ts'
import { type Cursor, listingSlackMs } from './cursor.ts'
import { passOn } from './passing-on.ts'
import { retry } from './retrying.ts'
import type { Watched } from './watched.ts'

const longestBackMs = 30 * dayMs
/** Where our clock says that the mailbox was read in the future. */
const unsureBackMs = dayMs
const mostMails = 1000
/** What is beyond it is only counted, as far as this. */
const mostCounted = 10_000
const pageLength = 500

export async function listMailbox(watched: Watched, signal: AbortSignal): Promise<void> {
  const { clock, config, cursor, gmail, log } = watched
  // Before the listing: what comes meanwhile is after this, and read as history.
  const { historyId } = await retry(watched, signal, (inner) => gmail.profile(inner))
  const after = listedAfter(cursor.get(), clock.now())
  const { ids, cut } = await listIds(watched, after, signal)
  const posted = await passOn(watched, ids.reverse(), historyId, signal)
  cursor.change((before) => ({ ...before, historyId }))
  await retry(watched, signal, () => cursor.save())
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
  watched: Watched,
  after: number,
  signal: AbortSignal,
): Promise<{ readonly ids: string[]; readonly cut: number }> {
  const { gmail, label } = watched
  const ids = new Set<string>()
  let pageToken: string | undefined
  do {
    const request = { labelId: label, after, max: pageLength, ...(pageToken !== undefined && { pageToken }) }
    const page = await retry(watched, signal, (inner) => gmail.list(request, inner))
    for (const id of page.messageIds) ids.add(id)
    pageToken = page.nextPageToken
  } while (pageToken !== undefined && ids.size < mostCounted)
  const all = [...ids]
  return { ids: all.slice(0, mostMails), cut: Math.max(0, all.length - mostMails) }
}
