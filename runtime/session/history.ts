/** Makes the messages that a turn adds to its session, and those that a later turn is shown. */

import type { Message } from '@reveille/kit'
import type { Id, SessionMessage } from '../store/port.ts'
import type { PastTurn } from './window.ts'

/** The untrusted-content boundary around a whole text. */
export type Fence = (text: string, options: { label: string; randomId: () => string }) => string

/**
 * Returns the messages of earlier turns, oldest first. Vendors refuse a message without text, so a blank one is left out, and
 * the questions around it become one. A summary is a message of its own.
 */
export function shownMessages(turns: readonly PastTurn[], fence: Fence): Message[] {
  const shown: Message[] = []
  let mayGrow = false
  for (const message of turns.flatMap((turn) => turn.messages)) {
    const { role, text, at } = message
    if (text.trim() === '') continue
    const last = shown.at(-1)
    if (role === 'summary') {
      shown.push({ role: 'user', text: fencedSummary(message, fence), at })
    } else if (mayGrow && last?.role === role) {
      shown[shown.length - 1] = { role, text: `${last.text}\n\n${text}`, at }
    } else {
      shown.push({ role, text, at })
    }
    mayGrow = role !== 'summary'
  }
  return shown
}

/**
 * Puts a summary behind the boundary, because the model that wrote it had read untrusted text. The mark comes from the
 * summary's own id, which no sender saw before it was written. A new mark for each turn would cost the vendor's cache of
 * everything after it.
 */
function fencedSummary({ text, turn }: SessionMessage, fence: Fence): string {
  const mark = turn.slice(-12)
  return fence(text, { label: 'a summary of the earlier conversation', randomId: () => mark })
}

/** Returns the messages that a successful turn adds to its session. */
export function exchange(turn: {
  id: Id
  prompt: string
  askedAt: number
  reply: string
  answeredAt: number
}): SessionMessage[] {
  return [
    { role: 'user', text: turn.prompt, at: turn.askedAt, turn: turn.id },
    { role: 'assistant', text: turn.reply, at: turn.answeredAt, turn: turn.id },
  ]
}
