/**
 * Runs posts: actions go in, one transaction is committed, one reply comes out. The embedded store runs it in its writer's thread, one
 * post after the other; on a server several posts are under way at one time.
 *
 * A transaction first runs without savepoints. When one action is at fault, all of it is undone and run again with each action in a
 * savepoint, so that the faulty action fails alone. When the database cannot write, nothing of the post has happened.
 */

import type { Driver, Transaction } from '@reveille/kit'
import { cancelRun, runCommand } from './commands.ts'
import {
  type Context,
  type Counted,
  type Counters,
  createContext,
  foldCounts,
  isHarmless,
  type Limits,
  type Notes,
  noCounts,
  readCounts,
  writeCounts,
} from './context.ts'
import { mostBodyBytesByDefault } from './counters.ts'
import { storeErrorOf } from './driver-error.ts'
import { loadWork } from './loading.ts'
import { type Health, type Id, type NewTask, StoreError, type StoreLimits } from './port.ts'
import type { Action, CoreState, Happened, PlainError, Post, Reply, Result } from './protocol.ts'
import { claimTasks, freeExpired, giveUpPools, type LeaseTimes, nextDue } from './queue/claiming.ts'
import { createClaims, type LoadedClaim, type OpenClaim } from './queue/claims.ts'
import { finishTask, leasedTask, lockLanes, postponeTask, shiftTasks, type TaskRow } from './queue/tasks.ts'
import { shiftCoalesced } from './records/coalescing.ts'
import { applyEffects } from './records/effects.ts'
import { acceptEntries, addRequests, answerAgain, refusedBeforeCommit } from './records/entries.ts'
import { cancelPartialJobs } from './records/jobs.ts'
import { timeOfId } from './records/rows.ts'
import { createRetention } from './retention.ts'
import { laneOf } from './tasks.ts'

export interface CoreOptions {
  readonly driver: Driver
  readonly node: Id
  readonly now: number
  readonly limits: Limits
  readonly historyMessages: number
  readonly times: LeaseTimes
  /** The clock of the posts, which all processes share. Default: that of the last one. */
  readonly time?: () => number
  /** The database's clock. Default: that of the posts. */
  readonly clock?: () => number
  /** What the driver knows of its disk. */
  readonly diskHealth?: () => Pick<Health, 'reason' | 'brief' | 'outage'> | undefined
  /** Called with what happens apart from any post. */
  readonly onHappened: (happened: Happened) => void
  /** Called after each commit. */
  readonly onCommit?: (notes: Notes) => void
}

export type Core = ReturnType<typeof createCore>

/** When the clock was set back by less, due times stay and are waited for. Milliseconds. */
const toleratedStepBackMs = 1_000
/** Milliseconds until tasks are claimed again after that has failed. */
const claimPauseMs = 1_000

interface Committed {
  readonly results: readonly Result[]
  readonly notes: Notes
  readonly settled: readonly number[]
  readonly claimed: readonly { readonly workerPool: number; readonly row: TaskRow }[]
  readonly due: DueTimes
}

/** When tasks are due, as far as it is known. */
interface DueTimes {
  /** No task that this process could claim is due before. */
  readonly nextAt: number
  /** Due tasks were left because there was no room for them. */
  readonly isFull: boolean
}

