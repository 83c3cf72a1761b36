/** `reveille issues`: lists the open problems of a running gateway with cause and next step, and ends or mutes them. */

import { printable } from '../../observe/printable.ts'
import type { IssueRecord, Page, Severity } from '../../store/port.ts'
import { CommandFailure } from '../command-failure.ts'
import { type CommandOptions, type Io, paintFor, wrapText } from '../io.ts'
import { pasted, shellWord } from '../pasted.ts'
import { shortTime } from '../table.ts'
import { type Admin, openAdmin } from './admin-client.ts'

interface ListOptions extends CommandOptions {
  readonly all?: boolean
  readonly limit?: number
  readonly cursor?: string
}

interface OrderOptions extends CommandOptions {
  readonly for?: number
}

/** Lists the open issues, or with `--all` the muted and resolved ones too. */
export async function issues({ all = false, limit, cursor, json = false, config }: ListOptions, io: Io) {
  const admin = await openAdmin({ config }, io)
  const state = all ? undefined : 'open'
  const page = (await admin.get('/api/issues', { state, limit, cursor })) as Page<IssueRecord>
  if (json) {
    io.out(`${JSON.stringify(page, null, 2)}\n`)
    return 0
  }
  if (page.items.length === 0) io.out(all ? 'No issues.\n' : 'No issue is open.\n')
  io.out(page.items.map((issue) => textOf(issue, io)).join('\n'))
  if (page.next !== undefined)
    io.err(`More: ${pasted(`issues${all ? ' --all' : ''} --cursor ${shellWord(page.next)}`, io)}\n`)
  return 0
}

function textOf(
  { key, severity, state, count, first, last, cause, next, mutedUntil }: IssueRecord,
  io: Io,
): string {
  const paint = paintFor(io)
  const now = io.now()
  const times =
    count > 1
      ? `${count} times since ${shortTime(first, now)}, last ${shortTime(last, now)}`
      : shortTime(first, now)
  const until = mutedUntil === undefined ? '' : ` until ${shortTime(mutedUntil, now)}`
  const ended = state === 'open' ? '' : `  ${state}${until}`
  const step = next.command === undefined ? next.label : `${next.label}:`
  const indented = (text: string) =>
    wrapText(printable(text), {
      columns: Math.max(20, (io.columns ?? Number.POSITIVE_INFINITY) - 2),
    }).replaceAll(/^/gm, '  ')
  return [
    `${paint[state === 'open' ? colours[severity] : 'dim'](severity)}  ${paint.bold(printable(key))}${ended}`,
    `  ${times}`,
    indented(cause),
    indented(`→ ${step}`),
    ...(next.command === undefined ? [] : [`    ${commandOf(next.command, io)}`]),
    '',
  ].join('\n')
}

const colours = {
  'losing-events': 'red',
  failing: 'red',
  degraded: 'yellow',
  suspicious: 'dim',
} as const satisfies Record<Severity, string>

/** The command as the user types it here. */
function commandOf(command: string, io: Io): string {
  return printable(pasted(command.replace(/^reveille /, ''), io).replaceAll('`', ''))
}

export const resolveIssues = (keys: readonly string[], options: OrderOptions, io: Io) =>
  order('resolve', keys, options, io)
export const muteIssues = (keys: readonly string[], options: OrderOptions, io: Io) =>
  order('mute', keys, options, io)
export const reopenIssues = (keys: readonly string[], options: OrderOptions, io: Io) =>
  order('reopen', keys, options, io)

async function order(
  what: 'resolve' | 'mute' | 'reopen',
  keys: readonly string[],
  { config, json = false, for: forMs }: OrderOptions,
  io: Io,
): Promise<number> {
  const admin = await openAdmin({ config }, io)
  const until = forMs === undefined ? {} : { until: io.now() + forMs }
  const items: unknown[] = []
  for (const given of new Set(keys)) {
    const key = await wholeKeyOf(admin, given)
    items.push(await admin.sendJson('POST', `/api/issues/${what}`, { key, ...until }))
    if (!json) io.out(`${key}: ${done[what]}\n`)
  }
  if (json) io.out(`${JSON.stringify({ items }, null, 2)}\n`)
  return 0
}

const done = { resolve: 'resolved', mute: 'muted', reopen: 'open again' } as const

/** Completes the beginning of a key, or a code alone. @throws CommandFailure */
async function wholeKeyOf(admin: Admin, given: string): Promise<string> {
  const { items } = (await admin.get('/api/issues', { limit: 500 })) as Page<IssueRecord>
  const keys = items.map(({ key }) => key)
  if (keys.includes(given)) return given
  const found = keys.filter((key) => key.toLowerCase().startsWith(given.toLowerCase()))
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  throw new CommandFailure(
    1,
    only === undefined
      ? `There is no issue ${given}; \`reveille issues --all\` lists them.`
      : `More than one issue begins with ${given}: ${found.slice(0, 5).join(', ')}.`,
  )
}
