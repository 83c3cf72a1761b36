/** Fetches, posts and records mails by their ids, in batches that fit into memory. */

import { secondMs } from '../durations.ts'
import type { MailItem } from '../mail/index.ts'
import { mapConcurrently } from './concurrency.ts'
import type { WatchContext } from './context.ts'
import { withPosted } from './cursor.ts'
import { fetchMail } from './fetching.ts'
import { postMails } from './posting.ts'
import { countRefused, refuse } from './refused-mails.ts'
import { retry } from './retry.ts'

/** Maximum number of mails in memory at one time. */
const batchLength = 50
const maxFetches = 8
/**
 * Google may announce a mail before it gives it out, as with mails to oneself.
 * https://github.com/byeokim/gmailpush/issues/10
 */
const recheckAfterMs = 3 * secondMs

/**
 * Resolves when the gateway has taken each mail, or it is gone or refused, and the cursor on disk says so. Mails that
 * the cursor knows already are left out. Returns how many were taken.
 */
export async function postByIds(
  context: WatchContext,
  ids: readonly string[],
  historyId: string,
  signal: AbortSignal,
): Promise<number> {
  const { recent, refused } = context.cursor.get()
  const knownIds = new Set([...recent, ...refused.map(({ id }) => id)])
  const rest = [...new Set(ids)].filter((id) => !knownIds.has(id))
  let count = 0
  for (let from = 0; from < rest.length; from += batchLength)
    count += await postBatch(context, rest.slice(from, from + batchLength), historyId, signal)
  return count
}

async function postBatch(
  context: WatchContext,
  ids: readonly string[],
  historyId: string,
  signal: AbortSignal,
): Promise<number> {
  const { clock } = context
  const first = await fetchAndPost(context, ids, historyId, signal)
  if (first.missing.length === 0) return first.count
  await clock.sleep(recheckAfterMs, signal)
  const second = await fetchAndPost(context, first.missing, historyId, signal)
  return first.count + second.count
}

async function fetchAndPost(
  context: WatchContext,
  ids: readonly string[],
  historyId: string,
  signal: AbortSignal,
): Promise<{ readonly count: number; readonly missing: readonly string[] }> {
  const mails: MailItem[] = []
  const missing: string[] = []
  const fetched = await mapConcurrently(ids, maxFetches, signal, (id, inner) => fetchMail(context, id, inner))
  for (const [index, one] of fetched.entries()) {
    const id = ids[index] ?? ''
    if (one.kind === 'mail') mails.push(one.mail)
    else if (one.kind === 'refused') refuse(context, id, one.code)
    else if (one.kind === 'missing') missing.push(id)
  }
  return { count: await postAndRecord(context, mails, historyId, signal), missing }
}

/** Records each mail when it is taken, and saves the cursor after the last. Returns how many were taken. */
export async function postAndRecord(
  context: WatchContext,
  mails: readonly MailItem[],
  historyId: string,
  signal: AbortSignal,
): Promise<number> {
  const { call, clock, config, cursor, log, random, status } = context
  let count = 0
  const taken = (ids: readonly string[]) => {
    count += ids.length
    const { refused } = cursor.get()
    cursor.change((before) => withPosted(before, ids))
    if (refused.length > 0) countRefused(context)
    status.count('posted', status.counted('posted') + ids.length)
    status.time('lastMail', clock.now())
  }
  const refused = (id: string, code: string) => refuse(context, id, code)
  const envelope = { source: 'gmail', account: config.account, historyId } as const
  const posts = await postMails({ call, clock, random, status, taken, refused }, mails, envelope, signal)
  await retry(context, signal, () => cursor.save())
  if (count > 0) log.info('gmail-mails-posted', { count, posts, historyId })
  return count
}
