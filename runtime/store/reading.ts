/**
 * Makes a store's `Reader` of its queries: checks cursors and limits, makes pages, and merges the records that are only in
 * memory. Each store answers the queries in its own way.
 */

import { isId } from './id.ts'
import {
  type Cost,
  type CostOptions,
  type DeliveryRecord,
  type EventRecord,
  type FoundRecord,
  type Id,
  type IssueRecord,
  type OpenDeliveries,
  type OpenRuns,
  type Page,
  type PageOptions,
  type Reader,
  type ReplayJob,
  type ReplayJobItem,
  type RequestRecord,
  type Route,
  type RunRecord,
  type SessionMessage,
  type SessionSummary,
  type SpentToday,
  StoreError,
} from './port.ts'
import type { RefusedRequests } from './refused-requests.ts'

export type Listed = 'requests' | 'runs' | 'events' | 'deliveries'

/** The end of a page of sessions. The next one is older, or as old with a key that sorts before this one. */
export interface SessionPlace {
  readonly lastAt: number
  readonly key: string
}

/** The value wanted for each column. */
export type Filters = Readonly<Record<string, string | undefined>>

export interface ListQuery {
  readonly table: Listed
  readonly filters: Filters
  /** For requests: the earliest time at which one was received, and the first one that is too late. */
  readonly since?: number
  readonly until?: number
  readonly before?: string
  readonly limit: number
}

export interface GotRecord {
  readonly record: unknown
  readonly body?: Uint8Array
  readonly head?: string
  readonly trace?: string
  /** For a run that other requests can join or have joined. */
  readonly coalesced?: Pick<NonNullable<RunRecord['coalesce']>, 'count' | 'requests' | 'requestIds'>
  /** For such a run that was cancelled. */
  readonly joined?: NonNullable<RunRecord['joined']>
}

/** A page's records, newest first. `isCut` says that the page ended before it had the requested number, but the list did not. */
export interface GotPage {
  readonly records: readonly unknown[]
  readonly isCut: boolean
}

/** The place of an issue in the list. The next page begins behind it. */
export type IssuePlace = readonly [rank: number, last: number, key: string]

export interface IssueQuery {
  readonly limit: number
  readonly state?: string
  readonly after?: IssuePlace
}

export interface ItemQuery {
  readonly limit: number
  readonly state?: string
  readonly newestFirst?: boolean
  readonly after?: number
}

/** What a store answers to its reader, at once or later. */
export interface Queries {
  list(query: ListQuery): Later<GotPage>
  get(table: Listed, id: Id): Later<GotRecord | undefined>
  bodies(limit: number): Later<readonly GotRecord[]>
  replaysOf(ids: readonly Id[]): Later<readonly Id[]>
  /** The newest messages of a session, oldest first. */
  turns(session: string): Later<readonly SessionMessage[]>
  sessions(limit: number, before?: SessionPlace): Later<readonly SessionSummary[]>
  openDeliveries(): Later<readonly OpenDeliveries[]>
  openRuns(): Later<OpenRuns>
  route(): Later<Route | undefined>
  spent(now: number): Later<SpentToday>
  costs(options: CostOptions, limit: number, skip: number): Later<readonly Cost[]>
  find(text: string): Later<readonly FoundRecord[]>
  jobs(limit: number, state?: string, before?: Id): Later<readonly ReplayJob[]>
  job(id: Id): Later<ReplayJob | undefined>
  /** `after` is the number of the last item of the page before. */
  jobItems(id: Id, query: ItemQuery): Later<readonly (ReplayJobItem & { readonly number: number })[]>
  issues(
    query: IssueQuery,
    now: number,
  ): Later<readonly { readonly issue: IssueRecord; readonly place: IssuePlace }[]>
  issue(key: string, now: number): Later<IssueRecord | undefined>
}

type Later<Value> = Value | Promise<Value>

/** Asks one of the queries by its name. */
export type Ask = <Name extends keyof Queries>(
  name: Name,
  ...args: Parameters<Queries[Name]>
) => Promise<Awaited<ReturnType<Queries[Name]>>>

/** How many records `find` answers. */
export const mostFound = 20
/** How much of its digest a request knows of its generation. Hexadecimal digits. */
const shownOfDigest = 16

/** Returns what the requests of the generation have that a text names by its number or its digest. */
export function generationIn(text: string): Filters | undefined {
  if (/^[1-9]\d{0,8}$/.test(text)) return { generation: text }
  return /^[0-9a-f]{16,64}$/.test(text) ? { digest: text.slice(0, shownOfDigest) } : undefined
}

