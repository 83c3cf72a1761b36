/** Reads what joined a run that several requests became. */

import { type Id, type JoinedRequest, type RunRecord, requestsOf } from '../port.ts'
import type { GotRecord } from '../reading.ts'
import type { Query } from './parts.ts'
import { textOfColumn } from './rows.ts'

/** How many messages the record of a cancelled run shows. */
const mostShown = 100

const hour = 3_600_000

interface JoinedRow {
  readonly request: Id
  readonly at: number
  readonly message: string | null
  readonly prompt: string | null
}

/** Returns the requests that became a run, or `undefined` for a run that no request can join. */
export async function coalescedOf(
  query: Query,
  run: Id,
  ownRequest: Id | undefined,
): Promise<GotRecord['coalesced']> {
  const rows = await query<{ joined: number; request: Id | null }>(
    `SELECT c.joined, j.request FROM coalesced AS c LEFT JOIN joined AS j ON j.run = c.run WHERE c.run = $1 ORDER BY j.number`,
    [run],
  )
  const [row] = rows
  if (row === undefined) return undefined
  const requests = rows.flatMap(({ request }) => (request === null ? [] : [request]))
  return { count: row.joined + 1, ...requestsOf(ownRequest, requests, row.joined) }
}

/** Returns the newest messages that joined a run, oldest first. */
export async function joinedMessages(query: Query, run: Id): Promise<NonNullable<RunRecord['joined']>> {
  const rows = await query<Omit<JoinedRow, 'prompt'>>(
    `SELECT request, at, message FROM joined WHERE run = $1 ORDER BY number DESC LIMIT ${mostShown}`,
    [run],
  )
  return rows.toReversed().map(({ request, at, message }) => ({
    requestId: request,
    at,
    ...(message !== null && { message: textOfColumn(message) }),
  }))
}

/**
 * Returns what a claim of the run works with: the requests that are known by id, oldest first, how many there were in all, and how
 * many runs of its key were accepted in the hour before it, itself included.
 */
export async function joinedWork(
  query: Query,
  run: Id,
): Promise<
  | { readonly joined: readonly JoinedRequest[]; readonly joinedCount: number; readonly ofKey: number }
  | undefined
> {
  const [own] = await query<{ key: string; number: number; at: number; joined: number }>(
    'SELECT key, number, at, joined FROM coalesced WHERE run = $1',
    [run],
  )
  if (own === undefined) return undefined
  // A run with a later time was accepted before the clock was set back, at an unknown time.
  const [rows, counts] = await Promise.all([
    query<JoinedRow>('SELECT request, at, message, prompt FROM joined WHERE run = $1 ORDER BY number', [run]),
    query<{ count: number }>(
      `SELECT count(*) AS count FROM coalesced WHERE key = $1 AND number <= $2 AND at <= $3 AND number > coalesce(
         (SELECT max(number) FROM coalesced WHERE key = $1 AND number <= $2 AND at <= $3 - ${hour}), 0)`,
      [own.key, own.number, own.at],
    ),
  ])
  return { joined: rows.map(joinedRequest), joinedCount: own.joined, ofKey: counts[0]?.count ?? 0 }
}

function joinedRequest({ request, at, message, prompt }: JoinedRow): JoinedRequest {
  const joined = { requestId: request, at }
  if (message === null || prompt === null) return joined
  return { ...joined, content: { message: textOfColumn(message), prompt: textOfColumn(prompt) } }
}
