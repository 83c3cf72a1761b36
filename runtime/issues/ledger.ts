/**
 * Keeps the open issues: collects what is counted and what is over, and writes it to the store in one command a second. The
 * store has the record; this remembers only which keys are open, so that nothing is written for what was never a problem.
 */

import type { Timers } from '@reveille/engine'
import { cut } from '../cut.ts'
import { ownEvent } from '../session/summary.ts'
import { dayOf } from '../store/day.ts'
import type { MintId } from '../store/id.ts'
import { pagesOf } from '../store/pages.ts'
import type { CommandResult, IssueChange, IssueRecord, NewTask, NextStep, Store } from '../store/port.ts'
import { type IssueCode, issueCodes, keyOf, partsOf, quietMs } from './codes.ts'

/** One occurrence of a problem. */
export interface Problem {
  readonly code: IssueCode
  readonly subject: string
  /** Is called once for each batch, for its newest occurrence. */
  readonly describe: () => Description
  /** Number of occurrences. Default: 1. */
  readonly count?: number
  /** The main session gets no event, because the problem is its own. */
  readonly isSilent?: boolean
}

/** A cause with the next step. */
export interface Description extends NextStep {
  /** One sentence. It may show what a sender sent, shortened and without secrets; the main session never sees it. */
  readonly cause: string
}

export interface LedgerOptions {
  readonly store: Pick<Store, 'command' | 'read'>
  readonly log: { warn(facts: object, message?: string): void }
  readonly now: () => number
  readonly timers: Timers
  readonly mintId: MintId
  readonly generation: () => number
  /** True if the main session gets events. */
  readonly notifies: () => boolean
  /** Called after each try to write what was collected. */
  readonly onFlushed?: () => void
  /** The task that goes with an event, where the main session's runner passes events on at once. */
  readonly heartbeatFor: (at: number) => NewTask | undefined
}

export type Ledger = ReturnType<typeof createLedger>

interface Pending {
  /** When it was counted last, or found to be over. */
  at: number
  problem?: Problem
  count: number
  /** It is over, after what was counted. */
  isOver: boolean
}

type Batch = ReadonlyMap<string, Pending>

const flushMs = 1000
const retryMs = 5000
/** The number of issues that may wait to be written. Over it new ones are dropped until the store can write again. */
const maxPending = 500
/** Maximum number of events about issues that the main session gets in one day from one process. */
const maxEvents = 20
/** Longer subjects are cut; an operator chose them. */
const maxSubject = 200
const maxCause = 500

export function createLedger(options: LedgerOptions) {
  const { store, now } = options
  const events = createEvents(options)
  const keys = createKeys(now)
  const writer = createWriter(options, events, keys)

  /** Ends an issue, if it is open. */
  function resolve(code: IssueCode, subject: string): void {
    const key = keyOf(code, subject)
    if (!keys.open.delete(key)) return
    const waiting = writer.pending(key)
    if (waiting) waiting.isOver = true
    else writer.add(key, { at: now(), count: 0, isOver: true })
  }

  async function command(change: IssueChange): Promise<CommandResult> {
    await writer.flush()
    return store
      .command({ type: 'issues', at: now(), changes: [change] })
      .finally(() => options.onFlushed?.())
  }

  return {
    /** Counts one occurrence. Costs a map look-up; everything else is done once a second. */
    note(problem: Problem): void {
      const key = keyOf(problem.code, problem.subject)
      const { count = 1 } = problem
      const waiting = writer.pending(key)
      if (waiting !== undefined)
        Object.assign(waiting, { at: now(), problem, count: waiting.count + count, isOver: false })
      else if (!writer.add(key, { at: now(), problem, count, isOver: false })) return
      if (!keys.isMuted(key)) keys.open.add(key)
    },

    resolve,
    isOpen: (code: IssueCode, subject: string) => keys.open.has(keyOf(code, subject)),
    /** The open issues of this version's codes. */
    open: () => [...keys.open].flatMap((key) => partsOf(key) ?? []),

    /** Learns which issues earlier processes left open, and ends those that have been quiet for long. */
    async load(): Promise<void> {
      await writer.flush()
      const before = keys.all().filter((key) => writer.pending(key) === undefined)
      const found = new Set<string>()
      for (const state of ['open', 'muted'] as const)
        for await (const records of pagesOf((page) => store.read.issues({ state, ...page })))
          for (const record of records) {
            found.add(record.key)
            if (learn(record, events, keys) < now() - quietMs)
              resolve(record.code as IssueCode, record.subject)
          }
      // Another process has ended the rest.
      for (const key of before) if (!found.has(key)) keys.forget(key)
    },

    flush: writer.flush,

    /** The open issues that are not in the store yet, or not as they are now. */
    unwritten: () =>
      writer.all().flatMap(([key, pending]) => (keys.isMuted(key) ? [] : unwrittenOf(key, pending))),

    resolveManually(key: string): Promise<CommandResult> {
      keys.forget(key)
      return command({ key, resolve: true })
    },
    /** An operator wants no more alerts about it, until then or permanently. */
    mute(key: string, until: number | null): Promise<CommandResult> {
      keys.mute(key, until)
      return command({ key, mute: until })
    },
    reopen(key: string): Promise<CommandResult> {
      keys.forget(key)
      keys.open.add(key)
      return command({ key, reopen: true })
    },

    close: writer.close,
  }
}

type Events = ReturnType<typeof createEvents>
type Keys = ReturnType<typeof createKeys>