/** The most messages of a session's history in one answer. */
export const mostMessages = 1_000
/** The most UTF-16 units of JSON in the records of one answer. */
export const mostUnits = 4_194_304
/** The most bytes of requests with their bodies in one answer. */
export const mostBytes = 16_777_216
/** How far an id may be ahead of the time at which its request was received, because the clock was set back. Milliseconds. */
export const mostAheadMs = 3_600_000

/** What a list has in memory, beside the disk or instead of it. */
interface Memory<Item> {
  inMemory?(limit: number): readonly Item[]
  /** False if the disk has none of them. Default: true. */
  readonly onDisk?: boolean
}

const wrongCursor = 'the cursor is none that a page answered as `next`'

/** `noted` finds a request whose commit is under way. */
export function createReader(
  ask: Ask,
  refused: RefusedRequests,
  now: () => number,
  noted: (id: Id) => RequestRecord | undefined,
): Reader {
  async function list<Item extends { id: Id }>(
    table: Listed,
    { limit: wanted = 50, cursor, ...times }: PageOptions & Pick<ListQuery, 'since' | 'until'>,
    filters: Filters,
    { inMemory = () => [], onDisk = true }: Memory<Item> = {},
  ): Promise<Page<Item>> {
    const limit = bounded(wanted, 500)
    if (cursor !== undefined && !isId(cursor)) throw new StoreError('BAD_CURSOR', wrongCursor)
    // One record more than asked for shows whether there is a next page.
    const query = { table, filters, before: cursor, limit: limit + 1, ...times }
    const none: GotPage = { records: [], isCut: false }
    const { records, isCut } = onDisk ? await ask('list', query) : none
    const found = records as readonly Item[]
    // Records older than a page that was cut belong to the next page.
    const end = isCut ? (found.at(-1)?.id ?? '') : ''
    const remembered = inMemory(limit + 1).filter((item) => item.id > end)
    const all = found.concat(remembered).sort((a, b) => (a.id < b.id ? 1 : -1))
    const items = all.slice(0, limit)
    const next = all.length > limit ? items.at(-1)?.id : isCut ? end : undefined
    return next === undefined ? { items } : { items, next }
  }

  async function get<Item>(table: Listed, id: Id): Promise<Item | undefined> {
    if (!isId(id)) return undefined
    const got = await ask('get', table, id)
    return got && wholeOf<Item>(got)
  }

  return {
    requests({ limit, cursor, ...filters } = {}) {
      const { outcome, deliveryId, replayOf, generation, generationDigest, since, until, ...same } = filters
      if (replayOf !== undefined && !isId(replayOf)) return Promise.resolve({ items: [] })
      return list<RequestRecord>(
        'requests',
        {
          ...(limit !== undefined && { limit }),
          ...(cursor !== undefined && { cursor }),
          ...(since !== undefined && { since }),
          ...(until !== undefined && { until }),
        },
        {
          ...same,
          outcome,
          delivery: deliveryId,
          replay_of: replayOf,
          digest: generationDigest,
          generation: generation?.toString(),
        },
        {
          inMemory: (most) => refused.list(most, filters, cursor),
          onDisk: outcome !== 'handshake',
        },
      )
    },
    async recentBodies({ limit = 100 } = {}) {
      const got = await ask('bodies', bounded(limit, 1000))
      return got.map((each) => wholeOf<RequestRecord>(each))
    },
    request: async (id) => refused.get(id) ?? noted(id) ?? get<RequestRecord>('requests', id),
    replaysOf: async (ids) => {
      const known = ids.filter(isId)
      return known.length === 0 ? [] : ask('replaysOf', known)
    },
    runs: ({ state, sessionKey, kind, endpoint, ...page } = {}) =>
      list<RunRecord>('runs', page, { state, session: sessionKey, kind, endpoint }),
    async run(id) {
      const got = isId(id) ? await ask('get', 'runs', id) : undefined
      return got && runOf(got)
    },
    events: ({ state, ...page } = {}) => list<EventRecord>('events', page, { state }),
    event: (id) => get<EventRecord>('events', id),
    deliveries: ({ state, channel, ...page } = {}) =>
      list<DeliveryRecord>('deliveries', page, { state, channel }),
    delivery: (id) => get<DeliveryRecord>('deliveries', id),
    async session(key) {
      const messages = await ask('turns', key)
      return messages.length === 0 ? undefined : { key, messages }
    },
    async sessions({ limit: wanted = 50, cursor } = {}) {
      const limit = bounded(wanted, 500)
      const before = cursor === undefined ? undefined : sessionPlaceOf(cursor)
      const found = await ask('sessions', limit + 1, before)
      return pageOf(found, limit, cursorOf)
    },
    openDeliveries: () => ask('openDeliveries'),
    route: () => ask('route'),
    spent: () => ask('spent', now()),
    async costs({ limit: wanted = 50, cursor = '0', ...options }) {
      if (!/^\d{1,9}$/.test(cursor))
        throw new StoreError('BAD_CURSOR', 'the cursor is not one of a page of costs')
      const limit = bounded(wanted, 500)
      const skip = Number(cursor)
      const found = await ask('costs', options, limit + 1, skip)
      const items = found.slice(0, limit)
      return found.length > limit ? { items, next: String(skip + limit) } : { items }
    },
    openRuns: () => ask('openRuns'),
    async find(text) {
      const wanted = text.trim()
      const inMemory = refused.find(wanted).map((id): FoundRecord => ({ kind: 'request', id }))
      const onDisk = await ask('find', wanted)
      // A whole id names one record, so it is in one of the two.
      return inMemory.concat(onDisk).slice(0, mostFound)
    },
    async jobs({ limit: wanted = 50, cursor, state } = {}) {
      const limit = bounded(wanted, 500)
      if (cursor !== undefined && !isId(cursor)) throw new StoreError('BAD_CURSOR', wrongCursor)
      return pageOf(await ask('jobs', limit + 1, state, cursor), limit, ({ id }) => id)
    },
    job: async (id) => (isId(id) ? ask('job', id) : undefined),
    async jobItems(id, { limit: wanted = 50, cursor, state, newestFirst = false } = {}) {
      const limit = bounded(wanted, 500)
      const after = cursor === undefined ? undefined : Number(cursor)
      if (after !== undefined && !Number.isSafeInteger(after)) throw new StoreError('BAD_CURSOR', wrongCursor)
      if (!isId(id)) return { items: [] }
      const found = await ask('jobItems', id, { limit: limit + 1, state, newestFirst, after })
      const { items, next } = pageOf(found, limit, ({ number }) => `${number}`)
      return { items: items.map(({ number: _number, ...item }) => item), ...(next !== undefined && { next }) }
    },
    async issues({ limit: wanted = 50, cursor, state } = {}) {
      const limit = bounded(wanted, 500)
      const after = cursor === undefined ? undefined : issuePlaceOf(cursor)
      const found = await ask('issues', { limit: limit + 1, state, after }, now())
      const { items, next } = pageOf(found, limit, ({ place }) => encoded(place))
      return { items: items.map(({ issue }) => issue), ...(next !== undefined && { next }) }
    },
    issue: (key) => ask('issue', key, now()),
  }
}

