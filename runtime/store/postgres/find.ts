/** Finds what a pasted text names: an id or its end, a sender's id of a delivery, a session, a generation. */

import { isId, isNamedBy, mostSearched } from '../id.ts'
import type { FoundRecord, Id, RequestRecord } from '../port.ts'
import { type Filters, type GotPage, generationIn, type ListQuery, mostFound } from '../reading.ts'
import type { Query } from './parts.ts'
import { columnOfText } from './rows.ts'

const kinds = [
  { kind: 'request', table: 'requests' },
  { kind: 'run', table: 'runs' },
  { kind: 'event', table: 'events' },
  { kind: 'delivery', table: 'deliveries' },
] as const

export function createFinder(query: Query, list: (asked: ListQuery) => Promise<GotPage>) {
  async function requests(filters: Filters, limit: number): Promise<readonly RequestRecord[]> {
    const { records } = await list({ table: 'requests', filters, limit })
    return records as readonly RequestRecord[]
  }

  async function byWholeId(text: string): Promise<FoundRecord[]> {
    const id = text.toLowerCase()
    if (!isId(id)) return []
    const selects = kinds.map(({ kind, table }) => `SELECT '${kind}' AS kind FROM ${table} WHERE id = $1`)
    const rows = await query<Pick<FoundRecord, 'kind'>>(selects.join(' UNION ALL '), [id])
    return rows.map(({ kind }) => ({ kind, id }))
  }

  /** A session has a row once it has a turn. Before, its runs name it. */
  async function bySession(key: string): Promise<FoundRecord[]> {
    const rows = await query(
      `SELECT 1 FROM sessions WHERE session = $1 UNION ALL
       SELECT 1 FROM (SELECT session FROM runs ORDER BY id DESC LIMIT ${mostSearched}) AS newest WHERE session = $1 LIMIT 1`,
      [columnOfText(key)],
    )
    return rows.length === 0 ? [] : [{ kind: 'session', id: key }]
  }

  async function byDeliveryId(delivery: string): Promise<FoundRecord[]> {
    const found = await requests({ delivery }, mostFound)
    return found.map(({ id }) => ({ kind: 'request', id }))
  }

  async function byGeneration(text: string): Promise<FoundRecord[]> {
    const filters = generationIn(text)
    const [newest] = filters ? await requests(filters, 1) : []
    return newest === undefined ? [] : [{ kind: 'generation', id: `${newest.generation}` }]
  }

  async function byEnd(text: string): Promise<FoundRecord[]> {
    const isWanted = isNamedBy(text)
    const selects = kinds.map(
      ({ kind, table }) =>
        `(SELECT '${kind}' AS kind, id FROM ${table} ORDER BY id DESC LIMIT ${mostSearched})`,
    )
    const rows = await query<{ kind: FoundRecord['kind']; id: Id }>(selects.join(' UNION ALL '))
    return rows.filter(({ id }) => isWanted(id))
  }

  return async (text: string): Promise<readonly FoundRecord[]> => {
    if (text === '') return []
    const all = new Map<string, FoundRecord>()
    for (const search of [byWholeId, bySession, byDeliveryId, byGeneration, byEnd]) {
      for (const found of await search(text)) all.set(`${found.kind} ${found.id}`, found)
      // A whole id has an end of its own, which names nothing else.
      if (isId(text.toLowerCase()) && all.size > 0) break
      if (all.size >= mostFound) break
    }
    return [...all.values()].slice(0, mostFound)
  }
}
