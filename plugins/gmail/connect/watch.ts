/** Owns that Gmail watches the mailbox for us, and from where in its history mails count. */

import { type ConnectCall, timeOf } from '@reveille/kit'
import { isSameMailbox } from '../account.ts'
import { dayMs } from '../durations.ts'
import type { Gmail, Watch, WatchRequest } from '../google/port.ts'
import { beginCursor, type Cursor, parseCursor, unknownCursor } from '../watch/cursor.ts'
import { type Advice, ask, secondsOf, waitWith } from './asking.ts'
import { hasCode } from './failure.ts'

export interface WatchPlan extends WatchRequest {
  readonly account: string
  /** Whether something was made, granted or consented to just now: then a watch of before says nothing. */
  readonly isFresh: boolean
}

/** A watch lasts seven days; one of today needs no other. */
const enoughMs = 6 * dayMs
/** Mostly within seconds, at times minutes. https://cloud.google.com/iam/docs/access-change-propagation */
const waitsSeconds = [2, 4, 8, 16]

export async function ensureWatch(call: ConnectCall, gmail: Gmail, plan: WatchPlan): Promise<void> {
  const { account, topic, labelId, isFresh } = plan
  const now = call.clock.now()
  const running = (await cursorOf(call, account))?.watch
  const isRunning = running?.topic === topic && running.labelId === labelId && running.begunAt <= now
  if (!isFresh && isRunning && running.endsAt - now > enoughMs) {
    call.report({
      step: 'watch',
      outcome: 'unchanged',
      detail: `Gmail watches until ${wordsOf(running.endsAt)}.`,
    })
    return
  }

  const { historyId, endsAt } = await begin(call, gmail, plan)
  // Mails since the cursor are yet to be posted: only who has none begins here.
  const cursor = (await cursorOf(call, account)) ?? beginCursor(account, historyId, now)
  await call.storage.write('cursor', { ...cursor, watch: { topic, labelId, begunAt: now, endsAt } })
  call.report({
    step: 'watch',
    outcome: 'done',
    detail: `Gmail watches until ${wordsOf(endsAt)}; the gateway begins it anew long before.`,
  })
}

/** A role that was granted just now takes a moment to hold. */
async function begin(
  call: ConnectCall,
  gmail: Gmail,
  { topic, labelId, isFresh }: WatchPlan,
): Promise<Watch> {
  const watch = async () => {
    try {
      return await gmail.watch({ topic, labelId }, call.signal)
    } catch (error) {
      if (!hasCode(error, 'watched-elsewhere')) throw error
      // Whoever sets up a topic wants its mails there.
      await gmail.stop(call.signal)
      return gmail.watch({ topic, labelId }, call.signal)
    }
  }
  const begins = (advice?: Advice) => ask(call, watch, advice)
  for (const seconds of isFresh ? waitsSeconds : []) {
    try {
      return await begins()
    } catch (error) {
      if (!hasCode(error, 'forbidden')) throw error
    }
    await waitWith(
      call,
      `The role does not hold yet. Gmail is asked again in ${secondsOf(seconds)}.`,
      seconds,
    )
  }
  const place = `The topic ${topic} has to be in the project of the OAuth client: --project or --client-file.`
  return begins({
    forbidden: 'Roles may take minutes to hold: run the setup again in a while.',
    'not-found': place,
    'bad-request': place,
  })
}

/** That of another mailbox counts for nothing. Of a damaged one nobody knows how far it came: the mailbox is listed then. */
async function cursorOf({ storage, clock }: ConnectCall, account: string): Promise<Cursor | undefined> {
  const unknown = unknownCursor(account, clock.now())
  try {
    const found = await storage.read('cursor')
    if (found === undefined) return undefined
    const cursor = parseCursor(found, clock.now()) ?? unknown
    // As it may be written in the configuration, and as Google writes it.
    return isSameMailbox(cursor.account, account) ? { ...cursor, account } : undefined
  } catch (error) {
    if (hasCode(error, 'kept-damaged')) return unknown
    throw error
  }
}

function wordsOf(ms: number): string {
  const { at = 'a time that is none' } = timeOf(ms)
  return at.replace(/T(\d\d:\d\d).*/, ' $1 UTC')
}
