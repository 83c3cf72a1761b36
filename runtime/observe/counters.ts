/**
 * Counts requests, runs and deliveries for the metrics, the plots and the list of mappings. Counting a request costs a few look-ups;
 * metrics are built only when they are read.
 */

import type { Snapshot } from '@reveille/engine'
import { namesIn } from '../configured-names.ts'
import type { RequestOutcome, RunUsage } from '../store/port.ts'
import { createHistogram } from './histogram.ts'
import { createSeries, noOutcomes } from './series.ts'

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

export type Counters = ReturnType<typeof createCounters>

/** Limits memory, because reloads may add names without end. */
const maxCells = 100_000

/** The label of endpoints that no policy and no mapping names. */
const otherEndpoint = 'other'

export function createCounters(options: { now(): number; backlog(): number }) {
  const series = createSeries(options)
  const requests = createLabelledCounter<'endpoint' | 'outcome' | 'status'>()
  const mappings = createLabelledCounter<'mapping'>()
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
    noteRequest(request: CountedRequest): void {
      const { snapshot, endpoint = '', outcome, status, mapping, ms, resolveMs, at } = request
      // Senders choose the names that a path with parameters covers.
      const label = namesIn(snapshot).exact.has(endpoint) ? endpoint : otherEndpoint
      requests.add({ endpoint: label, outcome, status: String(status) })
      if (mapping !== undefined) mappings.add({ mapping })
      const isAccepted = outcome === 'accepted'
      series.noteRequest(at, outcome, isAccepted ? ms : undefined)
      if (!isAccepted) return
      acceptHistogram.observe(ms)
      if (resolveMs !== undefined) commitHistogram.observe(ms - resolveMs)
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
    /** The requests since the start that a mapping decided. */
    hitsOf: (mapping: string): number => mappings.countOf({ mapping }),

    /** The requests of each endpoint by outcome. Absent: an endpoint without requests. */
    countsByEndpoint: () => byEndpoint(requests.read()),

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

interface RequestCount {
  readonly labels: Readonly<Record<'endpoint' | 'outcome', string>>
  readonly count: number
}

function byEndpoint(all: readonly RequestCount[]): ReadonlyMap<string, Record<RequestOutcome, number>> {
  const counts = new Map<string, Record<RequestOutcome, number>>()
  for (const { labels, count } of all) {
    const ofEndpoint = counts.get(labels.endpoint) ?? noOutcomes()
    ofEndpoint[labels.outcome as RequestOutcome] += count
    counts.set(labels.endpoint, ofEndpoint)
  }
  return counts
}

function createLabelledCounter<Name extends string>() {
  type Labels = Readonly<Record<Name, string>>
  const cells = new Map<string, { readonly labels: Labels; count: number }>()
  return {
    add(labels: Labels, amount = 1): void {
      const key = JSON.stringify(labels)
      const cell = cells.get(key)
      if (cell !== undefined) cell.count += amount
      else if (cells.size < maxCells) cells.set(key, { labels, count: amount })
    },

    countOf: (labels: Labels): number => cells.get(JSON.stringify(labels))?.count ?? 0,
    read: () => [...cells.values()],
  }
}
