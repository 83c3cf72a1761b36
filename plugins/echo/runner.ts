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

/** A run gets its prompt back, whole; a heartbeat one line per event, since its prompt is the host's own words. */
function replyTo(turn: Turn): string {
  if (turn.kind === 'run') return turn.prompt
  return turn.events.map((event) => oneLine(event.text)).join('\n')
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*[\n\v\f\r\u0085\u2028\u2029]\s*/g, ' ')
}
