/** Writes the prompt of a heartbeat: the pending events that it shows, how many wait, and the operator's instruction. */

import type { EventRecord } from '../store/port.ts'

/** Maximum size of a prompt in bytes of UTF-8, unless its first event alone is longer. */
export const maxPromptBytes = 32_768

/**
 * Takes the events in the given order and stops at the first that does not fit. So no long event is overtaken: it is the
 * first of a later heartbeat.
 */
export function heartbeatPrompt(options: {
  readonly events: readonly EventRecord[]
  /** The number of all pending events, including `events`. */
  readonly pending: number
  readonly instruction: string
  readonly limit?: number
}) {
  const { events, pending, instruction } = options
  let room = (options.limit ?? maxPromptBytes) - maxHeadlineBytes - Buffer.byteLength(`\n\n${instruction}`)
  const entries: string[] = []
  for (const [index, event] of events.entries()) {
    const entry = `\n\n${index + 1}. ${new Date(event.createdAt).toISOString()}\n${event.prompt}`
    room -= Buffer.byteLength(entry)
    if (room < 0 && index > 0) break
    entries.push(entry)
  }
  const shown = events.slice(0, entries.length)
  return { text: `${headline(shown.length, pending)}${entries.join('')}\n\n${instruction}`, shown }
}

/** The room in bytes that is set aside for the headline, before it is known how many events fit. */
const maxHeadlineBytes = 100

function headline(shown: number, pending: number): string {
  if (pending === 0) return 'No system events are pending.'
  const waiting = pending - shown
  const noun = shown === 1 ? 'system event' : 'system events'
  return waiting > 0
    ? `${shown} ${noun}; ${waiting} more waiting for a later heartbeat:`
    : `${shown} ${noun}:`
}
