/** The issues of a gateway: each open problem once, with its cause and the next step, from what the other rooms report. */

import { backgroundTimers, type CurrentLive, type ReloadEvent, type Timers } from '@reveille/engine'
import type { MintId } from '../store/id.ts'
import { pagesOf } from '../store/pages.ts'
import type { IssueRecord, Page, Reader, Store } from '../store/port.ts'
import { heartbeatTask, heartbeatWindowMs } from '../store/task-keys.ts'
import { type AlertOptions, createAlerts } from './alerts.ts'
import { createDriftWatch } from './drift.ts'
import { createEndpointWatch } from './endpoints.ts'
import { createLedger, type Ledger, type Problem } from './ledger.ts'
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
  /** True if a runner passes the main session's events on, so that none of them need wait for the timer. */
  readonly relays: (runner: string) => boolean
  /** True if this process resolves issues that are over, for all nodes. Default: it does. */
  readonly leads?: () => boolean
  /** The name of this process, where several share a store. */
  readonly node?: string
  /** Alerts a person. Default: nobody is alerted. */
  readonly alerts?: Pick<AlertOptions, 'send' | 'fetch' | 'mask'>
  /** Default: timers that do not keep the process alive. */
  readonly timers?: Timers
}

export type Issues = ReturnType<typeof createIssues>

/** The issues of earlier processes are read once a start is over, because the thread that reads takes memory and time. */
const firstSweepMs = 3000
const sweepMs = 60_000
/** Milliseconds between reads of issues that have been quiet for days. */
const defaultLoadMs = 21_600_000

export function createIssues(options: IssuesOptions) {
  const { store, current, log, now, node, timers = backgroundTimers, leads = () => true } = options
  const isShared = node !== undefined
  const files = isShared ? `files on ${node}` : 'files'
  const ledger = createLedger({ ...ledgerOptions(options), onFlushed: () => alerts?.changed() })
  const list = createList(ledger, store.read)
  const alerts = alertsOf(options, ledger, list)
  const silence = createSilenceWatch({ ledger, current, read: store.read, now, timers, leads, isShared })
  const work = createWorkWatch({ ledger, current, read: store.read, now, files, leads })
  const endpoints = createEndpointWatch({ ledger, onExpected: silence.seen })
  const drift = createDriftWatch(ledger)
  const refusals = createRefusalWatch({ ledger, read: store.read })
  const left = createLeftOpen(options, { ledger, work, silence, files, onLearned: () => alerts?.changed() })

  const sweeps = createSweeps({ timers, log }, async () => {
    await left.loadIfDue()
    endpoints.endHours(now())
    if (!leads()) return
    await work.sweep()
    await refusals.sweep()
  })

  function applySnapshot(): void {
    endpoints.keep(current().snapshot)
    drift.applied(current().snapshot)
    alerts?.changed()
    const onFailure = (err: unknown) => log.warn({ event: 'issues-not-read', err }, 'silence is not found')
    silence.apply().catch(onFailure)
  }

  return {
    /** Is called for each request once it is concluded. */
    requestConcluded(...[context, result, ms]: Parameters<typeof endpoints.concluded>): void {
      endpoints.concluded(context, result, ms)
      if (context.replay === undefined) refusals.concluded(context, result)
    },
    /** Is called for each request that the engine has decided about. */
    requestResolved: drift.sample,
    observer: work.observer,
    sourceChanged: work.sourceChanged,
    storeChanged: createStoreWatch(ledger).changed,
    reloaded(event: ReloadEvent): void {
      left.reloaded(event)
      work.reloaded(event)
      if (event.type === 'snapshot-swapped') applySnapshot()
    },

    /** Begins to follow silence, and to end what is over. */
    start(): void {
      sweeps.start()
      if (Object.values(current().snapshot.endpoints).some(({ expectEvery }) => expectEvery !== undefined))
        applySnapshot()
    },

    /** When an authenticated request came last to an endpoint that the configuration names, since the start. */
    seenAt: endpoints.seenAt,
    silences: silence.silences,
    tokenGuessed: (client: string) => ledger.note(tokenGuessing(client)),
    list,
    resolve: ledger.resolveManually,
    mute: ledger.mute,
    reopen: ledger.reopen,
    /** Writes what was found. */
    flush: ledger.flush,
    async close(): Promise<void> {
      sweeps.close()
      silence.close()
      await alerts?.close()
      await ledger.close()
    },
  }
}

