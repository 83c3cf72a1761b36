/** Shows one page of a list, and the command for the next one. */

import type { Page } from '../../store/port.ts'
import type { CommandOptions, Io } from '../io.ts'
import { programName, shellWord } from '../pasted.ts'
import { formatTable } from '../table.ts'
import type { Admin, Query } from './admin-client.ts'
import type { RecordKind, View } from './record-views.ts'
import { type RequestFilterOptions, requestFilterQuery } from './request-filters.ts'

export interface RecordOptions extends CommandOptions {
  readonly limit?: number
  readonly cursor?: string
  /** The filters of the kind. */
  readonly [filter: string]: unknown
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
  const asked = kind === 'requests' ? requestQuery(options, io) : (query as Query)
  const page = (await admin.get(`/api/${kind}`, asked)) as Page<never>
  const rows = page.items.map((item) => view.row(item, io.now()))
  const table = rows.length === 0 ? `No ${kind}.\n` : formatTable(view.header, rows, io.columns)
  io.out(json ? `${JSON.stringify(page, null, 2)}\n` : table)
  if (!json && page.next !== undefined)
    io.err(`More: ${commandFor(kind, { ...options, cursor: page.next }, io)}\n`)
  return 0
}

function requestQuery({ limit, cursor, ...filters }: RecordOptions, io: Io): Query {
  return { limit, cursor, ...requestFilterQuery(filters as RequestFilterOptions, io) }
}

/** `sessionKey` as the user writes it: `--session-key`. */
export function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** The user's own command, as a line to paste. */
function commandFor(kind: string, options: RecordOptions, io: Io): string {
  const { json: _json, ...given } = options
  const words = Object.entries(given).map(([name, value]) => `${flagOf(name)} ${shellWord(String(value))}`)
  return [programName(io), kind, ...words].join(' ')
}
