/** Owns what a turn leaves in its session, and how a runner is shown what earlier ones left there. */

import type { Message } from '@reveille/kit'
import type { Id, SessionMessage } from '../store/port.ts'
import type { PastTurn } from './window.ts'

/** The untrusted-content boundary around a whole text. */
export type Fence = (text: string, options: { label: string; randomId: () => string }) => string

/**
 * Oldest first. Question and answer alternate as well as they can: vendors refuse a message without text, so a blank
 * one is left out, and of the questions that it stood between one is made. A summary is a message of its own.
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
 * Its writer had read what strangers wrote, so it stands behind the boundary. The mark comes from the summary's own
 * id, which no stranger saw before it was written: a new one for each turn would cost the vendor's cache of
 * everything after it.
 */
function fencedSummary({ text, turn }: SessionMessage, fence: Fence): string {
  const mark = turn.slice(-12)
  return fence(text, { label: 'a summary of the earlier conversation', randomId: () => mark })
}

/** What a turn that succeeded adds to its session. */
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