interface LeftOpenParts {
  readonly ledger: Ledger
  readonly work: ReturnType<typeof createWorkWatch>
  readonly silence: ReturnType<typeof createSilenceWatch>
  readonly files: string
  readonly onLearned: () => void
}

/** Learns what earlier processes and other nodes left open, and ends of that what is over. */
function createLeftOpen({ store, now, node }: IssuesOptions, parts: LeftOpenParts) {
  const { ledger, work, silence, files, onLearned } = parts
  const isShared = node !== undefined
  let areFilesRefused = false
  let loadedAt = Number.NEGATIVE_INFINITY
  return {
    reloaded(event: ReloadEvent): void {
      if (event.type === 'candidate-rejected' && event.rollbackTo === undefined) areFilesRefused = true
      if (event.type === 'snapshot-swapped' || event.type === 'content-unchanged') areFilesRefused = false
    },
    /** Other nodes open and end issues too. */
    async loadIfDue(): Promise<void> {
      if (now() - loadedAt < (isShared ? sweepMs : defaultLoadMs)) return
      const isFirst = loadedAt === Number.NEGATIVE_INFINITY
      if (!isFirst || isShared || store.leftOpen.issues) await ledger.load()
      loadedAt = now()
      if (!areFilesRefused) ledger.resolve('RELOAD_REFUSED', files)
      work.endGone()
      await silence.apply()
      // Other nodes have found some, and a start has left some without an alert.
      if (isShared || isFirst) onLearned()
    },
  }
}

function alertsOf(options: IssuesOptions, ledger: Ledger, list: List) {
  const { store, current, log, now, timers = backgroundTimers, leads = () => true } = options
  return (
    options.alerts &&
    createAlerts({
      ...options.alerts,
      ...{ ledger, log, now, timers, leads },
      issues: () => allOf(list),
      change: (changes) => store.command({ type: 'issues', at: now(), changes }),
      settings: () => current().snapshot.settings.gateway.issues,
    })
  )
}

function ledgerOptions({ current, relays, timers = backgroundTimers, ...options }: IssuesOptions) {
  const settings = () => current().snapshot.settings
  return {
    ...options,
    timers,
    generation: () => current().generation,
    notifies: () => settings().gateway.issues.notify,
    heartbeatFor: (at: number) =>
      relays(settings().agents.defaults.runner) ? heartbeatTask(at + heartbeatWindowMs) : undefined,
  }
}

type List = (query?: Parameters<Reader['issues']>[0]) => Promise<Page<IssueRecord>>

/** Lists issues, with those first that could not be written yet; only those while the store cannot be read. */
function createList(ledger: Ledger, read: Pick<Reader, 'issues'>): List {
  return async (query = {}) => {
    const isFirst = query.cursor === undefined && (query.state ?? 'open') === 'open'
    const waiting = isFirst ? ledger.unwritten() : []
    if (waiting.length === 0) return read.issues(query)
    const page = await read.issues(query).catch(() => ({ items: [] as IssueRecord[] }))
    const written = new Set(page.items.map(({ key, state }) => `${key} ${state}`))
    return { ...page, items: [...waiting.filter(({ key }) => !written.has(`${key} open`)), ...page.items] }
  }
}

async function allOf(list: List): Promise<IssueRecord[]> {
  const all: IssueRecord[] = []
  for await (const issues of pagesOf(list)) all.push(...issues)
  return all
}

/** Calls `sweep` once the start is over, and then a while after each end. */
function createSweeps(
  { timers, log }: { readonly timers: Timers; readonly log: IssuesOptions['log'] },
  sweep: () => Promise<void>,
) {
  let timer: unknown
  let isClosed = false
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
  return {
    start: () => schedule(firstSweepMs),
    close(): void {
      isClosed = true
      timers.clearTimeout(timer)
    },
  }
}

function tokenGuessing(client: string): Problem {
  const describe = () => ({
    cause: `The client ${client} tried too many wrong gateway tokens, and has to wait.`,
    label:
      'If that is none of yours, find it in the log (event token-guessing) and block it at your proxy or firewall',
    command: 'reveille doctor',
  })
  return { code: 'TOKEN_GUESSING', subject: 'gateway.auth.token', describe }
}
