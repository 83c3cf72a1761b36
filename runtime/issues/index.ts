/** The issues of a gateway: each open problem once, with its cause and the next step, from what the other rooms report. */

import { backgroundTimers, type CurrentLive, type ReloadEvent, type Timers } from '@reveille/engine'
import type { SourceState } from '../sources/index.ts'
import type { MintId } from '../store/id.ts'
import type { IssueRecord, Page, Store } from '../store/port.ts'
import { heartbeatTask, heartbeatWindowMs } from '../store/task-keys.ts'
import { type AlertOptions, createAlerts } from './alerts.ts'
import { createDriftWatch } from './drift.ts'
import { createEndpointWatch } from './endpoints.ts'
import { createLedger } from './ledger.ts'
import { createRefusalWatch } from './refusals.ts'
import { createSilenceWatch } from './silence.ts'
import { createStoreWatch } from './store.ts'
import { createWorkWatch } from './work.ts'

export { type IssueCode, type IssueCodeRow, issueCodes, renderIssueTable } from './codes.ts'
export type { Silence } from './silence.ts'

export interface IssuesOptions {
  readonly store: Pick<Store, 'command' | 'read' | 'leftOpen'>
  readonly current: CurrentLive
  readonly log: { warn(facts: object, message?: string): void }
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  readonly mintId: MintId
  /** Whether a runner passes the main session's events on, so that none of them need wait for the timer. */
  readonly relays: (runner: string) => boolean
  /** Whether this process ends what is over, for all nodes. Default: it does. */
  readonly leads?: () => boolean
  /** The name of this process, where several share a store. */
  readonly node?: string
  /** Returns the states of the sources, from memory. */
  readonly sources: () => readonly SourceState[]
  /** How a person is told. Default: nobody is. */
  readonly alerts?: Pick<AlertOptions, 'send' | 'fetch' | 'mask'>
  /** Default: timers that do not keep the process alive. */
  readonly timers?: Timers
}

export type Issues = ReturnType<typeof createIssues>

/** The issues of earlier processes are read once a start is over, because the thread that reads takes memory and time. */
const loadAfterMs = 3000
const sweepMs = 60_000
/** How often the store is asked for issues that have been quiet for days. Milliseconds. */
const usualReloadMs = 21_600_000

