/** Writes the prompt of a program, preceded by everything that the program cannot learn otherwise. */

import type { Turn } from '@reveille/kit'

export function promptWith(
  prompt: string,
  { systemPrompt, history }: Pick<Turn, 'systemPrompt' | 'history'>,
): string {
  const parts = systemPrompt ? [systemPrompt] : []
  if (history.length > 0) {
    const said = history.map(({ role, text }) => `[${role}]\n${text}`)
    parts.push('The conversation so far, oldest first:', ...said, 'What is asked now:')
  }
  return [...parts, prompt].join('\n\n')
}

/** Returns the whole turn as one line, for `input: json`. */
export function lineOf(turn: Turn, session: string | undefined): string {
  const { runId, sessionKey, kind, prompt, events, history, model, thinking, systemPrompt, attempt } = turn
  const { timeoutSeconds } = turn
  const known = { runId, sessionKey, session, kind, prompt, events, history, model, thinking, systemPrompt }
  return `${JSON.stringify({ ...known, attempt, timeoutSeconds })}\n`
}
