/** Reads a mailbox again and again: its history from the cursor to the end, or a listing if there is no such history. */

import { isPluginError } from '@reveille/kit'
import { dayMs, secondMs } from '../durations.ts'
import type { HistoryPage } from '../google/port.ts'
import { postByIds } from './batches.ts'
import type { WatchContext } from './context.ts'
import { type Cursor, laterOf, listingSlackMs, movedTo, unknownHistory } from './cursor.ts'
import { whileLabelled } from './label.ts'
import { isRecoverable, retry } from './retry.ts'

/** Reads the mailbox at once and then at the configured interval. @throws the reason of the signal */
export async function pollMailbox(context: WatchContext, signal: AbortSignal): Promise<never> {
  const { clock, config } = context
  const read = (inner: AbortSignal) => whileLabelled(context, () => readMailbox(context, inner), inner)
  for (;;) {
    await retry(context, signal, read, isRecoverable)
    await clock.sleep(config.pollSeconds * secondMs, signal)
  }
}

/**
 * Resolves when all mails that had come before are taken or refused, and the cursor on disk says so. Nothing is written
 * while nothing happens in the mailbox.
 */
async function readMailbox(context: WatchContext, signal: AbortSignal): Promise<void> {
  const { clock, cursor, status } = context
  const beganAt = clock.now()
  const { historyId } = cursor.get()
  if (historyId === unknownHistory) await listMailbox(context, signal)
  else await readHistory(context, signal)
  cursor.change((before) => ({ ...before, readAt: beganAt }))
  if (cursor.get().historyId !== historyId) await retry(context, signal, () => cursor.save())
  status.time('readAt', beganAt)
}

/** Returns whether no history can be had from there: it is too old, or Google never gave that id. */
function isUseless(error: unknown, pageToken: string | undefined): boolean {
  if (!isPluginError(error)) return false
  return error.code === 'history-expired' || (error.code === 'bad-request' && pageToken === undefined)
}

/** A failure in the middle begins again at the cursor, without a page token, because the token may have failed. */
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
    // Another mailbox has taken the place of the one that was read: its mails have low numbers, and were never read.
    if (end === undefined && BigInt(page.historyId) < BigInt(since)) return await listMailbox(context, signal)
    // Later pages may name an end beyond what the first page promised to list.
    end ??= page.historyId
    await postByIds(context, page.messageIds, page.lastId ?? page.historyId, signal)
    pageToken = page.nextPageToken
    const reached = pageToken === undefined ? laterOf(end, page.lastId ?? end) : page.lastId
    if (reached !== undefined) cursor.change((before) => movedTo(before, reached))
    if (pageToken !== undefined) await retry(context, signal, () => cursor.save())
  } while (pageToken !== undefined)
}

const maxBackMs = 30 * dayMs
/** This far back, if the mailbox was read in the future by our clock. */
const unsureBackMs = dayMs
const maxMails = 1000
/** Mails beyond the most are counted up to this number, and not read. */
const maxCounted = 10_000
const pageLength = 500

async function listMailbox(context: WatchContext, signal: AbortSignal): Promise<void> {
  const { clock, config, cursor, gmail, log } = context
  // This comes before the listing, so that mails that come meanwhile are read as history.
  const { historyId } = await retry(context, signal, (inner) => gmail.profile(inner))
  const before = cursor.get()
  const after = listedAfter(before, clock.now())
  const { ids, cut } = await listIds(context, after, signal)
  const posted = await postByIds(context, ids.reverse(), historyId, signal)
  cursor.change((now) => ({ ...now, historyId }))
  // Google may keep no history of a mailbox in which nothing happens.
  if (posted === 0 && historyId === before.historyId) return
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

/** Returns milliseconds since the Unix epoch. */
export function listedAfter({ readAt }: Cursor, now: number): number {
  if (readAt > now) return now - unsureBackMs
  return Math.max(readAt - listingSlackMs, now - maxBackMs)
}

/** Lists the newest first. `cut` is the number of older mails that were left out. */
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
  } while (pageToken !== undefined && ids.size < maxCounted)
  const all = [...ids]
  return { ids: all.slice(0, maxMails), cut: Math.max(0, all.length - maxMails) }
}
