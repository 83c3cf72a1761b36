/** Shows issues with cause and next step; `reveille resolve`, `mute` and `reopen` change them. */

import type { ItemOf } from '../../api/routes/client.ts'
import { printable } from '../../observe/printable.ts'
import { openClient } from '../client.ts'
import { failure } from '../command-failure.ts'
import { type CommandOptions, type Io, paintFor, wrapText } from '../io.ts'
import { commandLine, print, shortTime, withCommandLines } from '../print.ts'

const colours = {
  'losing-events': 'red',
  failing: 'red',
  degraded: 'yellow',
  suspicious: 'dim',
} as const

export function issueText(issue: ItemOf<'listIssues'>, io: Io): string {
  const { key, severity, state, count, first, last, cause, next, mutedUntil } = issue
  const paint = paintFor(io)
  const [since, latest, until] = [first, last, mutedUntil ?? 0].map((at) => shortTime(at, io.now()))
  const ended = state === 'open' ? '' : `  ${state}${mutedUntil === undefined ? '' : ` until ${until}`}`
  const columns = Math.max(20, (io.columns ?? Number.POSITIVE_INFINITY) - 2)
  const indented = (text: string) =>
    wrapText(printable(withCommandLines(text, io)), { columns }).replaceAll(/^/gm, '  ')
  // The command as the user types it here.
  const command = next.command && commandLine(next.command.replace(/^reveille /, ''), io).replaceAll('`', '')
  return [
    `${paint[state === 'open' ? colours[severity] : 'dim'](severity)}  ${paint.bold(printable(key))}${ended}`,
    `  ${count > 1 ? `${count} times since ${since}, last ${latest}` : since}`,
    indented(cause),
    indented(`→ ${next.label}${command ? ':' : ''}`),
    ...(command ? [`    ${printable(command)}`] : []),
    '',
  ].join('\n')
}

const changes = {
  resolve: ['resolveIssue', 'resolved'],
  mute: ['muteIssue', 'muted'],
  reopen: ['reopenIssue', 'open again'],
} as const

export async function changeIssues(
  change: keyof typeof changes,
  keys: readonly string[],
  io: Io,
  { for: forMs }: CommandOptions,
): Promise<number> {
  const client = await openClient(io)
  const [route, done] = changes[change]
  const { items: known } = await client.ask('listIssues', { query: { limit: 500 } })
  const whole = [...new Set(keys)].map((given) =>
    wholeKeyOf(
      known.map(({ key }) => key),
      given,
    ),
  )
  const until = forMs === undefined ? {} : { until: io.now() + forMs }
  const items = await Promise.all(whole.map((key) => client.ask(route, { body: { key, ...until } })))
  return print(io, { items }, () => whole.map((key) => `${key}: ${done}\n`).join(''))
}

/** Completes the beginning of a key, or a code alone. @throws CommandFailure */
function wholeKeyOf(keys: readonly string[], given: string): string {
  if (keys.includes(given)) return given
  const found = keys.filter((key) => key.toLowerCase().startsWith(given.toLowerCase()))
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  throw failure(
    only === undefined
      ? `There is no issue ${given}; \`reveille issues --all\` lists them.`
      : `More than one issue begins with ${given}: ${found.slice(0, 5).join(', ')}.`,
  )
}
