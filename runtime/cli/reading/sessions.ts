/** `reveille sessions`: lists the conversations that a running gateway keeps, or shows the messages of one. */

import { printable } from '../../observe/printable.ts'
import type { SessionMessage, SessionSummary } from '../../store/port.ts'
import { CommandFailure } from '../command-failure.ts'
import { counted } from '../counted.ts'
import type { Io } from '../io.ts'
import { shortId, shortTime } from '../table.ts'
import { openAdmin } from './admin-client.ts'
import { type RecordOptions, showPage } from './page.ts'
import type { View } from './record-views.ts'

interface Session {
  readonly key: string
  readonly messages: readonly SessionMessage[]
}

export async function sessions(key: string | undefined, options: RecordOptions, io: Io): Promise<number> {
  const { limit, cursor } = options
  if (key !== undefined && (limit ?? cursor) !== undefined)
    throw new CommandFailure(2, '--limit and --cursor are for the list.')
  const admin = await openAdmin(options, io)
  if (key === undefined) return showPage('sessions', view, options, admin, io)
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

const view: View<SessionSummary> = {
  header: ['LAST', 'TURNS', 'KEY'],
  row: ({ key, turns, lastAt }, now) => [shortTime(lastAt, now), counted(turns, 'turn'), key],
}
