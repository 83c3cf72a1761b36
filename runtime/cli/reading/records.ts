/** `reveille requests | runs | events | deliveries`: lists what a running gateway holds, or shows one whole record. */

import type { GatewayStatus } from '../../api/index.ts'
import { CommandFailure } from '../command-failure.ts'
import { type Facts, formatFacts } from '../facts.ts'
import type { Io } from '../io.ts'
import { type Admin, openAdmin } from './admin-client.ts'
import { holdText } from './channel-text.ts'
import { locate, type Stored } from './find.ts'
import { flagOf, type RecordOptions, showPage } from './page.ts'
import { factsOfDelivery, factsOfRequest, factsOfRun } from './record-facts.ts'
import { type RecordKind, recordViews } from './record-views.ts'

export async function showRecords(
  kind: RecordKind,
  id: string | undefined,
  options: RecordOptions,
  io: Io,
): Promise<number> {
  const { config, json, body = false, raw = false, asTest = false, ...query } = options
  const connection = config === undefined ? {} : { config }
  const [filter] = id === undefined ? [] : Object.keys(query)
  if (filter !== undefined)
    throw new CommandFailure(2, `An id names one record; ${flagOf(filter)} is for lists.`)
  if (body || raw || asTest) {
    if (id === undefined)
      throw new CommandFailure(
        2,
        `Name the request: requests ID --${asTest ? 'as-test' : raw ? 'raw' : 'body'}`,
      )
    const { showBody, showTest } = await import('./request-body.ts')
    if (asTest) return showTest(id, { ...connection, json: json === true }, io)
    return showBody(id, { ...connection, json: json === true, raw: raw === true }, io)
  }
  const admin = await openAdmin(connection, io)
  if (id === undefined) return showPage(kind, recordViews[kind], options, admin, io)
  const found = await locate(admin, kind, id)
  if (found.kind !== kind) io.err(`${id} names one of the ${found.kind}.\n`)
  if (found.kind === 'sessions')
    return (await import('./sessions.ts')).sessions(found.id, json ? { ...connection, json } : connection, io)
  const { item } = found
  io.out(
    json ? `${JSON.stringify(item, null, 2)}\n` : formatFacts(await factsOf(found.kind, item, admin, io)),
  )
  return 0
}

async function factsOf(kind: RecordKind | 'generations', item: Stored, admin: Admin, io: Io): Promise<Facts> {
  if (kind === 'runs') return factsOfRun(item as never, io)
  if (kind === 'requests') return factsOfRequest(item as never, io)
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
