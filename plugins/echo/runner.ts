/** Answers turns without a model, a state or a clock, so that the same turn gives the same reply. */

import { type Runner, type Turn, transientError } from '@reveille/kit'

export function createEchoRunner(): Runner {
  return {
    id: 'echo',
    async run(turn, { signal }) {
      if (signal.aborted) {
        throw transientError('aborted', 'The turn was called off.', { cause: signal.reason })
      }
      return { reply: replyTo(turn) }
    },
  }
}

/**
 * Returns the whole prompt for a run, one line per event for a heartbeat, whose prompt is the host's own words, and the first
 * line of each message for a compaction, which shows what was summarised.
 */
function replyTo({ kind, prompt, events, history }: Turn): string {
  if (kind === 'run') return prompt
  if (kind === 'heartbeat') return events.map((event) => joinLines(event.text)).join('\n')
  const lines = history.map(({ role, text }) => `${role}: ${firstLine(text)}`)
  return lines.length === 0 ? 'nothing' : lines.join('\n')
}

/** Maximum length of a first line, in characters, so that a summary is shorter than what it summarises. */
const maxLineLength = 200

function firstLine(text: string): string {
  const [line = ''] = text.trim().split(/[\n\v\f\r\u0085\u2028\u2029]/, 1)
  return Array.from(line).slice(0, maxLineLength).join('')
}

function joinLines(text: string): string {
  return text.trim().replaceAll(/\s*[\n\v\f\r\u0085\u2028\u2029]\s*/g, ' ')
}