export function createCore(options: CoreOptions) {
  const { driver, node, historyMessages, times } = options
  const limits = { ...options.limits }
  const claims = createClaims()
  const retention = createRetention(options.now)
  let foreign: Counters = noCounts
  let own: Counters = noCounts
  let due: DueTimes = { nextAt: 0, isFull: false }
  let isListening = false
  let commits = 0
  let lastNow = options.now
  let failure: PlainError | undefined
  /** Tasks that were cancelled before their claims were known here. */
  const unheard = new Set<string>()
  /** Whether this process deletes old history: always, where there is no other. */
  let sweeps = !driver.isShared

  /** The counts of all nodes. A sum is short for a moment where one node performs what another one accepted. */
  function counters(): Counters {
    const all = addCounts(foreign, Object.entries(own) as [Counted, number][])
    for (const [name, value] of Object.entries(all) as [Counted, number][]) all[name] = Math.max(0, value)
    return all
  }

  function state(): CoreState {
    const { backlog, pending } = counters()
    const { reason, brief, outage } = options.diskHealth?.() ?? {}
    const shown = reason === undefined ? failure : { message: reason, brief }
    const nextAt = claims.offers().length === 0 ? Number.POSITIVE_INFINITY : due.nextAt
    return {
      writable: shown === undefined,
      ...(shown && { reason: shown.message, ...(shown.brief !== undefined && { brief: shown.brief }) }),
      ...(outage && { outage }),
      backlog,
      pending,
      commits,
      wakeAt:
        shown !== undefined && !driver.isShared
          ? Number.POSITIVE_INFINITY
          : Math.min(nextAt, sweeps ? retention.nextAt : Number.POSITIVE_INFINITY),
    }
  }

  /** Runs a transaction with the context of this process. What it notes holds once it has committed. */
  async function transact<Made>(
    now: number,
    work: (tx: Context, notes: Notes) => Promise<Made>,
    isErasing = false,
  ): Promise<{ readonly made: Made; readonly notes: Notes }> {
    const run = async (tx: Transaction) => {
      const { context, notes } = createContext(tx, now, {
        counters: counters(),
        driver,
        node,
        limits,
        isListening: isListening || driver.isShared,
      })
      const made = await work(context, notes)
      await writeCounts(context, notes)
      return { made, notes }
    }
    const committed = await driver.transaction(run, { isErasing })
    own = addCounts(own, committed.notes.counts)
    if (driver.isShared) due = earlierOf(due, { nextAt: committed.notes.dueAt, isFull: false })
    options.onCommit?.(committed.notes)
    return committed
  }

  function stepBack(now: number): number {
    return !driver.isShared && lastNow - now > toleratedStepBackMs ? lastNow - now : 0
  }

  function mustWrite({ now, actions }: Post): boolean {
    return stepBack(now) > 0 || actions.some(isWriting) || (!driver.isShared && state().wakeAt <= now)
  }

  /** The lanes that actions change, as far as that is known before. */
  function lanesOf(actions: readonly Action[]): readonly Pick<NewTask, 'lane'>[] {
    return actions.flatMap((action): readonly Pick<NewTask, 'lane'>[] => {
      if (action.type === 'accept')
        return action.entry.actions.flatMap(({ tasks, rejectsIfBusy: session }) => [
          ...tasks.map(({ lane }) => ({ ...(lane !== undefined && { lane }) })),
          ...(session === undefined ? [] : [{ lane: laneOf(session) }]),
        ])
      if (action.type === 'checkpoint') return action.effects.tasks ?? []
      if (action.type === 'settle') {
        const lane = claims.laneOf(action.claim)
        const { tasks = [] } = action.settlement.effects
        return lane === undefined ? tasks : [...tasks, { lane }]
      }
      if (action.type !== 'command' || !('task' in action.command)) return []
      return typeof action.command.task === 'string' ? [] : [action.command.task]
    })
  }

  async function runActions(tx: Context, post: Post, isolated: boolean) {
    // At once and first: transactions that locked one lane after the other would wait for each other.
    if (tx.isShared) await lockLanes(tx, lanesOf(post.actions))
    const results: Result[] = post.actions.map(() => undefined)
    const settled: number[] = []
    await acceptAll(tx, post, isolated, results)
    for (const [index, action] of post.actions.entries()) {
      if (!isWriting(action) || action.type === 'accept' || action.type === 'note') continue
      results[index] = await attempt(tx, isolated, async () => ({
        value: await execute(tx, action, settled),
      }))
    }
    return { results, settled }
  }

  async function acceptAll(
    tx: Context,
    { actions }: Post,
    isolated: boolean,
    results: Result[],
  ): Promise<void> {
    const entries = [...actions.entries()].flatMap(([index, action]) =>
      action.type === 'accept' ? [{ index, entry: action.entry }] : [],
    )
    const notes = actions.flatMap((action) => (action.type === 'note' ? [action.request] : []))
    if (isolated) {
      for (const { index, entry } of entries)
        results[index] = await attempt(tx, true, async () => {
          const again = await answerAgain(tx, entry)
          return resultOf(again ?? (await acceptEntries(tx, [entry]))[0])
        })
      for (const note of notes)
        await attempt(tx, true, async () => {
          if ((await answerAgain(tx, note)) === undefined) await addRequests(tx, [note])
          return undefined
        })
      return
    }
    if (entries.length > 0) {
      const answers = await acceptEntries(
        tx,
        entries.map(({ entry }) => entry),
      )
      for (const [at, { index }] of entries.entries()) results[index] = resultOf(answers[at])
    }
    if (notes.length > 0) await addRequests(tx, notes)
  }

  /** Returns the error of an action that fails alone, and throws one that undoes the whole transaction. */
  async function attempt(tx: Context, isolated: boolean, work: () => Promise<Result>): Promise<Result> {
    try {
      return isolated ? await tx.nested(work) : await work()
    } catch (failed) {
      const error = storeErrorOf(failed)
      if (isHarmless(error) || (isolated && !isUnavailable(error))) return { error: plainError(error) }
      throw failed
    }
  }

  /** Carries out one action in the transaction, and returns what its caller gets after the commit. */
  async function execute(tx: Context, action: Action, settled: number[]): Promise<unknown> {
    switch (action.type) {
      case 'checkpoint':
        await leasedTask(tx, claims.find(action.claim).token)
        await applyEffects(tx, action.effects)
        return undefined
      case 'settle':
        await settle(tx, action)
        settled.push(action.claim)
        return undefined
      case 'command':
        return await runCommand(tx, action.command)
      case 'write-check':
        await tx.run('INSERT INTO leases (name, owner, until) VALUES (?1, ?2, 0)', [
          `write-check:${node}`,
          node,
        ])
        await tx.run('DELETE FROM leases WHERE name = ?1', [`write-check:${node}`])
        return undefined
      case 'refused-before-commit':
        return await refusedBeforeCommit(tx, action.request)
      default:
        return undefined
    }
  }

  async function settle(
    tx: Context,
    { claim, settlement }: Extract<Action, { type: 'settle' }>,
  ): Promise<void> {
    const { token } = claims.find(claim)
    const before = await leasedTask(tx, token)
    const isCancelled = before.cancelled === 1
    const { run, tasks = [] } = settlement.effects
    await applyEffects(tx, settlement.effects)
    const row = tasks.length === 0 ? before : await leasedTask(tx, token)
    if ('done' in settlement) {
      await finishTask(tx, row)
      // The run was parked before its performer could hear of the cancel.
      if (run?.state === 'parked' && isCancelled)
        await cancelRun(tx, { type: 'cancel', run: run.id, at: tx.now })
    } else {
      // A run that was cancelled while it was performed is due at once: its next claim ends it.
      const { again } = settlement
      await postponeTask(tx, row, isCancelled ? Math.min(again, tx.now) : again, settlement.counts)
    }
  }

  /** Claims due tasks, as many as the worker pools have room for. */
  async function claimDue(tx: Context, settled: readonly number[], clock: number) {
    const claimed: { workerPool: number; row: TaskRow }[] = []
    for (const offer of claims.offers(settled)) {
      const rows = await claimTasks(tx, offer, { times, clock })
      claimed.push(...rows.map((row) => ({ workerPool: offer.workerPool, row })))
    }
    const { at, isOverdue } = await nextDue(tx, claims.kinds())
    return { claimed, due: { nextAt: at, isFull: isOverdue } }
  }

  async function runPost(post: Post, isolated: boolean): Promise<Committed> {
    const isErasing = post.actions.some(
      (action) => action.type === 'command' && action.command.type === 'forget',
    )
    const back = stepBack(post.now)
    const { made, notes } = await transact(
      post.now,
      async (tx, notes) => {
        if (back > 0) {
          await shiftTasks(tx, back)
          await shiftCoalesced(tx, back)
        }
        const { results, settled } = await runActions(tx, post, isolated)
        const known = dueAfter(
          back > 0 ? { nextAt: 0, isFull: false } : due,
          notes,
          settled.length > 0,
          post.now,
        )
        const looks = !driver.isShared && known.nextAt <= post.now && claims.offers(settled).length > 0
        const { claimed, due: next } = looks
          ? await claimDue(tx, settled, post.now)
          : { claimed: [], due: known }
        if (!driver.isShared && retention.nextAt <= post.now) await retention.sweep(tx)
        return { results, settled, claimed, due: next }
      },
      isErasing,
    )
    commits += 1
    if (back > 0) retention.shift(back)
    return { ...made, notes }
  }

  async function commit(post: Post): Promise<Committed> {
    try {
      return await runPost(post, false)
    } catch (failed) {
      const error = storeErrorOf(failed)
      retention.restart()
      if (isUnavailable(error)) throw error
      return await runPost(post, true)
    }
  }

  /** Makes what was committed hold in memory. */
  async function publish(committed: Omit<Committed, 'results'>, now: number): Promise<Happened> {
    const { notes, settled, claimed } = committed
    claims.end(settled)
    const given = claimed.map(({ workerPool, row }) => claims.take(workerPool, row))
    due = driver.isShared ? earlierOf(due, committed.due) : committed.due
    lastNow = now
    const cancelled = notes.cancelled.flatMap((key) => {
      const holders = claims.ofTask(key)
      if (holders.length === 0) unheard.add(key)
      return holders
    })
    cancelled.push(...given.filter(({ task }) => unheard.delete(task.key)))
    return {
      claims: await loadAll(given, now),
      cancelled: cancelled.map(({ workerPool, claim }) => ({ workerPool, claim })),
      lost: [],
      changes: notes.changes,
      state: state(),
    }
  }

  async function loadAll(given: readonly OpenClaim[], now: number): Promise<readonly LoadedClaim[]> {
    const loaded: LoadedClaim[] = []
    for (const { workerPool, claim, task } of given) {
      // A claim whose work cannot be read is given without it: its holder asks for it, and hears why.
      const work = await load(task, now).catch(() => undefined)
      loaded.push({ workerPool, claim, task, ...(work && { work }) })
    }
    return loaded
  }

  function load(task: OpenClaim['task'], now: number) {
    const { pending: all, pendingNow } = counters()
    const pending = { all, now: pendingNow }
    return driver.read((statements) => loadWork(statements, task, { now, pending, historyMessages }))
  }

  function configure(next: StoreLimits, now: number): void {
    const before = { ...limits }
    // A limit that the configuration no longer names no longer holds.
    Object.assign(
      limits,
      { sessionIdleMs: undefined, mostBodyBytes: undefined, ignoredBodiesMs: undefined },
      next,
    )
    if (keptLess(before, limits)) retention.begin(now)
  }

  /** Carries out actions that change only memory. A new listener gets changes from the same post. */
  function applyInMemory(action: Action, now: number): void {
    if (action.type === 'listen') isListening = action.on
    if (action.type === 'register') {
      claims.register(action.workerPool, action)
      due = { nextAt: 0, isFull: false }
    }
    const grows =
      action.type === 'resize' && claims.resize(action.workerPool, action.concurrency, action.pools)
    if (grows) due = { ...due, nextAt: 0 }
    if (action.type === 'pause') claims.pause(action.workerPool)
    if (action.type === 'configure') configure(action.limits, now)
  }

  async function loadResult(claim: number, now: number): Promise<Result> {
    try {
      return { value: await load(claims.find(claim).task, now) }
    } catch (error) {
      return { error: plainError(error) }
    }
  }

  let claiming: Promise<void> | undefined
  let isClaimWanted = false

  /** Claims due tasks in a transaction of their own. */
  async function claimApart(): Promise<void> {
    isClaimWanted = true
    claiming ??= keepClaiming().finally(() => {
      claiming = undefined
    })
    await claiming
    // It was wanted again when the last round had looked already.
    if (isClaimWanted && claiming === undefined) await claimApart()
  }

  async function keepClaiming(): Promise<void> {
    while (isClaimWanted && claims.offers().length > 0) {
      const now = options.time?.() ?? lastNow
      await claimOnce(now)
      isClaimWanted = due.nextAt <= (options.time?.() ?? now)
    }
    isClaimWanted = false
  }

  async function claimOnce(now: number): Promise<void> {
    const before = due
    // What is noted meanwhile is kept.
    due = { nextAt: Number.POSITIVE_INFINITY, isFull: false }
    try {
      const { made, notes } = await transact(now, (tx) => claimDue(tx, [], options.clock?.() ?? now))
      options.onHappened(await publish({ ...made, settled: [], notes }, now))
    } catch (error) {
      due = earlierOf(due, { ...before, nextAt: Math.max(before.nextAt, now + claimPauseMs) })
      throw error
    }
  }

  /** Does what is due in transactions of their own, so that no post waits for it. */
  function workApart(now: number): Promise<void> {
    if (sweeps && retention.nextAt <= now && !isSweeping) sweepApart(now)
    if (due.nextAt <= now) return claimApart().catch(() => undefined)
    // What was due may be about to be claimed.
    return claiming?.catch(() => undefined) ?? Promise.resolve()
  }

  function sweepApart(now: number): void {
    isSweeping = true
    void transact(now, (tx) => retention.sweep(tx))
      .catch(() => retention.restart())
      .finally(() => {
        isSweeping = false
        options.onHappened({ claims: [], cancelled: [], lost: [], changes: [], state: state() })
      })
  }
  let isSweeping = false

  return {
    state,
    claims,

    /** Frees what an earlier process had claimed, and reads what is counted. Called once, before the first post. */
    async open() {
      const { made } = await transact(options.now, async (tx) => {
        if (!driver.isShared) {
          await foldCounts(tx)
          await freeExpired(tx, options.now)
          await cancelPartialJobs(tx, 'SELECT id FROM nodes')
        }
        foreign = await readCounts(tx)
        const [jobs] = await tx.all(`SELECT 1 FROM jobs WHERE state = 'running' LIMIT 1`)
        const [issues] = await tx.all(`SELECT 1 FROM issues WHERE state <> 'resolved' LIMIT 1`)
        return {
          newestAt: await newestTime(tx),
          leftOpen: { replayJobs: jobs !== undefined, issues: issues !== undefined },
        }
      })
      return { state: state(), ...made }
    },

    async run(post: Post): Promise<Reply> {
      for (const action of post.actions) applyInMemory(action, post.now)
      let results: readonly Result[] = post.actions.map(() => undefined)
      let happened: Happened = { claims: [], cancelled: [], lost: [], changes: [], state: state() }
      try {
        if (mustWrite(post)) {
          const committed = await commit(post)
          failure = undefined
          results = committed.results
          happened = await publish(committed, post.now)
        }
      } catch (error) {
        failure = plainError(error)
        const refused = { error: failure }
        results = post.actions.map((action) => (isWriting(action) ? refused : undefined))
      }
      results = await Promise.all(
        post.actions.map((action, index) =>
          action.type === 'load' ? loadResult(action.claim, post.now) : results[index],
        ),
      )
      const claimed = driver.isShared ? workApart(post.now) : undefined
      if (driver.isShared && post.actions.some(({ type }) => type === 'give-up'))
        await transact(post.now, giveUpPools).catch(() => undefined)
      // The answer to a command comes once what it has made due is claimed, and a pool is paused once what was being claimed has been given.
      if (post.actions.some(({ type }) => type === 'command' || type === 'pause')) await claimed
      return { post: post.number, results, ...happened, state: state() }
    },

    /** Examines the disk, and refuses everything from now on if it is at fault. Returns whether it is. */
    checkDisk(check: () => void): boolean {
      try {
        check()
        return false
      } catch (error) {
        failure = plainError(error)
        return true
      }
    },

    /** A task is due at this time, as another node says. */
    noteDue(at: number) {
      due = { ...due, nextAt: Math.min(due.nextAt, at) }
    },
    /** What all other nodes have counted. What this one has is known exactly. */
    setForeignCounters(next: Counters) {
      foreign = next
      unheard.clear()
    },
    setSweeps(on: boolean) {
      sweeps = on
    },
    transact,
  }
}

