/** Owns that Gmail watches the mailbox for us, and from where in its history mails count. */

import { type ConnectCall, isPluginError } from '@reveille/kit'
import type { Gmail, Watch, WatchRequest } from '../google/port.ts'
import type { Cursor } from '../watch/cursor.ts'
import { advised } from './failure.ts'

export interface WatchPlan extends WatchRequest {
  readonly account: string
  /** Whether something was made, granted or consented to just now: then a watch of before says nothing. */
  readonly isFresh: boolean
}

const dayMs = 24 * 60 * 60_000
/** A watch lasts seven days; one of today needs no other. */
const enoughMs = 6 * dayMs
/** "In general, policy changes take effect within 2 minutes"; most within seconds. https://cloud.google.com/iam/docs/access-change-propagation */
const waitsSeconds = [2, 4, 8, 16]

export async function ensureWatch(call: ConnectCall, gmail: Gmail, plan: WatchPlan): Promise<void> {
  const { account, topic, labelId, isFresh } = plan
  const before = await cursorOf(call, account)
  const { watch: running } = before ?? {}
  const isRunning = running?.topic === topic && running.labelId === labelId
  if (!isFresh && isRunning && running.endsAt - call.clock.now() > enoughMs) {
    call.told({
      step: 'watch',
      outcome: 'unchanged',
      detail: `Gmail watches until ${dateOf(running.endsAt)}.`,
    })
    return
  }

  const begunAt = call.clock.now()
  const { historyId, endsAt } = await begin(call, gmail, plan)
  // Mails since the cursor are yet to be posted: only who has none begins here.
  const cursor: Cursor = (await cursorOf(call, account)) ?? {
    account,
    historyId,
    readAt: begunAt,
    recent: [],
    refused: [],
  }
  await call.kept.write('cursor', { ...cursor, watch: { topic, labelId, begunAt, endsAt } })
  call.told({
    step: 'watch',
    outcome: 'done',
    detail: `Gmail watches until ${dateOf(endsAt)}; the gateway renews it long before.`,
  })
}

/** A role that was granted just now takes a moment to hold. */
async function begin(
  call: ConnectCall,
  gmail: Gmail,
  { topic, labelId, isFresh }: WatchPlan,
): Promise<Watch> {
  for (const seconds of isFresh ? waitsSeconds : []) {
    try {
      return await gmail.watch({ topic, labelId }, call.signal)
    } catch (error) {
      if (!isPluginError(error) || error.code !== 'forbidden') throw error
    }
    const detail = `The role does not hold yet; Gmail is asked again in ${seconds} seconds.`
    call.told({ step: 'wait', outcome: 'unchanged', detail })
    await call.clock.sleep(seconds * 1000, call.signal)
  }
  return advised(() => gmail.watch({ topic, labelId }, call.signal), {
    forbidden: 'Roles may take minutes to hold: run the setup again in a while.',
    'not-found': `Gmail finds no topic ${topic}: it has to be in the project of the OAuth client.`,
  })
}

/** That of another mailbox counts for nothing. */
async function cursorOf({ kept }: ConnectCall, account: string): Promise<Cursor | undefined> {
  const cursor = (await kept.read('cursor')) as Cursor | undefined
  return cursor?.account === account && typeof cursor.historyId === 'string' ? cursor : undefined
}

function dateOf(ms: number): string {
  const time = new Date(ms)
  return Number.isNaN(time.getTime())
    ? 'some time'
    : time.toISOString().slice(0, 16).replace('T', ' ').concat(' UTC')
}
