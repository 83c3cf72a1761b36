/** `reveille sessions`: lists the conversations that a running gateway keeps, or shows the messages of one. */

import { printable } from '../../observe/printable.ts'
import type { Page, SessionMessage, SessionSummary } from '../../store/port.ts'
import { CommandFailure } from '../command-failure.ts'
import { counted } from '../counted.ts'
import type { Io } from '../io.ts'
import { programName, shellWord } from '../pasted.ts'
import { formatTable, shortId, shortTime } from '../table.ts'
import { type Admin, openAdmin } from './admin-client.ts'

export interface SessionsOptions {
  readonly config?: string
  readonly limit?: string
  readonly cursor?: string
  readonly json?: boolean
}

interface Session {
  readonly key: string
  readonly messages: readonly SessionMessage[]
}

export async function sessions(key: string | undefined, options: SessionsOptions, io: Io): Promise<number> {
  const { limit, cursor } = options
  if (key !== undefined && (limit ?? cursor) !== undefined)
    throw new CommandFailure(2, '--limit and --cursor are for the list.')
  const admin = await openAdmin(options, io)
  if (key === undefined) return list(admin, options, io)
  const session = (await admin.get(`/api/sessions/${encodeURIComponent(key)}`)) as Session
  io.out(
    options.json ? `${JSON.stringify(session, null, 2)}\n` : session.messages.map(messageText).join('\n'),
  )
  return 0

  function messageText({ role, text, at, turn }: SessionMessage): string {
    const lines = text.split(/\r?\n/).map((line) => `  ${printable(line)}`.trimEnd())
    return [`${shortTime(at, io.now())}  ${role}  run ${shortId(turn)}`, ...lines, ''].join('\n')
  }
}

async function list(admin: Admin, { limit, cursor, json }: SessionsOptions, io: Io): Promise<number> {
  const page = (await admin.get('/api/sessions', { limit, cursor })) as Page<SessionSummary>
  const rows = page.items.map(({ key, turns, lastAt }) => [
    shortTime(lastAt, io.now()),
    counted(turns, 'turn'),
    key,
  ])
  const table = rows.length === 0 ? 'No sessions.\n' : formatTable(['LAST', 'TURNS', 'KEY'], rows, io.columns)
  io.out(json ? `${JSON.stringify(page, null, 2)}\n` : table)
  if (!json && page.next !== undefined) {
    const size = limit === undefined ? '' : ` --limit ${limit}`
    io.err(`More: ${programName(io)} sessions${size} --cursor ${shellWord(page.next)}\n`)
  }
  return 0
}
