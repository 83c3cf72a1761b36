/** Owns that a failure to send a message does not repeat it: services quote what they refuse, and reasons are logged. */

import type { Failure } from '../../agent/failure.ts'

/** As many characters of the message in a row are taken for a quotation of it; fewer are words that anybody uses. */
const shortestEcho = 24

/** The failure with an ellipsis for each stretch of `said` in its texts. */
export function withoutEcho(failure: Failure, said: string): Failure {
  const message = hideEcho(failure.message, said)
  return { ...failure, message, reason: failure.reason === failure.message ? message : failure.reason }
}

function hideEcho(text: string, said: string): string {
  let shown = ''
  let at = 0
  while (at < text.length) {
    const length = echoLength(text, at, said)
    shown += length > 0 ? '…' : (text[at] ?? '')
    at += Math.max(1, length)
  }
  return shown
}

/** How many characters from there on stand in the message too; 0 for fewer than count. */
function echoLength(text: string, at: number, said: string): number {
  if (at + shortestEcho > text.length || !said.includes(text.slice(at, at + shortestEcho))) return 0
  let length = shortestEcho
  while (at + length < text.length && said.includes(text.slice(at, at + length + 1))) length += 1
  return length
}
