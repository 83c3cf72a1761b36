/**
 * Counts requests, runs and deliveries for the metrics, the plots and the list of mappings. Counting a request costs a few look-ups;
 * metrics are built only when they are read.
 */

import type { Snapshot } from '@reveille/engine'
import { type RequestOutcome, type RunUsage, requestOutcomes } from '../store/port.ts'
import { createHistogram } from './histogram.ts'
import { createSeries } from './series.ts'

export interface CountedRequest {
  readonly snapshot: Pick<Snapshot, 'endpoints' | 'mappings'>
  readonly endpoint: string | undefined
  readonly outcome: RequestOutcome
  readonly status: number
  readonly mapping: string | undefined
  /** From the head of the request to its reply, in milliseconds. */
  readonly ms: number
  /** From the head of the request to the decision, in milliseconds; absent without a decision. */
  readonly resolveMs: number | undefined
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

export interface MappingHits {
  readonly hits: number
  /** Milliseconds since the Unix epoch. */
  readonly lastAt: number
}

/** A count with its labels. */
export interface Counted<Labels> {
  readonly labels: Labels
  readonly count: number
}

export type Counters = ReturnType<typeof createCounters>

const outcomeIndexes = new Map<RequestOutcome, number>(
  requestOutcomes.map((outcome, index) => [outcome, index]),
)

/** Limits memory, because reloads may add names without end. */
const maxNames = 10_000

/** The label of endpoints that no policy and no mapping names. */
export const otherEndpoint = 'other'

export function createCounters(options: { now(): number; backlog(): number }) {
  const series = createSeries(options)
  const requests = createRequestCounter()
  const mappings = new Map<string, { hits: number; lastAt: number }>()
  const acceptHistogram = createHistogram()
  const commitHistogram = createHistogram()
  const oldTokens = createLabelledCounter<'list'>()
  const runs = createLabelledCounter<'kind' | 'state'>()
  const deliveries = createLabelledCounter<'channel' | 'state'>()
  const reloads = createLabelledCounter<'result'>()
  const tokens = createLabelledCounter<'model' | 'kind'>()
  const costs = createLabelledCounter<'model'>()
  let areFilesRefused = false

  return {
    /** Called once for each request that is recorded, after its reply. */
    noteRequest({ snapshot, endpoint, outcome, status, mapping, ms, resolveMs, at }: CountedRequest): void {
      const outcomeIndex = outcomeIndexes.get(outcome) as number
      requests.add(snapshot, endpoint, outcomeIndex, status)
      const isAccepted = outcome === 'accepted'
      series.noteRequest(at, outcomeIndex, isAccepted ? ms : undefined)
      if (isAccepted) {
        acceptHistogram.observe(ms)
        if (resolveMs !== undefined) commitHistogram.observe(ms - resolveMs)
      }
      if (mapping === undefined) return
      const entry = mappings.get(mapping)
      if (entry === undefined) {
        if (mappings.size < maxNames) mappings.set(mapping, { hits: 1, lastAt: at })
        return
      }
      entry.hits += 1
      entry.lastAt = at
    },
    /** A sender used a token or secret that is not the newest of its list. */
    noteOldToken: (list: string) => oldTokens.add({ list }),
    noteRunEnded(
      { kind, model = '' }: { readonly kind: string; readonly model?: string },
      state: string,
      usage: RunUsage = {},
    ): void {
      runs.add({ kind, state })
      const { inputTokens = 0, outputTokens = 0, cachedInputTokens = 0, usd = 0 } = usage
      if (inputTokens > 0) tokens.add({ model, kind: 'input' }, inputTokens)
      if (cachedInputTokens > 0) tokens.add({ model, kind: 'cached-input' }, cachedInputTokens)
      if (outputTokens > 0) tokens.add({ model, kind: 'output' }, outputTokens)
      if (usd > 0) costs.add({ model }, usd)
      series.noteWork(inputTokens + outputTokens, usd)
    },
    noteDeliveryEnded(channel: string, state: string): void {
      deliveries.add({ channel, state })
      series.noteWork()
    },
    /**
     * After `refused`, the metrics report that the files do not load, until another result is noted. `isOfFiles`: false for a rollback,
     * which says nothing about the files.
     */
    noteReload(result: 'applied' | 'refused' | 'unchanged', isOfFiles = true): void {
      reloads.add({ result })
      if (isOfFiles) areFilesRefused = result === 'refused'
    },
    /** Number and time of the last match of each mapping since the start, by its id. */
    mappingHits: (): ReadonlyMap<string, MappingHits> => mappings,
    hitsOf: (mapping: string): number => mappings.get(mapping)?.hits ?? 0,
    countsOf: requests.countsOf,
    series: series.read,
    /** Everything for the metrics. */
    read: () => ({
      requests: requests.read(),
      acceptMs: acceptHistogram.read(),
      commitMs: commitHistogram.read(),
      oldTokens: oldTokens.read(),
      runs: runs.read(),
      deliveries: deliveries.read(),
      reloads: reloads.read(),
      tokens: tokens.read(),
      costs: costs.read(),
      areFilesRefused,
    }),
  }
}

/** Counts requests by endpoint, outcome and status; the last two are one number. */
function createRequestCounter() {
  const requests = new Map<string, Map<number, { count: number }>>()
  let countedSnapshot: Pick<Snapshot, 'endpoints' | 'mappings'> | undefined
  let names: ReadonlySet<string> = new Set()

  function labelOf(snapshot: CountedRequest['snapshot'], endpoint = ''): string {
    if (snapshot !== countedSnapshot) {
      countedSnapshot = snapshot
      names = namesIn(snapshot)
    }
    return names.has(endpoint) ? endpoint : otherEndpoint
  }

  function cellOf(label: string, key: number): { count: number } {
    let cells = requests.get(label)
    if (cells === undefined) {
      if (requests.size >= maxNames && label !== otherEndpoint) return cellOf(otherEndpoint, key)
      cells = new Map()
      requests.set(label, cells)
    }
    let cell = cells.get(key)
    if (cell === undefined) {
      cell = { count: 0 }
      cells.set(key, cell)
    }
    return cell
  }

  return {
    add(
      snapshot: CountedRequest['snapshot'],
      endpoint: string | undefined,
      outcomeIndex: number,
      status: number,
    ): void {
      cellOf(labelOf(snapshot, endpoint), outcomeIndex * 1000 + status).count += 1
    },
    /** The requests of an endpoint by outcome; all zero for one that no policy and no mapping names. */
    countsOf(endpoint: string): Readonly<Record<RequestOutcome, number>> {
      const counts = Object.fromEntries(requestOutcomes.map((outcome) => [outcome, 0])) as Record<
        RequestOutcome,
        number
      >
      for (const [key, { count }] of requests.get(endpoint) ?? []) counts[outcomeIn(key)] += count
      return counts
    },
    read: () =>
      [...requests].flatMap(([endpoint, cells]) =>
        [...cells].map(([key, { count }]) => ({
          labels: {
            endpoint,
            outcome: outcomeIn(key),
            status: String(key % 1000),
          },
          count,
        })),
      ),
  }
}

/** The outcome in the key of a cell, which is 1000 times its index plus the status. */
const outcomeIn = (key: number) => requestOutcomes[Math.floor(key / 1000)] as RequestOutcome

/** The endpoints that policies and mappings name exactly. Senders choose the names that a path with parameters covers. */
function namesIn({ endpoints, mappings }: Pick<Snapshot, 'endpoints' | 'mappings'>): ReadonlySet<string> {
  const paths = mappings.flatMap(({ path }) => (path === undefined ? [] : [path]))
  const exact = [...Object.keys(endpoints), ...paths].filter((name) => !/(^|\/):/.test(name))
  return new Set(['wake', 'agent', ...exact])
}

/** Counts by labels, for events that are far rarer than requests. */
function createLabelledCounter<Name extends string>() {
  const cells = new Map<string, { readonly labels: Readonly<Record<Name, string>>; count: number }>()
  return {
    add(labels: Readonly<Record<Name, string>>, amount = 1): void {
      const key = JSON.stringify(labels)
      const cell = cells.get(key)
      if (cell !== undefined) cell.count += amount
      else if (cells.size < maxNames) cells.set(key, { labels, count: amount })
    },
    read: (): readonly Counted<Readonly<Record<Name, string>>>[] => [...cells.values()],
  }
}
