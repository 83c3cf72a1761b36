/** Owns where the text of a body may be read: the fields of answers that are there to show it, each by its path. */

import { type Canaries, found } from './canaries.ts'
import type { Output } from './outputs.ts'

/**
 * What a mapping put into a message, on its whole way, and what a plugin said of it. Lists are written `[]`; a name alone
 * is the command of that name, set for people.
 */
export const tellingFields: readonly string[] = [
  ...['deliveries', 'deliveries.reason', 'deliveries.text'],
  ...['events', 'events.prompt', 'events.text'],
  // Of a request alone: why a mapping did not match it, cut short, and hidden under the name of a secret.
  'requests.trace.candidates[].clause.actual',
  ...[
    'runs',
    'runs.attempts[].reason',
    'runs.deliveries[].reason',
    'runs.deliveries[].text',
    'runs.error.message',
  ],
  ...['runs.message', 'runs.prompt', 'runs.reply', 'runs.summary.prompt', 'runs.summary.text'],
  ...['sessions', 'sessions.messages[].text'],
]

/**
 * Where in an output the texts stand that hold one. `GET /api/runs/0190…`, `GET /api/runs?limit=500` and `runs --json`
 * tell the same.
 */
export function placesIn({ from, text }: Output, among: Canaries): string[] {
  const places = new Set<string>()
  const kind = from.replace(/^GET \/api\//, '').replace(/[\s/?].*$/, '')
  visit(parsed(text), '')
  return Array.from(places, (path) => kind + path.replace(/^\.items\[\]/, ''))

  function visit(value: unknown, path: string): void {
    if (Array.isArray(value)) for (const each of value) visit(each, `${path}[]`)
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        if (found(name, among).length > 0) places.add(`${path}.*`)
        visit(inner, `${path}.${name}`)
      }
    } else if (found(String(value), among).length > 0) places.add(path)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
