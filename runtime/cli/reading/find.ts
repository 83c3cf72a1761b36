/** Finds the record that a person names: by its id, by the end of it, or by whatever else names it. */

import type { FoundRecord, Page } from '../../store/port.ts'
import { CommandFailure } from '../command-failure.ts'
import { listed } from '../counted.ts'
import { shortId } from '../table.ts'
import { type Admin, GatewayUnreachable } from './admin-client.ts'
import type { RecordKind } from './record-views.ts'

export type Stored = Readonly<Record<string, unknown>> & { readonly id: string }

/** The number of recent records among which the end of an id is looked up. */
const searched = 500
const wholeId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Where a record is, and the record itself. */
type Located =
  | { readonly kind: RecordKind | 'generations'; readonly id: string; readonly item: Stored }
  | { readonly kind: 'sessions'; readonly id: string }

const listOf = {
  request: 'requests',
  run: 'runs',
  event: 'events',
  delivery: 'deliveries',
  session: 'sessions',
  generation: 'generations',
} as const satisfies Record<FoundRecord['kind'], string>

/**
 * Finds what a text names: a record of this kind by its id or the end of it, or else anything, by a sender's id of a delivery too.
 * @throws CommandFailure where it names nothing, or several things
 */
export async function locate(admin: Admin, kind: RecordKind, text: string): Promise<Located> {
  try {
    const item = await fetchOne(admin, kind, text)
    return { kind, id: item.id, item }
  } catch (failure) {
    if (!(failure instanceof CommandFailure) || failure instanceof GatewayUnreachable) throw failure
    const all = await findAny(admin, text)
    const [found, other] = all
    if (found === undefined) throw failure
    if (other !== undefined) throw severalFound(text, all)
    const { id } = found
    if (found.kind === 'session') return { kind: 'sessions', id }
    const list = listOf[found.kind]
    return { kind: list, id, item: (await admin.get(`/api/${list}/${id}`)) as Stored }
  }
}

export function severalFound(text: string, all: readonly FoundRecord[]): CommandFailure {
  const names = listed(all.map(({ kind, id }) => `${kind} ${kind === 'session' ? id : shortId(id)}`))
  return new CommandFailure(1, `"${text}" names several records: ${names}. Give the id of one.`)
}

/** What a text names, of whatever kind. A gateway of an earlier version knows nothing. */
export async function findAny(admin: Admin, text: string): Promise<readonly FoundRecord[]> {
  try {
    const { items } = (await admin.get('/api/find', { q: text })) as {
      readonly items: readonly FoundRecord[]
    }
    return items
  } catch (failure) {
    if (!(failure instanceof CommandFailure) || failure instanceof GatewayUnreachable) throw failure
    return []
  }
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
  isMeant: (record: Stored) => boolean = () => true,
): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const query = { ...filter, state: 'parked', limit: 500, cursor }
    const page = (await admin.get(`/api/${kind}`, query)) as Page<Stored>
    ids.push(...page.items.filter(isMeant).map(({ id }) => id))
    cursor = page.next
  } while (cursor !== undefined)
  return ids.reverse()
}
