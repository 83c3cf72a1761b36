/**
 * Keeps the open issues: collects what is counted and what is over, and writes it to the store in one command a second. The
 * store has the record; this remembers only which keys are open, so that nothing is written for what was never a problem.
 */

import type { Timers } from '@reveille/engine'
import { cut } from '../cut.ts'
import { ownEvent } from '../session/summary.ts'
import { dayOf } from '../store/day.ts'
import type { MintId } from '../store/id.ts'
import type { CommandResult, IssueChange, IssueRecord, NewTask, NextStep, Store } from '../store/port.ts'
import { type IssueCode, issueCodes, keyOf, partsOf, quietMs } from './codes.ts'

/** One occurrence of a problem. */
export interface Problem {
  readonly code: IssueCode
  readonly subject: string
  /** Is called once for each batch, for its newest occurrence. */
  readonly describe: () => Description
  /** How many occurrences these are. Default: 1. */
  readonly count?: number
  /** The main session gets no event, because the problem is its own. */
  readonly isSilent?: boolean
}

export interface Description {
  /** One sentence. It may show what a sender sent, shortened and without secrets; the main session never sees it. */
  readonly cause: string
  readonly next: NextStep
}

export interface LedgerOptions {
  readonly store: Pick<Store, 'command' | 'read'>
  readonly log: { warn(facts: object, message?: string): void }
  readonly now: () => number
  readonly timers: Timers
  readonly mintId: MintId
  readonly generation: () => number
  /** Whether the main session gets events. */
  readonly notifies: () => boolean
  /** Called after each try to write what was collected. */
  readonly onFlushed?: () => void
  /** The task that goes with an event, where the main session's runner passes events on at once. */
  readonly heartbeatFor: (at: number) => NewTask | undefined
}

export type Ledger = ReturnType<typeof createLedger>

interface Pending {
  /** When it was counted first. */
  readonly at: number
  problem?: Problem
  count: number
  /** It is over, after what was counted. */
  isOver: boolean
}

const flushMs = 1000
const retryMs = 5000
/** How many issues may wait to be written. Over it new ones are dropped until the store can write again. */
const maxPending = 500
/** The most events about issues that the main session gets in one day from one process. */
const maxSaid = 20
/** Longer subjects are cut; an operator chose them. */
const longestSubject = 200
const longestCause = 500

