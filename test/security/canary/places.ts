/** Lists the places where the text of a body may be read: fields of answers, each by its path. */

import { type Canaries, found } from './canaries.ts'
import type { Output } from './outputs.ts'

/**
 * The way of a mapping's message, and what a plugin said of it. Lists are written `[]`. A name alone is the readable
 * output of that command.
 */
export const tellingFields: readonly string[] = [
  ...['deliveries', 'deliveries.reason', 'deliveries.text'],
  // Values for completion, with secrets hidden.
  'endpoints/paths.fields[].example',
  'endpoints/paths.fields[].path',
  'endpoints/paths.headers[].example',
  ...['events', 'events.prompt', 'events.text'],
  // For a stored request: what would become of it, with secrets hidden.
  'explain.explanation.actions[].fields[].sources[].value',
  'explain.explanation.actions[].fields[].value',
  'explain.explanation.actions[].prompt',
  'explain.explanation.actions[].segments[].value',
  'requests.deliveryId',
  'requests.headers.x-github-delivery',
  // For a request: why a mapping did not match it, shortened, with secrets hidden.
  'requests.trace.candidates[].clause.actual',
  ...['explain.trace.candidates[].clause.actual', 'requests'],
  // A test made of a stored body, and the body itself.
  ...['requests/as-test', 'requests/body'],
  // For a stored request: what would become of it, with secrets hidden.
  ...['requests/explain', 'requests/replay'].flatMap((dryRun) => [
    `${dryRun}.decision.details[].pointer`,
    `${dryRun}.decision.warnings[].pointer`,
    `${dryRun}.explanation.actions[].fields[].sources[].value`,
    `${dryRun}.explanation.actions[].fields[].value`,
    `${dryRun}.explanation.actions[].prompt`,
    `${dryRun}.explanation.actions[].segments[].value`,
  ]),
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
 * Returns the places of an output that show a canary. `GET /api/runs/0190…`, `GET /api/runs?limit=500` and `runs
 * --json` count as one place, and `GET /api/requests/0190…/body` is another one.
 */
export function placesIn({ from, text }: Output, among: Canaries): string[] {
  const places = new Set<string>()
  const [kind] = from
    .replace(/^\w+ \/api\//, '')
    .replace(/^(\w+)\/[^/?]+/, '$1')
    .split(/[\s?]/)
  visit(kind === 'requests/body' ? text : parsed(text), '')
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
