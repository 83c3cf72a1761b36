/**
 * Tells other nodes what this one has committed, and hears of theirs: new alarms, changes for listeners, and cancels.
 *
 * Nothing is sent inside a transaction that a caller waits for, because a transaction with a NOTIFY takes a lock of the whole server
 * while it commits. At most every ten milliseconds one statement on a connection of its own says what has happened since. What gets
 * lost is found by looking: alarms every few seconds, or every quarter of a second where notifications do not arrive.
 */

import type { Client } from 'pg'
import type { Id } from '../port.ts'
import type { Flat, RemoteClaim } from './batches.ts'
import { type Database, end, type Link } from './connection.ts'
import type { Alarm } from './parts.ts'

const gatherMs = 10
/** The server takes payloads below 8,000 bytes. */
const mostBytes = 7_900
const mostChanges = 200
const backstopMs = 5_000
const pollMs = 250
const checkMs = 1_000
const reconnectMs = 1_000

export interface BulletinParts {
  readonly database: Database
  readonly link: Link
  readonly node: () => Id
  readonly isAlone: () => boolean
  onAlarms(alarms: readonly Alarm[]): void
  onChanges(changes: Flat): void
  onCancelled(claims: readonly number[]): void
  /** Called when a node came, or freed what it held. */
  onNode(): void
  /** Looks for alarms without having been told. */
  look(): void
}

/** What one notification says. The names are short, because the room is. */
interface Payload {
  /** The node that sends it. */
  readonly n: Id
  /** Alarms: kind, pool, due time, sequence number. */
  readonly a?: readonly (readonly [Alarm['kind'], string, number, number])[]
  /** Changes, four values for each. */
  readonly c?: readonly (string | null)[]
  /** Claims that were cancelled, by node. */
  readonly x?: readonly (readonly [Id, number])[]
  /** The node has just joined, or something is free that a node has held. */
  readonly j?: 1
}

export type Bulletin = ReturnType<typeof createBulletin>

export function createBulletin(parts: BulletinParts) {
  const { database, link, node, isAlone } = parts
  let alarms = new Map<string, Alarm>()
  let changes: Flat = []
  let cancels: RemoteClaim[] = []
  let hasFreed = false
  let sending: NodeJS.Timeout | undefined
  let listening: Client | undefined
  let hears = false
  let isClosed = false
  let polling: NodeJS.Timeout | undefined
  let reconnecting: NodeJS.Timeout | undefined

  function sendSoon(): void {
    if (sending !== undefined || isClosed) return
    sending = setTimeout(() => {
      sending = undefined
      void send()
    }, gatherMs)
    sending.unref()
  }

  function send(): Promise<unknown> {
    const payload: Payload = {
      n: node(),
      ...(alarms.size > 0 && {
        a: [...alarms.values()].map(({ kind, pool, due_at, seq }) => [kind, pool, due_at, seq]),
      }),
      ...(changes.length > 0 &&
        changes.length <= 4 * mostChanges && { c: changes.map((value) => value ?? null) }),
      ...(cancels.length > 0 && { x: cancels.map((each) => [each.node, each.claim]) }),
      ...(hasFreed && { j: 1 }),
    }
    alarms = new Map()
    changes = []
    cancels = []
    hasFreed = false
    return notify(payload)
  }

  function notify(payload: Payload): Promise<unknown> {
    const sent = textsOf(payload).map((text) => link.query(`SELECT pg_notify('reveille', $1)`, [text]))
    return Promise.allSettled(sent)
  }

  function take(text: string): void {
    const { n, a = [], c = [], x = [], j }: Payload = JSON.parse(text)
    hears = true
    if (n === node()) return
    if (a.length > 0) parts.onAlarms(a.map(([kind, pool, due_at, seq]) => ({ kind, pool, due_at, seq })))
    if (c.length > 0) parts.onChanges(c.map((value) => value ?? undefined))
    const own = x.filter(([of]) => of === node()).map(([, claim]) => claim)
    if (own.length > 0) parts.onCancelled(own)
    if (j === 1) parts.onNode()
  }

  /** Tells the others that this node is there. What came before it listened is found by looking. */
  function announce(): void {
    parts.look()
    void notify({ n: node(), j: 1 })
  }

  /** Listens, and finds out whether notifications arrive: behind a pooler they may not. */
  async function listen(): Promise<void> {
    try {
      const client = await database.connect('listens')
      if (isClosed) return void end(client)
      listening = client
      client.on('notification', ({ payload = '{}' }) => take(payload))
      client.once('end', lost)
      client.once('error', lost)
      await client.query('LISTEN reveille')
      announce()
      setTimeout(schedulePoll, checkMs).unref()
    } catch {
      lost()
    }
  }

  function lost(): void {
    hears = false
    listening = undefined
    schedulePoll()
    if (isClosed || reconnecting !== undefined) return
    reconnecting = setTimeout(() => {
      reconnecting = undefined
      void listen()
    }, reconnectMs)
    reconnecting.unref()
  }

  function schedulePoll(): void {
    clearTimeout(polling)
    if (isClosed) return
    polling = setTimeout(
      () => {
        if (!isAlone() || !hears) parts.look()
        schedulePoll()
      },
      hears || isAlone() ? backstopMs : pollMs,
    )
    polling.unref()
  }

  schedulePoll()
  void listen()

  return {
    /** How this node hears of what others did. */
    mode: (): 'notify' | 'poll' => (hears ? 'notify' : 'poll'),
    announce,
    /** Notes what was committed. A node that is alone sends nothing. `hasFreed`: what a node has held is free for others. */
    add(committed: {
      readonly changes: Flat
      readonly alarms: readonly Alarm[]
      readonly cancels: readonly RemoteClaim[]
      readonly hasFreed?: boolean
    }) {
      if (isAlone()) return
      hasFreed ||= committed.hasFreed === true
      for (const alarm of committed.alarms) {
        const name = `${alarm.kind} ${alarm.pool}`
        const known = alarms.get(name)
        if (
          known === undefined ||
          alarm.due_at < known.due_at ||
          (alarm.due_at === known.due_at && alarm.seq < known.seq)
        )
          alarms.set(name, alarm)
      }
      if (changes.length <= 4 * mostChanges) changes = changes.concat(committed.changes)
      cancels.push(...committed.cancels)
      if (hasFreed || alarms.size + changes.length + cancels.length > 0) sendSoon()
    },
    /** Sends what has not been sent yet. */
    async close(): Promise<void> {
      isClosed = true
      if (sending !== undefined) await send()
      clearTimeout(sending)
      clearTimeout(polling)
      clearTimeout(reconnecting)
      if (listening !== undefined) await end(listening)
    },
  }
}

/** Splits a payload that is too large. */
function textsOf(payload: Payload): string[] {
  const text = JSON.stringify(payload)
  if (Buffer.byteLength(text) < mostBytes) return [text]
  const { a = [], c = [], x = [], ...rest } = payload
  if (a.length + c.length / 4 + x.length <= 1) return []
  const half = (length: number, width = 1) => Math.ceil(length / width / 2) * width
  const parts: Payload[] = [
    {
      ...rest,
      a: a.slice(0, half(a.length)),
      c: c.slice(0, half(c.length, 4)),
      x: x.slice(0, half(x.length)),
    },
    { ...rest, a: a.slice(half(a.length)), c: c.slice(half(c.length, 4)), x: x.slice(half(x.length)) },
  ]
  return parts.flatMap(textsOf)
}
