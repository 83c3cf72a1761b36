/** Owns what a turn sees of its session's past, and what it leaves there. */

import type { Message } from '@reveille/kit'
import type { Id, SessionMessage } from '../store/port.ts'

/** The newest messages up to this many UTF-16 units of text; a turn's own prompt is not among them. */
export const longestHistory = 262_144

/**
 * The store bounds the number of messages; this bounds their size, newest first, and starts with a question:
 * an answer whose question was cut away tells a model nothing, and some vendors refuse it.
 */
export function recentHistory(messages: readonly SessionMessage[], limit = longestHistory): Message[] {
  let room = limit
  let first = messages.length
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    room -= messages[index]?.text.length ?? 0
    if (room < 0) break
    if (messages[index]?.role === 'user') first = index
  }
  return messages.slice(first).map(({ role, text, at }) => ({
    role: role === 'assistant' ? role : 'user',
    text,
    at,
  }))
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
