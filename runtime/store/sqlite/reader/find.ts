/** Finds what a pasted text names: an id or its end, a sender's id of a delivery, a session, a generation. */

import type { DatabaseSync } from 'node:sqlite'
import { isId, isNamedBy, mostSearched } from '../../id.ts'
import type { FoundRecord, RequestRecord } from '../../port.ts'
import { generationIn, mostFound } from '../../reading.ts'
import { blobOfId, createPresence, idOfBlob } from '../database/ids.ts'

/** Lists the newest requests with a value in a column. */
export type ListRequests = (
  filters: Readonly<Record<string, string | undefined>>,
  limit: number,
) => readonly RequestRecord[]

export function createFinder(db: DatabaseSync, requests: ListRequests) {
  const kinds = [
    { kind: 'request', table: 'requests', has: createPresence(db, 'requests') },
    { kind: 'run', table: 'runs', has: createPresence(db, 'runs') },
    { kind: 'event', table: 'events', has: createPresence(db, 'events') },
  ] as const
  const selectNewest = kinds.map(({ kind, table }) => ({
    kind,
    newest: db.prepare(`SELECT id FROM ${table} ORDER BY place DESC LIMIT ${mostSearched}`),
  }))
  const selectDelivery = db.prepare('SELECT 1 FROM deliveries WHERE id = ?')
  const selectDeliveries = db.prepare(`SELECT id FROM deliveries ORDER BY id DESC LIMIT ${mostSearched}`)
  const selectSession = db.prepare('SELECT 1 FROM sessions WHERE session = ?')
  const selectRunSessions = db.prepare(`SELECT session FROM runs ORDER BY place DESC LIMIT ${mostSearched}`)

  function* byWholeId(text: string): Iterable<FoundRecord> {
    const id = text.toLowerCase()
    if (!isId(id)) return
    const blob = blobOfId(id)
    for (const { kind, has } of kinds) if (has(blob)) yield { kind, id }
    if (selectDelivery.get(blob) !== undefined) yield { kind: 'delivery', id }
  }

  /** A session has a row once it has a turn. Before, its runs name it. */
  function* bySession(key: string): Iterable<FoundRecord> {
    const isNamed = () => selectRunSessions.all().some((row) => row['session'] === key)
    if (selectSession.get(key) !== undefined || isNamed()) yield { kind: 'session', id: key }
  }

  function* byDeliveryId(delivery: string): Iterable<FoundRecord> {
    for (const { id } of requests({ delivery }, mostFound)) yield { kind: 'request', id }
  }

  function* byGeneration(text: string): Iterable<FoundRecord> {
    const filters = generationIn(text)
    const [newest] = filters ? requests(filters, 1) : []
    if (newest !== undefined) yield { kind: 'generation', id: `${newest.generation}` }
  }

  function* byEnd(text: string): Iterable<FoundRecord> {
    const isWanted = isNamedBy(text)
    const found = (rows: readonly Record<string, unknown>[]) =>
      rows.map((row) => idOfBlob(row['id'] as Uint8Array)).filter(isWanted)
    for (const { kind, newest } of selectNewest) for (const id of found(newest.all())) yield { kind, id }
    for (const id of found(selectDeliveries.all())) yield { kind: 'delivery', id }
  }

  return (text: string): readonly FoundRecord[] => {
    if (text === '') return []
    const all = new Map<string, FoundRecord>()
    for (const search of [byWholeId, bySession, byDeliveryId, byGeneration, byEnd]) {
      for (const found of search(text)) all.set(`${found.kind} ${found.id}`, found)
      // A whole id has an end of its own, which names nothing else.
      if (isId(text.toLowerCase()) && all.size > 0) break
      if (all.size >= mostFound) break
    }
    return [...all.values()].slice(0, mostFound)
  }
}
