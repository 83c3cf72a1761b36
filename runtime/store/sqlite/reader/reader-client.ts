/**
 * The main thread's side of the reader: starts its thread with the first question, ends it when none comes for a while,
 * and merges records that are only in memory.
 */

import { Worker } from 'node:worker_threads'
import {
  type DeliveryRecord,
  type EventRecord,
  type FoundRecord,
  type Id,
  type Page,
  type PageOptions,
  type Reader,
  type RequestRecord,
  type RunRecord,
  type SetTimer,
  StoreError,
} from '../../port.ts'
import { isId } from '../database/ids.ts'
import type { IssuePlace } from '../records/issues.ts'
import { mostFound } from './find.ts'
import type { Filters, GotPage, GotRecord, Listed, ListQuery, Queries, SessionPlace } from './queries.ts'
import type { RefusedRequests } from './refused-requests.ts'
import type { Question, ReaderAnswer } from './sqlite-reader.ts'

/** A question is rejected after this many calls of `watch`, which come once a second: a disk that hangs may hang a read. */
const mostTicks = 30

interface WaitingCall {
  ticks: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: StoreError) => void
}

/** What a list has in memory, beside the disk or instead of it. */
interface Memory<Item> {
  inMemory?(limit: number): readonly Item[]
  /** False if the disk has none of them. Default: true. */
  readonly onDisk?: boolean
}

/** A thread without work costs 12 MB. Starting it again costs some 50 ms. */
const idleMs = 10_000

const wrongCursor = 'the cursor is none that a page answered as `next`'

export function createReaderClient(
  folder: string,
  refused: RefusedRequests,
  setTimer: SetTimer,
  now: () => number,
) {
  const calls = new Map<number, WaitingCall>()
  let lastCall = 0
  let worker: Worker | undefined
  let closed = false
  let cancelRest: (() => void) | undefined

  function startWorker(): Worker {
    const started = new Worker(readerFile(), { workerData: folder, name: 'store reader' })
    started.on('message', (answer: ReaderAnswer) => {
      const call = calls.get(answer.call)
      calls.delete(answer.call)
      if (answer.ok) call?.resolve(answer.value)
      else call?.reject(new StoreError('STORE_UNAVAILABLE', answer.message))
      if (calls.size === 0) restSoon()
    })
    started.on('error', (error) => {
      if (worker === started) worker = undefined
      rejectAll(new StoreError('STORE_UNAVAILABLE', 'the reader stopped', { cause: error }))
    })
    return started
  }

  function restSoon(): void {
    cancelRest?.()
    cancelRest = setTimer(() => {
      if (calls.size === 0) void endWorker()
    }, idleMs)
  }

  /** The thread closes its connection itself. Questions that come meanwhile go to a new thread. */
  async function endWorker(): Promise<void> {
    const running = worker
    worker = undefined
    if (running === undefined) return
    const exited = new Promise<void>((resolve) => running.once('exit', () => resolve()))
    running.postMessage({ call: 0, args: [] } satisfies Question)
    await exited
  }

  function rejectAll(error: StoreError): void {
    for (const { reject } of calls.values()) reject(error)
    calls.clear()
  }

  function ask<Name extends keyof Queries>(
    name: Name,
    ...args: Parameters<Queries[Name]>
  ): Promise<ReturnType<Queries[Name]>> {
    if (closed) return Promise.reject(new StoreError('DRAINING', 'the store is closed'))
    worker ??= startWorker()
    const asked = worker
    return new Promise((resolve, reject) => {
      lastCall += 1
      calls.set(lastCall, { ticks: 0, resolve: resolve as WaitingCall['resolve'], reject })
      asked.postMessage({ call: lastCall, name, args } satisfies Question)
    })
  }

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
    const found: Item[] = records.map((record) => JSON.parse(record))
    // Records older than a page that was cut belong to the next page.
    const end = isCut ? (found.at(-1)?.id ?? '') : ''
    const remembered = inMemory(limit + 1).filter((item) => item.id > end)
    const all = found.concat(remembered).sort((a, b) => (a.id < b.id ? 1 : -1))
    const items = all.slice(0, limit)
    const last = items.at(-1)
    return (isCut || all.length > limit) && last !== undefined ? { items, next: last.id } : { items }
  }

  async function get<Item>(table: Listed, id: Id): Promise<Item | undefined> {
    if (!isId(id)) return undefined
    const got = await ask('get', table, id)
    return got && wholeOf<Item>(got)
  }

  const read: Reader = {
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
          onDisk: outcome === undefined || !refused.takes(outcome),
        },
      )
    },
    async recentBodies({ limit = 100 } = {}) {
      const got = await ask('bodies', bounded(limit, 1000))
      return got.map((each) => wholeOf<RequestRecord>(each))
    },
    request: async (id) => refused.get(id) ?? get<RequestRecord>('requests', id),
    runs: ({ state, sessionKey, kind, ...page } = {}) =>
      list<RunRecord>('runs', page, { state, session: sessionKey, kind }),
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

  return {
    read,
    /** The store calls it once a second. It rejects questions that have waited too long. */
    watch() {
      for (const [number, call] of calls) {
        call.ticks += 1
        if (call.ticks <= mostTicks) continue
        call.reject(new StoreError('STORE_UNAVAILABLE', `the store was not read within ${mostTicks} s`))
        calls.delete(number)
      }
    },
    async close(): Promise<void> {
      closed = true
      rejectAll(new StoreError('DRAINING', 'the store is closed'))
      cancelRest?.()
      await endWorker()
    },
  }
}

function wholeOf<Item>({ record, body, head, trace }: GotRecord): Item {
  return {
    ...JSON.parse(record),
    ...(body && { body }),
    ...(head && { head: JSON.parse(head) }),
    ...(trace && { trace: JSON.parse(trace) }),
  }
}

/** A run's coalesced requests are written on its record when it starts. Until then they are counted here. */
function runOf({ record, coalesced, joined }: GotRecord): RunRecord {
  const run: RunRecord = { ...JSON.parse(record), ...(joined && { joined }) }
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

/** The bundle has all entries in one folder. */
function readerFile(): URL {
  return new URL(
    import.meta.url.endsWith('.ts') ? './sqlite-reader.ts' : './sqlite-reader.js',
    import.meta.url,
  )
}
