/** Describes how far a mailbox was read, and how that changes. These functions are pure. */

import { asList, asNumber, asRecord, asString } from '@reveille/kit'
import { dayMs, hourMs, minuteMs } from '../durations.ts'

/** The cursor, stored as `cursor`. */
export interface Cursor {
  readonly account: string
  /** Every mail up to here is posted, or in `refused`. A decimal number. */
  readonly historyId: string
  /** When the mailbox was last read to its end, in milliseconds since the Unix epoch. */
  readonly readAt: number
  /** The mails that were posted last, the newest at the end. Google may announce some of them again. */
  readonly recent: readonly string[]
  /** Mails that the gateway did not take, to be tried again. */
  readonly refused: readonly RefusedMail[]
}

export interface RefusedMail {
  readonly id: string
  /** The code of the gateway's refusal. */
  readonly code: string
  readonly tries: number
  /** Milliseconds since the Unix epoch. */
  readonly since: number
  readonly nextTryAt: number
}

/** Takes the place of an unknown history id. The mailbox has to be listed. */
export const unknownHistory = '0'
export const maxRecent = 2000
export const maxRefused = 1000
/** A mailbox whose last reading is unknown is listed this far back. */
const unknownReadMs = dayMs
/** A listing begins this long before the last reading, because clocks differ and mails come in late. */
export const listingSlackMs = hourMs
const firstTryMs = minuteMs
const maxTryMs = hourMs

export function beginCursor(account: string, historyId: string, now: number): Cursor {
  return { account, historyId, readAt: now, recent: [], refused: [] }
}

/** Makes the cursor of a mailbox that was watched before, and of which nothing else is known. */
export function unknownCursor(account: string, now: number): Cursor {
  return beginCursor(account, unknownHistory, now - unknownReadMs + listingSlackMs)
}

/**
 * Reads a cursor as far as it can be understood; `historyId` is unknown if it cannot. Returns undefined for other
 * values.
 */
export function parseCursor(value: unknown, now: number): Cursor | undefined {
  const facts = asRecord(value)
  const account = asString(facts?.['account'])
  if (!facts || !account) return undefined
  const unknown = unknownCursor(account, now)
  return {
    account,
    historyId: isHistoryId(facts['historyId']) ? facts['historyId'] : unknownHistory,
    readAt: asNumber(facts['readAt']) ?? unknown.readAt,
    recent: asList(facts['recent'])
      .filter((id) => typeof id === 'string')
      .slice(-maxRecent),
    refused: asList(facts['refused'])
      .map((mail) => parseRefused(mail, now))
      .filter((mail) => mail !== undefined)
      .slice(-maxRefused),
  }
}

function parseRefused(value: unknown, now: number): RefusedMail | undefined {
  const facts = asRecord(value)
  const id = asString(facts?.['id'])
  if (!id) return undefined
  const number = (name: string, otherwise: number) => asNumber(facts?.[name]) ?? otherwise
  return {
    id,
    code: asString(facts?.['code']) ?? 'UNKNOWN',
    tries: number('tries', 1),
    since: number('since', now),
    nextTryAt: number('nextTryAt', now),
  }
}

function isHistoryId(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9]{1,20}$/.test(value)
}

export function laterOf(one: string, other: string): string {
  return BigInt(one) >= BigInt(other) ? one : other
}

/** Never moves back, because history that was read is not read again. */
export function movedTo(cursor: Cursor, historyId: string): Cursor {
  return { ...cursor, historyId: laterOf(cursor.historyId, historyId) }
}

export function withPosted(cursor: Cursor, ids: readonly string[]): Cursor {
  const posted = new Set(ids)
  const recent = [...cursor.recent.filter((id) => !posted.has(id)), ...posted].slice(-maxRecent)
  return { ...withoutRefused(cursor, posted), recent }
}

/** Puts a mail on the list, or counts one more try. On a full list the first mails make room. */
export function withRefused(cursor: Cursor, id: string, code: string, now: number): Cursor {
  const before = cursor.refused.find((mail) => mail.id === id)
  const tries = (before?.tries ?? 0) + 1
  const wait = Math.min(maxTryMs, firstTryMs * 2 ** (tries - 1))
  // If the clock was set back, the mail must not seem younger.
  const since = Math.min(before?.since ?? now, now)
  const mail = { id, code, tries, since, nextTryAt: now + wait }
  const others = cursor.refused.filter((other) => other.id !== id)
  return { ...cursor, refused: [...others, mail].slice(-maxRefused) }
}

export function withoutRefused(cursor: Cursor, ids: ReadonlySet<string>): Cursor {
  return { ...cursor, refused: cursor.refused.filter(({ id }) => !ids.has(id)) }
}

/** A mail is due too if the clock was set back, because no wait is longer than the longest. */
export function isDue({ nextTryAt }: RefusedMail, now: number): boolean {
  return nextTryAt <= now || nextTryAt > now + maxTryMs
}
