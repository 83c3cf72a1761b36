/** Owns what the model is shown: the session's past and the prompt, in the order that every vendor takes. */

import type { Message, Turn } from '@reveille/kit'

export interface ShownMessage {
  readonly role: Message['role']
  readonly content: string
}

/** Stands before an answer whose question is not known any more. */
const unknownQuestion = '…'

/**
 * Anthropic refuses blank messages, Gemini and the chat templates of many local models refuse two of one role in a row
 * and a conversation that does not begin with the user. What no vendor refuses is sent to all of them.
 */
export function conversationOf(turn: Pick<Turn, 'history' | 'prompt'>): ShownMessage[] {
  const shown: ShownMessage[] = []
  for (const { role, text } of [...turn.history, { role: 'user', text: turn.prompt } as const]) {
    if (text.trim() === '') continue
    const last = shown.at(-1)
    if (last?.role === role) shown[shown.length - 1] = { role, content: `${last.content}\n\n${text}` }
    else shown.push({ role, content: text })
  }
  if (shown[0]?.role === 'assistant') shown.unshift({ role: 'user', content: unknownQuestion })
  return shown
}
