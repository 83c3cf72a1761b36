/** Has Gmail watch the mailbox, and stores from where in its history mails count. */

import { type ConnectCall, type PluginLog, timeOf } from '@reveille/kit'
import { dayMs } from '../durations.ts'
import type { Gmail, Watch, WatchRequest } from '../google/port.ts'
import { beginCursor } from '../watch/cursor.ts'
import { type CursorCell, openCursor } from '../watch/cursor-cell.ts'
import { type Advice, ask, secondsOf, waitWith } from './asking.ts'
import { hasCode } from './failure.ts'

export interface WatchPlan extends WatchRequest {
  readonly account: string
  /** True if setup has just created, granted or obtained something: then an earlier watch proves nothing. */
  readonly isFresh: boolean
}

/** A watch lasts seven days; one that was begun today need not be renewed. */
const enoughMs = 6 * dayMs
/** Mostly within seconds, at times minutes. https://cloud.google.com/iam/docs/access-change-propagation */
const waitsSeconds = [2, 4, 8, 16]

/** Returns when the watch ends, in milliseconds since the Unix epoch. */
export async function ensureWatch(call: ConnectCall, gmail: Gmail, plan: WatchPlan): Promise<number> {
  const { account, topic, labelId, isFresh } = plan
  const now = call.clock.now()
  const running = (await cursorOf(call, account)).value?.watch
  const isRunning = running?.topic === topic && running.labelId === labelId && running.begunAt <= now
  if (!isFresh && isRunning && running.endsAt - now > enoughMs) {
    call.report({
      step: 'watch',
      outcome: 'unchanged',
      detail: `Gmail watches until ${describeTime(running.endsAt)}.`,
    })
    return running.endsAt
  }

  const { historyId, endsAt } = await begin(call, gmail, plan)
  // Mails after the stored cursor are yet to be posted, so only a mailbox without a cursor begins here.
  const cursor = await cursorOf(call, account)
  if (cursor.value === undefined) cursor.begin(beginCursor(account, historyId, now))
  // The account may be written otherwise in the configuration than by Google.
  cursor.change((before) => ({ ...before, account, watch: { topic, labelId, begunAt: now, endsAt } }))
  await cursor.save()
  call.report({
    step: 'watch',
    outcome: 'done',
    detail: `Gmail watches until ${describeTime(endsAt)}; the gateway renews it long before.`,
  })
  return endsAt
}

/** Begins the watch. A role that was just granted takes a moment to hold. */
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
      // The person who sets up this topic wants the mails there.
      await gmail.stop(call.signal)
      return gmail.watch({ topic, labelId }, call.signal)
    }
  }
  const tryWatch = (advice?: Advice) => ask(call, watch, advice)
  for (const seconds of isFresh ? waitsSeconds : []) {
    try {
      return await tryWatch()
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
  return tryWatch({
    forbidden: 'Roles may take minutes to hold: run the setup again in a while.',
    'not-found': place,
    'bad-request': place,
  })
}

/**
 * Opens the stored cursor. A cursor of another mailbox does not count. How far a damaged one came is unknown, so the
 * mailbox will be listed.
 */
function cursorOf({ storage, clock }: ConnectCall, account: string): Promise<CursorCell> {
  return openCursor({ storage, account, now: clock.now, log: silent })
}

const silent: PluginLog = { info() {}, warn() {}, error() {} }

function describeTime(ms: number): string {
  const { at = 'a time that is none' } = timeOf(ms)
  return at.replace(/T(\d\d:\d\d).*/, ' $1 UTC')
}