export function createIssues(options: IssuesOptions) {
  const { store, current, log, now, mintId, node, timers = backgroundTimers, leads = () => true } = options
  // What other nodes have opened and ended is learned by asking, too.
  const reloadMs = node === undefined ? usualReloadMs : sweepMs
  const files = node === undefined ? 'files' : `files on ${node}`
  const mainRunner = () => current().snapshot.settings.agents.defaults.runner
  const ledger = createLedger({
    store,
    log,
    now,
    timers,
    mintId,
    generation: () => current().generation,
    notifies: () => current().snapshot.settings.gateway.issues.notify,
    onFlushed: () => alerts?.changed(),
    heartbeatFor: (at) => (options.relays(mainRunner()) ? heartbeatTask(at + heartbeatWindowMs) : undefined),
  })
  const isShared = node !== undefined
  const silence = createSilenceWatch({
    ledger,
    current,
    read: store.read,
    now,
    timers,
    leads,
    isShared,
  })
  const work = createWorkWatch({ ledger, current, read: store.read, now, files, leads })
  const endpoints = createEndpointWatch({ ledger, onExpected: silence.seen })
  const refusals = createRefusalWatch({ ledger, read: store.read })
  const drift = createDriftWatch(ledger)
  const storeWatch = createStoreWatch(ledger)
  const alerts =
    options.alerts &&
    createAlerts({
      ...options.alerts,
      ...{ ledger, log, now, timers, leads },
      issues: allIssues,
      change: (changes) => store.command({ type: 'issues', at: now(), changes }),
      settings: () => current().snapshot.settings.gateway.issues,
    })
  let areFilesRefused = false
  let loadedAt = Number.NEGATIVE_INFINITY
  let timer: unknown
  let isFirstSweep = true
  let isClosed = false

  /** Lists issues, with those first that could not be written yet; only those while the store cannot be read. */
  async function list(query: Parameters<Store['read']['issues']>[0] = {}): Promise<Page<IssueRecord>> {
    const isFirst = query.cursor === undefined && (query.state ?? 'open') === 'open'
    const waiting = isFirst ? ledger.unwritten() : []
    if (waiting.length === 0) return store.read.issues(query)
    const page = await store.read.issues(query).catch(() => ({ items: [] as IssueRecord[] }))
    const written = new Set(page.items.map(({ key, state }) => `${key} ${state}`))
    return { ...page, items: [...waiting.filter(({ key }) => !written.has(`${key} open`)), ...page.items] }
  }

  async function allIssues(): Promise<IssueRecord[]> {
    const all: IssueRecord[] = []
    let cursor: string | undefined
    do {
      const page = await list({ limit: 500, ...(cursor !== undefined && { cursor }) })
      all.push(...page.items)
      cursor = page.next
    } while (cursor !== undefined)
    return all
  }

  /** Ends what earlier processes left open and is over, and what ends without an event. */
  async function sweep(): Promise<void> {
    if (now() - loadedAt >= reloadMs) {
      const isFirst = loadedAt === Number.NEGATIVE_INFINITY
      if (!isFirst || isShared || store.leftOpen.issues) await ledger.load()
      loadedAt = now()
      if (!areFilesRefused) ledger.resolve('RELOAD_REFUSED', files)
      for (const { source, state } of options.sources())
        if (state === 'working') ledger.resolve('SOURCE_STOPPED', source)
      work.endGone()
      await silence.apply()
    }
    endpoints.endHours(now())
    if (!leads()) return
    await work.sweep()
    await refusals.sweep()
    // Other nodes have found some, and a start has left some untold.
    if (isShared || isFirstSweep) alerts?.changed()
    isFirstSweep = false
  }

  function schedule(ms: number): void {
    if (isClosed) return
    timer = timers.setTimeout(() => {
      sweep()
        .catch((error) =>
          log.warn({ event: 'issues-not-read', err: error }, 'open issues will be read later'),
        )
        .finally(() => schedule(sweepMs))
    }, ms)
  }

  function applySnapshot(): void {
    endpoints.keep(current().snapshot)
    alerts?.changed()
    silence
      .apply()
      .catch((error) => log.warn({ event: 'issues-not-read', err: error }, 'silence is not found'))
  }

  return {
    /** Is called for each request once it is concluded. */
    requestConcluded(...concluded: Parameters<typeof endpoints.concluded>): void {
      endpoints.concluded(...concluded)
      const [context, result] = concluded
      if (context.replay === undefined) refusals.concluded(context, result)
    },
    /** Is called for each request that the engine has decided about. */
    requestResolved: drift.sample,
    observer: work.observer,
    sourceChanged: work.sourceChanged,
    storeChanged: storeWatch.changed,
    reloaded(event: ReloadEvent): void {
      if (event.type === 'candidate-rejected' && event.rollbackTo === undefined) areFilesRefused = true
      if (event.type === 'snapshot-swapped' || event.type === 'content-unchanged') areFilesRefused = false
      work.reloaded(event)
      if (event.type === 'snapshot-swapped') applySnapshot()
    },

    /** Begins to follow silence, and to end what is over. */
    start(): void {
      schedule(loadAfterMs)
      if (Object.values(current().snapshot.endpoints).some(({ expectEvery }) => expectEvery !== undefined))
        applySnapshot()
    },

    /** When an authenticated request came last to an endpoint that the configuration names, since the start. */
    seenAt: endpoints.seenAt,
    silences: silence.silences,
    tokenGuessed: (client: string) =>
      ledger.note({
        code: 'TOKEN_GUESSING',
        subject: 'gateway.auth.token',
        describe: () => ({
          cause: `The client ${client} tried too many wrong gateway tokens, and has to wait.`,
          next: {
            label:
              'If that is none of yours, find it in the log (event token-guessing) and block it at your proxy or firewall',
            command: 'reveille doctor',
          },
        }),
      }),
    list,
    resolve: ledger.resolveByHand,
    mute: ledger.mute,
    reopen: ledger.reopen,
    /** Writes what was found. */
    flush: ledger.flush,
    async close(): Promise<void> {
      isClosed = true
      timers.clearTimeout(timer)
      silence.close()
      await alerts?.close()
      await ledger.close()
    },
  }
}