function earlierOf(a: DueTimes, b: DueTimes): DueTimes {
  return { nextAt: Math.min(a.nextAt, b.nextAt), isFull: a.isFull || b.isFull }
}

/** What is known of due times after the actions of a transaction. */
function dueAfter(before: DueTimes, notes: Notes, hasSettled: boolean, now: number): DueTimes {
  const nextAt = Math.min(before.nextAt, notes.dueAt)
  return before.isFull && hasSettled
    ? { nextAt: Math.min(nextAt, now), isFull: false }
    : { ...before, nextAt }
}

function addCounts(counters: Counters, added: Iterable<readonly [Counted, number]>): Counters {
  const next = { ...counters }
  for (const [name, by] of added) next[name] += by
  return next
}

async function newestTime(tx: Context): Promise<number> {
  let newest = 0
  for (const table of ['requests', 'runs', 'events', 'deliveries']) {
    const [row] = await tx.all<{ id: Id }>(`SELECT id FROM ${table} ORDER BY id DESC LIMIT 1`)
    if (row !== undefined) newest = Math.max(newest, timeOfId(row.id))
  }
  return newest
}

function keptLess(before: Limits, after: Limits): boolean {
  const none = Number.POSITIVE_INFINITY
  return (
    after.keepMs < before.keepMs ||
    (after.sessionIdleMs ?? none) < (before.sessionIdleMs ?? none) ||
    (after.ignoredBodiesMs ?? none) < (before.ignoredBodiesMs ?? none) ||
    (after.mostBodyBytes ?? mostBodyBytesByDefault) < (before.mostBodyBytes ?? mostBodyBytesByDefault)
  )
}

const inMemory: ReadonlySet<string> = new Set([
  'load',
  'listen',
  'tick',
  'register',
  'resize',
  'pause',
  'give-up',
  'configure',
])

function isWriting({ type }: Action): boolean {
  return !inMemory.has(type)
}

function resultOf(answer: unknown): Result {
  if (answer === undefined) return undefined
  return answer instanceof StoreError ? { error: plainError(answer) } : { value: answer }
}

/** Whether the database is at fault, so that every other action would fail too. */
function isUnavailable(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'STORE_FULL' || error.code === 'STORE_UNAVAILABLE')
}

/** An error loses its code on its way to another thread, so its fields are sent. */
export function plainError(failed: unknown): PlainError {
  const error = storeErrorOf(failed)
  if (error instanceof StoreError) return { code: error.code, message: error.message, brief: error.brief }
  const reason = error instanceof Error ? error.message : String(error)
  return { code: 'BAD_ENTRY', message: `the store refuses this entry: ${reason}`, brief: undefined }
}
