/** Owns what echo answers. No model, no state, no clock: the same turn gives the same reply. */

import { PluginError, type Runner, type Turn } from '@reveille/kit'

export function createEchoRunner(): Runner {
  return {
    id: 'echo',
    async run(turn, { signal }) {
      if (signal.aborted) {
        throw new PluginError('The turn was called off.', {
          code: 'aborted',
          retryable: true,
          cause: signal.reason,
        })
      }
      return { reply: replyTo(turn) }
    },
  }
}

/**
 * A run gets its prompt back, whole; a heartbeat one line per event, since its prompt is the host's own words; a
 * compaction the first line of each message, so that it can be seen what was summed up.
 */
function replyTo({ kind, prompt, events, history }: Turn): string {
  if (kind === 'run') return prompt
  if (kind === 'heartbeat') return events.map((event) => oneLine(event.text)).join('\n')
  const lines = history.map(({ role, text }) => `${role}: ${firstLine(text)}`)
  return lines.length === 0 ? 'nothing' : lines.join('\n')
}

/** Of a first line, in characters: a summary is to be shorter than what it stands for. */
const longestLine = 200

function firstLine(text: string): string {
  const [line = ''] = text.trim().split(/[\n\v\f\r\u0085\u2028\u2029]/, 1)
  return Array.from(line).slice(0, longestLine).join('')
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*[\n\v\f\r\u0085\u2028\u2029]\s*/g, ' ')
}