export function createLedger(options: LedgerOptions) {
  const { store, log, now, timers, mintId } = options
  let pending = new Map<string, Pending>()
  const open = new Set<string>()
  /** Until when, by key. */
  const muted = new Map<string, number>()
  const reportedOn = new Map<string, string>()
  let saidToday = { day: '', count: 0 }
  let timer: unknown
  let writing: Promise<void> | undefined
  /** What is being written. */
  let sent: ReadonlyMap<string, Pending> = new Map()
  let hasFailed = false
  let isClosed = false

  function schedule(ms: number): void {
    if (timer !== undefined || isClosed) return
    timer = timers.setTimeout(() => {
      timer = undefined
      void flush()
    }, ms)
  }

  function isMuted(key: string, at: number): boolean {
    const until = muted.get(key)
    if (until === undefined) return false
    if (at < until) return true
    muted.delete(key)
    return false
  }

  /** Writes what has been collected. Never rejects; what could not be written is tried again. */
  async function flush(): Promise<void> {
    while (writing !== undefined) await writing
    if (pending.size === 0) return
    const batch = pending
    pending = new Map()
    sent = batch
    const at = now()
    const changes = [...batch].flatMap(([key, each]) => changesOf(key, each, at))
    writing = store
      .command({ type: 'issues', at, changes })
      .then(() => {
        hasFailed = false
        for (const change of changes)
          if ('report' in change && change.report) reportedOn.set(change.key, change.report.day)
      })
      .catch((error) => {
        if (!hasFailed)
          log.warn({ event: 'issues-not-kept', err: error }, 'open issues will be written later')
        hasFailed = true
        putBack(batch)
        schedule(retryMs)
      })
      .finally(() => {
        writing = undefined
        sent = new Map()
        options.onFlushed?.()
      })
    await writing
  }

  function putBack(batch: ReadonlyMap<string, Pending>): void {
    const later = pending
    pending = new Map(batch)
    for (const [key, each] of later) {
      const before = pending.get(key)
      pending.set(key, { ...before, ...each, count: (before?.count ?? 0) + each.count })
    }
  }

  /** The open issues that are not in the store yet, or not as they are now. */
  function unwritten(): IssueRecord[] {
    return [...sent, ...pending].flatMap(([key, { at, problem, count, isOver }]) => {
      if (problem === undefined || isOver || isMuted(key, now())) return []
      const { code, subject } = problem
      const { severity } = issueCodes[code]
      const { cause, next } = problem.describe()
      const times = { count: Math.max(1, count), first: at, last: at, state: 'open' as const }
      return [{ key, code, severity, subject, cause: cut(cause, longestCause), next, ...times }]
    })
  }

  function changesOf(key: string, { problem, count, isOver }: Pending, at: number): IssueChange[] {
    const changes: IssueChange[] = []
    if (problem !== undefined) {
      const { code, subject } = problem
      const { cause, next } = problem.describe()
      const { severity } = issueCodes[code]
      const shown = {
        key,
        code,
        severity,
        subject: cut(subject, longestSubject),
        cause: cut(cause, longestCause),
      }
      changes.push({ ...shown, next, count, ...(!isOver && sayOf(key, problem, at)) })
    }
    if (isOver) changes.push({ key, resolve: true })
    return changes
  }

  function sayOf(key: string, { code, subject, isSilent }: Problem, at: number) {
    const day = dayOf(at)
    const isSaid = issueCodes[code].isSaid && !isSilent && options.notifies()
    if (!isSaid || reportedOn.get(key) === day || isMuted(key, at)) return undefined
    if (saidToday.day !== day) saidToday = { day, count: 0 }
    if (saidToday.count >= maxSaid) return undefined
    saidToday.count += 1
    const text = `An issue is open: ${issueCodes[code].title} (${code}, ${cut(subject, longestSubject)}). Its cause and the next step: \`reveille issues\`.`
    const event = ownEvent({ generation: options.generation() }, text, { id: mintId(), at })
    const task = options.heartbeatFor(at)
    return { report: { event, day, ...(task && { task }) } }
  }

  /** Ends an issue, if it is open. */
  function resolve(code: IssueCode, subject: string): void {
    const key = keyOf(code, subject)
    if (!open.delete(key)) return
    const waiting = pending.get(key)
    if (waiting === undefined) pending.set(key, { at: now(), count: 0, isOver: true })
    else waiting.isOver = true
    schedule(flushMs)
  }

  async function command(change: IssueChange): Promise<CommandResult> {
    await flush()
    return store
      .command({ type: 'issues', at: now(), changes: [change] })
      .finally(() => options.onFlushed?.())
  }

  return {
    /** Counts one occurrence. Costs a map look-up; everything else is done once a second. */
    note(problem: Problem): void {
      const key = keyOf(problem.code, problem.subject)
      const waiting = pending.get(key)
      if (waiting !== undefined) {
        waiting.problem = problem
        waiting.count += problem.count ?? 1
        waiting.isOver = false
      } else if (pending.size < maxPending)
        pending.set(key, { at: now(), problem, count: problem.count ?? 1, isOver: false })
      else return
      if (!isMuted(key, now())) open.add(key)
      schedule(flushMs)
    },

    resolve,
    /** Whether any issue is open, so that what goes well has something to end. */
    hasOpen: () => open.size > 0,
    isOpen: (code: IssueCode, subject: string) => open.has(keyOf(code, subject)),
    /** The open issues of this version's codes. */
    open: () => [...open].flatMap((key) => partsOf(key) ?? []),

    /** Learns which issues earlier processes left open, and ends those that have been quiet for long. */
    async load(): Promise<void> {
      await flush()
      const before = [...open, ...muted.keys()].filter((key) => !pending.has(key))
      const found = new Set<string>()
      for (const state of ['open', 'muted'] as const)
        for await (const record of recordsIn(state)) {
          found.add(record.key)
          learn(record)
        }
      // Another process has ended the rest.
      for (const key of before.filter((each) => !found.has(each))) {
        open.delete(key)
        muted.delete(key)
      }
    },

    flush,
    unwritten,

    /** An operator says that it is over. */
    resolveByHand(key: string): Promise<CommandResult> {
      open.delete(key)
      muted.delete(key)
      return command({ key, resolve: true })
    },
    /** An operator wants to hear no more of it, until then or for good. */
    mute(key: string, until: number | null): Promise<CommandResult> {
      open.delete(key)
      muted.set(key, until ?? Number.POSITIVE_INFINITY)
      return command({ key, mute: until })
    },
    reopen(key: string): Promise<CommandResult> {
      muted.delete(key)
      open.add(key)
      return command({ key, reopen: true })
    },

    /** Writes what is left. */
    async close(): Promise<void> {
      isClosed = true
      timers.clearTimeout(timer)
      await flush()
    },
  }

  function learn({ key, code, subject, state, last, mutedUntil, reportedOn: day }: IssueRecord): void {
    if (day !== undefined) reportedOn.set(key, day)
    if (state === 'muted') {
      muted.set(key, mutedUntil ?? Number.POSITIVE_INFINITY)
      return
    }
    open.add(key)
    const row = partsOf(key) && issueCodes[code as IssueCode]
    if (row?.endsQuietly && last < now() - quietMs) resolve(code as IssueCode, subject)
  }

  async function* recordsIn(state: 'open' | 'muted'): AsyncGenerator<IssueRecord> {
    let cursor: string | undefined
    do {
      const page = await store.read.issues({ state, limit: 500, ...(cursor !== undefined && { cursor }) })
      yield* page.items
      cursor = page.next
    } while (cursor !== undefined)
  }
}

/** Returns a reason without its full stop, as the middle of a sentence. */
export function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}