function changesOf(
  [key, { at: last, problem, count, isOver }]: [string, Pending],
  at: number,
  events: Events,
  keys: Keys,
): IssueChange[] {
  const over: IssueChange[] = isOver ? [{ key, resolve: true }] : []
  if (problem === undefined) return over
  const report = !isOver && !keys.isMuted(key) && events.of(key, problem, at)
  return [{ ...recordOf(key, problem), count, last, ...(report && { report }) }, ...over]
}

/** Returns when an issue that ends quietly was seen last; never, for any other. */
function learn(
  { key, code, state, last, mutedUntil, reportedOn }: IssueRecord,
  events: Events,
  keys: Keys,
): number {
  if (reportedOn !== undefined) events.reported(key, reportedOn)
  if (state === 'open') keys.open.add(key)
  else keys.mute(key, mutedUntil)
  const row = state === 'open' && partsOf(key) ? issueCodes[code as IssueCode] : undefined
  return row === undefined || row.isLasting ? Number.POSITIVE_INFINITY : last
}

function unwrittenOf(key: string, { at, problem, count, isOver }: Pending): IssueRecord[] {
  if (problem === undefined || isOver) return []
  const times = { count: Math.max(1, count), first: at, last: at, state: 'open' as const }
  return [{ ...recordOf(key, problem), ...times }]
}

/** Remembers which keys are open and which are muted. */
function createKeys(now: () => number) {
  const open = new Set<string>()
  /** Until when, by key. */
  const muted = new Map<string, number>()
  return {
    open,
    all: () => [...open, ...muted.keys()],
    isMuted(key: string): boolean {
      const until = muted.get(key)
      if (until === undefined) return false
      if (now() < until) return true
      muted.delete(key)
      return false
    },
    mute(key: string, until: number | null | undefined): void {
      open.delete(key)
      muted.set(key, until ?? Number.POSITIVE_INFINITY)
    },
    forget(key: string): void {
      open.delete(key)
      muted.delete(key)
    },
  }
}

/** Collects changes, and writes them a second later. A failed write is tried again. */
function createWriter({ store, log, now, timers, onFlushed }: LedgerOptions, events: Events, keys: Keys) {
  let pending = new Map<string, Pending>()
  /** The batch being written. */
  let sent: Batch = new Map()
  let writing: Promise<void> | undefined
  let timer: unknown
  let hasFailed = false
  let isClosed = false

  function schedule(ms: number): void {
    if (timer !== undefined || isClosed) return
    timer = timers.setTimeout(() => {
      timer = undefined
      void flush()
    }, ms)
  }

  /** Never rejects. */
  async function flush(): Promise<void> {
    while (writing !== undefined) await writing
    if (pending.size === 0) return
    sent = pending
    pending = new Map()
    writing = write().finally(() => {
      writing = undefined
      sent = new Map()
      onFlushed?.()
    })
    await writing
  }

  async function write(): Promise<void> {
    const at = now()
    try {
      const changes = [...sent].flatMap((each) => changesOf(each, at, events, keys))
      await store.command({ type: 'issues', at, changes })
      hasFailed = false
      for (const change of changes)
        if ('report' in change && change.report) events.reported(change.key, change.report.day)
    } catch (error) {
      if (!hasFailed) log.warn({ event: 'issues-not-kept', err: error }, 'open issues will be written later')
      hasFailed = true
      const later = pending
      pending = new Map(sent)
      for (const [key, each] of later) {
        const before = pending.get(key)
        pending.set(key, { ...before, ...each, count: (before?.count ?? 0) + each.count })
      }
      schedule(retryMs)
    }
  }

  return {
    flush,
    pending: (key: string) => pending.get(key),
    all: () => [...sent, ...pending],
    /** Returns false if too much waits already. */
    add(key: string, each: Pending): boolean {
      if (each.problem !== undefined && pending.size >= maxPending) return false
      pending.set(key, each)
      schedule(flushMs)
      return true
    },
    /** Writes what is left. */
    async close(): Promise<void> {
      isClosed = true
      timers.clearTimeout(timer)
      await flush()
    },
  }
}

/** Makes the events of the main session about issues: each once a day. */
function createEvents({ mintId, generation, notifies, heartbeatFor }: LedgerOptions) {
  const reportedOn = new Map<string, string>()
  let today = { day: '', count: 0 }
  return {
    reported: (key: string, day: string) => void reportedOn.set(key, day),
    /** Returns the event that goes with an occurrence, if there is to be one. */
    of(key: string, { code, subject, isSilent }: Problem, at: number) {
      const day = dayOf(at)
      const { isReported = true, title } = issueCodes[code]
      if (!isReported || isSilent || !notifies() || reportedOn.get(key) === day) return undefined
      if (today.day !== day) today = { day, count: 0 }
      if (today.count >= maxEvents) return undefined
      today.count += 1
      const text = `An issue has opened: ${title} (${code}, ${cut(subject, maxSubject)}). Its cause and the next step: \`reveille issues\`.`
      const event = ownEvent({ generation: generation() }, text, { id: mintId(), at, issue: key })
      const task = heartbeatFor(at)
      return { event, day, ...(task && { task }) }
    },
  }
}

function recordOf(key: string, { code, subject, describe }: Problem) {
  const { cause, ...next } = describe()
  const { severity } = issueCodes[code]
  return { key, code, severity, subject: cut(subject, maxSubject), cause: cut(cause, maxCause), next }
}

/** Returns a reason without its full stop, as the middle of a sentence. */
export function withoutFullStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}
