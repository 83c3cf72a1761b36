/** `reveille requests | runs | events | deliveries`: lists what a running gateway holds, or shows one whole record. */

import type { GatewayStatus } from '../../api/index.ts'
import type { Page } from '../../store/port.ts'
import { CommandFailure } from '../command-failure.ts'
import { type Facts, formatFacts } from '../facts.ts'
import type { CommandOptions, Io } from '../io.ts'
import { programName, shellWord } from '../pasted.ts'
import { formatTable } from '../table.ts'
import { type Admin, openAdmin, type Query } from './admin-client.ts'
import { holdText } from './channel-text.ts'
import { factsOfDelivery, factsOfRun } from './record-facts.ts'
import { type RecordKind, recordViews, type View } from './record-views.ts'

export interface RecordOptions extends CommandOptions {
  readonly limit?: number
  readonly cursor?: string
  /** The filters of the kind. */
  readonly [filter: string]: unknown
}

type Stored = Readonly<Record<string, unknown>> & { readonly id: string }

/** The number of recent records among which the end of an id is looked up. */
const searched = 500
const wholeId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export async function showRecords(
  kind: RecordKind,
  id: string | undefined,
  options: RecordOptions,
  io: Io,
): Promise<number> {
  const { config: _config, json, ...query } = options
  const [filter] = id === undefined ? [] : Object.keys(query)
  if (filter !== undefined)
    throw new CommandFailure(2, `An id names one record; ${flagOf(filter)} is for lists.`)
  const admin = await openAdmin(options, io)
  if (id !== undefined) {
    const item = await fetchOne(admin, kind, id)
    io.out(json ? `${JSON.stringify(item, null, 2)}\n` : formatFacts(await factsOf(kind, item, admin, io)))
    return 0
  }
  return showPage(kind, recordViews[kind], options, admin, io)
}

/** Shows one page of a list, and the command for the next one. */
export async function showPage(
  kind: RecordKind | 'sessions',
  view: View<never>,
  options: RecordOptions,
  admin: Admin,
  io: Io,
): Promise<number> {
  const { config: _config, json, ...query } = options
  const page = (await admin.get(`/api/${kind}`, query as Query)) as Page<never>
  const rows = page.items.map((item) => view.row(item, io.now()))
  const table = rows.length === 0 ? `No ${kind}.\n` : formatTable(view.header, rows, io.columns)
  io.out(json ? `${JSON.stringify(page, null, 2)}\n` : table)
  if (!json && page.next !== undefined)
    io.err(`More: ${commandFor(kind, { ...options, cursor: page.next }, io)}\n`)
  return 0
}

async function factsOf(kind: RecordKind, item: Stored, admin: Admin, io: Io): Promise<Facts> {
  if (kind === 'runs') return factsOfRun(item as never, io)
  if (kind !== 'deliveries') return item
  const waits = item['state'] === 'pending' ? await holdOf(String(item['channel']), admin, io) : undefined
  return factsOfDelivery(item as never, io, waits)
}

/** Why the channel is held, which concerns all its deliveries; undefined where it is not. */
export async function holdOf(channel: string, admin: Admin, io: Io): Promise<string | undefined> {
  // A gateway of an earlier version sends no channels.
  const { channels = [] } = (await admin.get('/api/status')) as GatewayStatus
  return holdText(
    channels.find((status) => status.channel === channel),
    io.now(),
  )
}

/** `sessionKey` as the user writes it: `--session-key`. */
function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** The user's own command, as a line to paste. */
function commandFor(kind: string, options: RecordOptions, io: Io): string {
  const { json: _json, ...given } = options
  const words = Object.entries(given).map(([name, value]) => `${flagOf(name)} ${shellWord(String(value))}`)
  return [programName(io), kind, ...words].join(' ')
}

/** Finds a record by its id or by the end of it. */
export async function fetchOne(admin: Admin, kind: RecordKind, id: string): Promise<Stored> {
  return (await admin.get(`/api/${kind}/${await wholeIdOf(admin, kind, id)}`)) as Stored
}

/** Completes the end of an id, which lists and log lines show, for recent records. @throws CommandFailure */
export async function wholeIdOf(admin: Admin, kind: RecordKind, id: string): Promise<string> {
  if (wholeId.test(id)) return id.toLowerCase()
  if (!/^[0-9a-f-]{4,36}$/i.test(id)) {
    throw new CommandFailure(2, `"${id}" is no id: give it whole, or at least its last 4 characters.`)
  }
  const page = (await admin.get(`/api/${kind}`, { limit: searched })) as Page<Stored>
  const [found, other] = page.items.filter((item) => item.id.endsWith(id.toLowerCase()))
  if (found && !other) return found.id
  throw new CommandFailure(
    1,
    found
      ? `More than one of the ${kind} ends in ${id}; give more of it.`
      : `None of the ${searched} newest ${kind} ends in ${id}.`,
  )
}

/** The ids of all parked records, the oldest first. All pages are read before one of the records is changed. */
export async function parkedIds(
  admin: Admin,
  kind: 'runs' | 'deliveries',
  filter: Readonly<Record<string, string | undefined>> = {},
): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const query = { ...filter, state: 'parked', limit: 500, cursor }
    const page = (await admin.get(`/api/${kind}`, query)) as Page<Stored>
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.next
  } while (cursor !== undefined)
  return ids.reverse()
}
