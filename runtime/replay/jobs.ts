/**
 * Performs replay jobs: many stored requests, repeated by a durable list. An item gets the id of its replay before it is performed and
 * keeps it for good, so that one that was under way when the process ended is looked up and not repeated twice.
 *
 *   begin() or start() -> next items -> perform -> settle -> next items ... until the store ends the job
 */

import type { Timers } from '@reveille/engine'
import { pause } from '../pause.ts'
import type { MintId } from '../store/id.ts'
import { pagesOf } from '../store/pages.ts'
import {
  type Id,
  type ReplayJob,
  type RequestFilters,
  type RequestOutcome,
  type RequestRecord,
  type Store,
  StoreError,
} from '../store/port.ts'
import { isOfGateway, isSendersFault, type Replays } from './replays.ts'

/** Number of items performed at a time. They share commits. */
const concurrency = 16
/** Minimum time per batch, so that a job leaves room for senders. Milliseconds. */
const paceMs = 100
/** Milliseconds that a job waits while the gateway accepts nothing. */
const retryMs = 1_000
/** Number of requests read, and of items added, at a time. */
const stride = 500

export interface ReplayJobsOptions {
  readonly store: Store
  readonly replays: Pick<Replays, 'perform'>
  readonly mintId: MintId
  readonly now: () => number
  readonly timers: Timers
  readonly log: { info(facts: object): void; error(facts: object, message: string): void }
  /** Maximum number of queued runs and unsent deliveries. A job fills half of that. */
  readonly backlog: () => number
  /** Aborted when the gateway begins to drain. */
  readonly draining: AbortSignal
  /** True if this process performs the jobs of all nodes. Default: it does. */
  leads?(): boolean
  /** Milliseconds between searches for jobs that other processes have begun. Default: there are no others. */
  readonly lookMs?: number
}

/** Options of the replays of a job. */
export interface JobOptions {
  readonly deliverAgain?: boolean
  /** Names the order: one that is given again begins no second job. */
  readonly key?: string
}

type Item = { readonly request: Id; readonly replay: Id }

interface Settled {
  readonly request: Id
  readonly state: 'done' | 'failed' | 'skipped'
  readonly reason?: string
}

export type ReplayJobs = ReturnType<typeof createReplayJobs>

export function createReplayJobs(options: ReplayJobsOptions) {
  const { store, mintId, now, timers, log, draining, lookMs, leads = () => true } = options
  const { read } = store
  const perform = createItemPerformer(options)
  let running: Promise<void> | undefined
  /** A job was begun, perhaps after the runner found that there was none. */
  let isAsked = false
  let looking: unknown

  function wake(): void {
    if (draining.aborted || !leads()) return
    timers.clearTimeout(looking)
    isAsked = true
    running ??= run().finally(() => {
      running = undefined
      if (isAsked) wake()
      else if (lookMs !== undefined && !draining.aborted) looking = timers.setTimeout(wake, lookMs)
    })
  }

  /** Never rejects. */
  async function run(): Promise<void> {
    while (!draining.aborted) {
      isAsked = false
      if (!leads()) return
      try {
        const job = (await read.jobs({ state: 'running', limit: stride })).items.at(-1)
        // Another process may lead since the question was asked.
        if (job === undefined || !leads()) return
        await performSome(options, perform, job)
      } catch (error) {
        // The store says itself that it cannot read or write.
        if (!(error instanceof StoreError))
          log.error({ event: 'replay-job-faulted', err: error }, 'a replay job failed unexpectedly')
        await rest(options, retryMs)
      }
    }
  }

  return {
    /** Goes on with the jobs that an earlier process or another node left. */
    start(): void {
      if (store.leftOpen.replayJobs || lookMs !== undefined) wake()
    },

    /** Chooses the requests of a filter, one of each family, the oldest first. */
    choose: (filter: RequestFilters, isWanted?: () => boolean) => chosenBy(read, filter, isWanted),

    /** Begins a job, or finds the one that was begun with the same key. Its items are on the disk when this resolves. */
    async begin(ids: readonly Id[], filter: RequestFilters, terms: JobOptions, by?: string): Promise<Id> {
      const job = { id: mintId(), filter, options: terms, createdAt: now(), ...(by !== undefined && { by }) }
      let from = 0
      do {
        const items = ids.slice(from, from + stride)
        from += stride
        const more = from < ids.length && { more: true as const }
        const { job: same } = await store.command({ type: 'job-begin', job, items, ...more })
        if (same !== undefined) return same
      } while (from < ids.length)
      log.info({ event: 'replay-job-begun', jobId: job.id, total: ids.length, by })
      wake()
      return job.id
    },

    /** Resolves when what is under way is settled. The gateway drains by then. */
    async close(): Promise<void> {
      timers.clearTimeout(looking)
      isAsked = false
      await running
    },
  }
}

