/** Writes the prompt of a program, preceded by everything that the program cannot learn otherwise. */

import type { Message, Turn } from '@reveille/kit'

const historyHeadline = 'The conversation so far, oldest first, one message on each line as JSON:'

/** A message is one line whatever it says, so that none can pose as another one, or as what is asked now. */
function historyLine({ role, text }: Message): string {
  return JSON.stringify({ role, text }).replace(/[\u0085\u2028\u2029]/g, escapeUnit)
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

export function promptWith(
  prompt: string,
  { systemPrompt, history }: Pick<Turn, 'systemPrompt' | 'history'>,
): string {
  const parts = systemPrompt ? [systemPrompt] : []
  if (history.length > 0) {
    parts.push(`${historyHeadline}\n${history.map(historyLine).join('\n')}`, 'What is asked now:')
  }
  return [...parts, prompt].join('\n\n')
}

/** Returns the whole turn as one line, for `input: json`. */
export function lineOf(turn: Turn, session: string | undefined): string {
  const { runId, sessionKey, kind, prompt, events, history, model, thinking, systemPrompt, attempt } = turn
  const { timeoutSeconds } = turn
  const values = { runId, sessionKey, session, kind, prompt, events, history, model, thinking, systemPrompt }
  return `${JSON.stringify({ ...values, attempt, timeoutSeconds })}\n`
}