function wholeOf<Item>({ record, body, head, trace }: GotRecord): Item {
  return {
    ...(record as Item),
    ...(body && { body }),
    ...(head && { head: JSON.parse(head) }),
    ...(trace && { trace: JSON.parse(trace) }),
  }
}

/** A run's coalesced requests are written on its record when it starts. Until then they are counted here. */
function runOf({ record, coalesced, joined }: GotRecord): RunRecord {
  const run: RunRecord = { ...(record as RunRecord), ...(joined && { joined }) }
  const { coalesce } = run
  if (coalesce === undefined || coalesce.count !== undefined) return run
  return { ...run, coalesce: { ...coalesce, ...coalesced } }
}

/** Makes a page of rows, of which one more than wanted shows that there is a next page. */
function pageOf<Item>(found: readonly Item[], limit: number, cursorOf: (item: Item) => string): Page<Item> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return found.length > limit && last !== undefined ? { items, next: cursorOf(last) } : { items }
}

function bounded(limit: number, most: number): number {
  return Math.max(1, Math.min(most, Math.floor(limit)))
}

/** Encodes what a page ends with, because a key is an arbitrary text and the cursor goes into URLs. */
function cursorOf({ lastAt, key }: SessionPlace): string {
  return encoded([lastAt, key])
}

function sessionPlaceOf(cursor: string): SessionPlace {
  const [lastAt, key] = decoded(cursor)
  if (Number.isFinite(lastAt) && typeof key === 'string') return { lastAt: Number(lastAt), key }
  throw new StoreError('BAD_CURSOR', wrongCursor)
}

function issuePlaceOf(cursor: string): IssuePlace {
  const [rank, last, key] = decoded(cursor)
  if (Number.isFinite(rank) && Number.isFinite(last) && typeof key === 'string')
    return [Number(rank), Number(last), key]
  throw new StoreError('BAD_CURSOR', wrongCursor)
}

function encoded(values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url')
}

/** A cursor that cannot be decoded has no values, and is refused for that. */
function decoded(cursor: string): readonly unknown[] {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(values) ? values : []
  } catch {
    return []
  }
}