/** Performs the next items of a job, and waits where it has none yet or none can be taken. */
async function performSome(
  options: ReplayJobsOptions,
  perform: ReturnType<typeof createItemPerformer>,
  job: ReplayJob,
): Promise<void> {
  const { store, now, mintId } = options
  const { writable, backlog } = store.health()
  if (!writable || backlog * 2 > options.backlog()) return rest(options, retryMs)
  const began = now()
  const mint = Array.from({ length: concurrency }, () => mintId())
  const { items = [] } = await store.command({ type: 'job-next', job: job.id, limit: concurrency, mint })
  // A job whose items are still being added has none to hand out.
  if (items.length === 0) return rest(options, retryMs)
  const isNew = new Set(mint)
  const terms = { ...(job.options as JobOptions), by: job.by }
  const results = await Promise.all(items.map((item) => perform(item, terms, isNew.has(item.replay))))
  const settled = results.filter((result) => result !== undefined)
  await settle(options, job.id, settled)
  const took = now() - began
  await rest(options, settled.length < items.length ? retryMs : Math.max(0, paceMs - took))
}

function rest({ draining, timers }: ReplayJobsOptions, ms: number): Promise<void> {
  return pause(ms, [draining], timers)
}

/** The ids of the matching requests that can be replayed, the oldest first. Ends early, with fewer, once nobody wants them any more. */
async function chosenBy(
  read: Store['read'],
  filter: RequestFilters,
  isWanted: () => boolean = () => true,
): Promise<readonly Id[]> {
  // An original stands for its replays, and otherwise the newest of them.
  const chosen = new Map<Id, Id>()
  for await (const records of pagesOf((page) => read.requests({ ...filter, ...page }), stride)) {
    for (const record of records) {
      const { id, outcome, replayOf } = record
      if (outcome === 'handshake' || isSendersFault(record)) continue
      if (replayOf === undefined) chosen.set(id, id)
      else if (!chosen.has(replayOf)) chosen.set(replayOf, id)
    }
    if (!isWanted()) break
  }
  return [...chosen.values()].sort()
}

/** A request of which nothing came again counts as skipped. */
function fateOf(
  outcome: RequestOutcome,
  { code, reason }: Pick<RequestRecord, 'code' | 'reason'>,
): Pick<Settled, 'state' | 'reason'> {
  if (outcome === 'accepted') return { state: 'done' }
  const state = outcome === 'failed' || outcome === 'refused' ? 'failed' : 'skipped'
  return { state, reason: [code ?? outcome, reason].filter(Boolean).join(': ') }
}

async function settle(
  { store, now, log }: ReplayJobsOptions,
  job: Id,
  items: readonly Settled[],
): Promise<void> {
  if (items.length === 0) return
  await store.command({ type: 'job-settle', job, at: now(), items })
  const after = await store.read.job(job)
  if (after === undefined || after.state === 'running') return
  const { state, total, done, failed, skipped } = after
  log.info({ event: 'replay-job-ended', jobId: job, state, total, done, failed, skipped })
}

function createItemPerformer({ store: { read }, replays, log }: ReplayJobsOptions) {
  /** Undefined where the gateway cannot take it now, so that the item stays open. */
  return async function perform(
    item: Item,
    terms: JobOptions & Pick<ReplayJob, 'by'>,
    isNew: boolean,
  ): Promise<Settled | undefined> {
    const { request, replay: requestId } = item
    // Only its replay shows that an item of an earlier process was performed.
    const stored = isNew ? undefined : await read.request(requestId)
    if (stored !== undefined) return { request, ...fateOf(stored.outcome, stored) }
    try {
      const answer = await replays.perform(request, { ...terms, requestId, onlyUndone: true })
      if (!answer.ok && isOfGateway(answer.code)) return undefined
      if (!answer.ok) return { request, state: 'skipped', reason: `${answer.code}: ${answer.sentence}` }
      return { request, ...fateOf(answer.outcome, answer) }
    } catch (error) {
      if (error instanceof StoreError) return undefined
      log.error({ event: 'replay-job-faulted', err: error }, 'a replay of a job failed unexpectedly')
      return { request, state: 'failed', reason: 'INTERNAL: the gateway failed; its log says why' }
    }
  }
}
