/**
 * Runs posts: actions go in, one transaction is committed, one reply comes out. The embedded store runs it in its writer's thread, one
 * post after the other; on a server several posts are under way at one time.
 *
 * A transaction first runs without savepoints. When one action is at fault, all of it is undone and run again with each action in a
 * savepoint, so that the faulty action fails alone. When the database cannot write, nothing of the post has happened.
 */

import type { Driver, Transaction } from '@reveille/kit'
import { isWriting, runActions } from './actions.ts'
import {
  type Context,
  type Counted,
  type Counters,
  createContext,
  foldCounts,
  type Limits,
  type Notes,
  noCounts,
  readCounts,
  writeCounts,
} from './context.ts'
import { defaultMaxBodyBytes } from './counters.ts'
import { isUnavailable, plainError, storeErrorOf } from './driver-error.ts'
import { loadWorks } from './loading.ts'
import type { Health, Id, StoreLimits } from './port.ts'
import {
  type Action,
  type CoreState,
  type Happened,
  nothingHappened,
  type PlainError,
  type Post,
  type Reply,
  type Result,
} from './protocol.ts'
import { createClaimer, type Looked } from './queue/claimer.ts'
import { freeExpired, giveUpPools, type LeaseTimes } from './queue/claiming.ts'
import { type ClaimName, createClaims, type LoadedClaim, type OpenClaim } from './queue/claims.ts'
import { shiftTasks } from './queue/tasks.ts'
import { shiftCoalesced } from './records/coalescing.ts'
import { cancelPartialJobs } from './records/jobs.ts'
import { timeOfId } from './records/rows.ts'
import { createRetention } from './retention.ts'
import { recordTables } from './schema.ts'

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

interface Committed {
  readonly results: readonly Result[]
  readonly notes: Notes
  readonly settled: readonly number[]
  readonly looked: Looked | undefined
}

export function createCore(options: CoreOptions) {
  const { driver, node, historyMessages, times, time, clock } = options
  const limits = { ...options.limits }
  const claims = createClaims()
  const retention = createRetention(options.now)
  const counts = createCounts()
  // Other processes may listen.
  let isListening = driver.isShared
  let commits = 0
  let lastNow = options.now
  let failure: PlainError | undefined
  /** Whether this process deletes old history: always, where there is no other. */
  let sweeps = !driver.isShared
  let isSweeping = false
  const claimer = createClaimer({
    claims,
    times,
    isApart: driver.isShared,
    time,
    clock,
    async commit(now, look) {
      const { made: looked, notes } = await transact(now, look)
      const happened = await publish({ looked, settled: [], notes }, now)
      // What was lost while its work was loaded is performed elsewhere, or by a later claim.
      options.onHappened({ ...happened, claims: happened.claims.filter(({ claim }) => claims.isOpen(claim)) })
      return looked
    },
  })

  const sweepAt = () => (sweeps ? retention.nextAt : Number.POSITIVE_INFINITY)

  function state(): CoreState {
    const { backlog, pending } = counts.all()
    const { reason, brief, outage } = options.diskHealth?.() ?? {}
    const shown = reason === undefined ? failure : { message: reason, brief }
    const isIdle = shown !== undefined && !driver.isShared
    return {
      writable: shown === undefined,
      ...(shown && { reason: shown.message, ...(shown.brief !== undefined && { brief: shown.brief }) }),
      ...(outage && { outage }),
      backlog,
      pending,
      commits,
      wakeAt: isIdle ? Number.POSITIVE_INFINITY : Math.min(claimer.nextAt(), sweepAt()),
    }
  }

  /** Runs a transaction with the context of this process. What it notes holds once it has committed. */
  async function transact<Made>(
    now: number,
    work: (tx: Context, notes: Notes) => Promise<Made>,
    isErasing = false,
  ): Promise<{ readonly made: Made; readonly notes: Notes }> {
    const run = async (tx: Transaction) => {
      const settings = { counters: counts.all(), driver, node, limits, isListening }
      const { context, notes, sent } = createContext(tx, now, settings)
      const made = await work(context, notes)
      writeCounts(context, notes)
      await sent()
      return { made, notes }
    }
    const committed = await driver.transaction(run, { isErasing })
    counts.add(committed.notes.counts)
    for (const news of committed.notes.pools.values()) claimer.note(news)
    options.onCommit?.(committed.notes)
    return committed
  }

  /** By how much the clock was set back. On a server, due times are by the database's clock. */
  function stepBack(now: number): number {
    return !driver.isShared && lastNow - now > toleratedStepBackMs ? lastNow - now : 0
  }

  function mustWrite({ now, actions }: Post): boolean {
    return stepBack(now) > 0 || actions.some(isWriting) || (!driver.isShared && state().wakeAt <= now)
  }

  async function runPost(post: Post, isolated: boolean): Promise<Committed> {
    const back = stepBack(post.now)
    if (back > 0) claimer.forget()
    const work = async (tx: Context, notes: Notes) => {
      if (back > 0) {
        await shiftTasks(tx, back)
        await shiftCoalesced(tx, back)
      }
      const { results, settled } = await runActions(tx, post, { claims, isolated })
      const looked = await claimer.lookIn(tx, notes, settled)
      if (!driver.isShared && retention.nextAt <= post.now) await retention.sweep(tx)
      return { results, settled, looked }
    }
    const { made, notes } = await transact(post.now, work, post.actions.some(isErasing))
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
    const { notes, settled, looked } = committed
    const cancelled = claims.cancel(notes.cancelled)
    claims.end(settled)
    const given = looked === undefined ? [] : claimer.take(looked)
    const lost = claims.replacedBy(given)
    claims.end(lost.map(({ claim }) => claim))
    // Before anything else is waited for: what they still begin would be begun twice.
    if (lost.length > 0) options.onHappened({ ...nothingHappened, lost: lost.map(nameOf), state: state() })
    lastNow = now
    const loaded = await loadAll(given, now)
    return {
      ...nothingHappened,
      claims: loaded,
      // What was cancelled before it is given is passed on with it.
      cancelled: [
        ...cancelled.filter(({ claim }) => claims.isOpen(claim)),
        ...given.filter(claims.isCancelled),
      ].map(nameOf),
      changes: notes.changes,
      state: state(),
    }
  }

  async function loadAll(given: readonly OpenClaim[], now: number): Promise<readonly LoadedClaim[]> {
    if (given.length === 0) return []
    // Claims whose work cannot be read are given without it: their holders ask for it, and hear why.
    const works = await load(given, now).catch(() => [])
    return given.map(({ workerPool, claim, task }, index) => {
      const work = works[index]
      return { workerPool, claim, task, ...(work && { work }) }
    })
  }

  function load(claimed: readonly OpenClaim[], now: number) {
    const { pending: all, pendingNow } = counts.all()
    const options = { dialect: driver.dialect, now, pending: { all, now: pendingNow }, historyMessages }
    const tasks = claimed.map(({ task }) => task)
    return driver.read((statements) => loadWorks(statements, tasks, options))
  }

  function configure(next: StoreLimits, now: number): void {
    const before = { ...limits }
    // A limit that the configuration no longer names no longer holds.
    Object.assign(
      limits,
      { sessionIdleMs: undefined, maxBodyBytes: undefined, ignoredBodiesMs: undefined },
      next,
    )
    if (keptLess(before, limits)) retention.begin(now)
  }

  /** Carries out actions that change only memory. A new listener gets changes from the same post. */
  function applyInMemory(action: Action, now: number): void {
    switch (action.type) {
      case 'listen':
        isListening = action.on || driver.isShared
        break
      case 'register':
        claims.register(action.workerPool, action)
        claimer.forget()
        break
      case 'resize':
        if (claims.resize(action.workerPool, action.concurrency, action.pools)) claimer.forget()
        break
      case 'pause':
        claims.pause(action.workerPool)
        break
      case 'configure':
        configure(action.limits, now)
    }
  }

  async function loadResult(claim: number, now: number): Promise<Result> {
    try {
      const [work] = await load([claims.find(claim)], now)
      return { value: work }
    } catch (error) {
      return { error: plainError(error) }
    }
  }

  /** Deletes old history in a transaction of its own. */
  function sweepApart(now: number): void {
    isSweeping = true
    void transact(now, (tx) => retention.sweep(tx))
      .catch(() => retention.restart())
      .finally(() => {
        isSweeping = false
        options.onHappened({ ...nothingHappened, state: state() })
      })
  }

  /** Does what is due in transactions of their own, so that no post waits for it. */
  async function workApart({ now, actions }: Post): Promise<void> {
    if (sweepAt() <= now && !isSweeping) sweepApart(now)
    const claimed = claimer.claimApart(now)
    if (actions.some(({ type }) => type === 'give-up'))
      await transact(now, giveUpPools).catch(() => undefined)
    // The answer to a command comes once what it has made due is claimed, and a pool is paused once what was being claimed has been given.
    if (actions.some(({ type }) => type === 'command' || type === 'pause')) await claimed
  }

  return {
    state,
    claims,
    transact,

    /** Frees what an earlier process had claimed, and reads what is counted. Called once, before the first post. */
    async open() {
      const { made } = await transact(options.now, async (tx) => {
        if (!driver.isShared) {
          await foldCounts(tx)
          await freeExpired(tx, options.now)
          await cancelPartialJobs(tx, 'SELECT id FROM nodes')
        }
        counts.setForeign(await readCounts(tx))
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
      let happened = nothingHappened
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
      if (driver.isShared) await workApart(post)
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

    /** A task may be due at this time, as another node says. */
    notePool: claimer.note,
    forgetPools: claimer.forget,
    claimingSince: claimer.claimingSince,
    /** What all other nodes have counted. What this one has is known exactly. */
    setForeignCounters(next: Counters) {
      counts.setForeign(next)
    },
    setSweeps(on: boolean) {
      sweeps = on
    },
  }
}

/** What this process knows of the counts: what the others have counted, and what it has. */
function createCounts() {
  let foreign: Counters = noCounts
  let own: Counters = noCounts
  const plus = (counters: Counters, added: Iterable<readonly [Counted, number]>): Counters => {
    const next = { ...counters }
    for (const [name, by] of added) next[name] += by
    return next
  }
  return {
    /** The counts of all nodes. A sum is short for a moment where one node performs what another one accepted. */
    all(): Counters {
      const all = plus(foreign, Object.entries(own) as [Counted, number][])
      for (const [name, value] of Object.entries(all) as [Counted, number][]) all[name] = Math.max(0, value)
      return all
    },
    add(counts: Iterable<readonly [Counted, number]>) {
      own = plus(own, counts)
    },
    setForeign(next: Counters) {
      foreign = next
    },
  }
}

async function newestTime(tx: Context): Promise<number> {
  let newest = 0
  for (const { name } of recordTables) {
    const [row] = await tx.all<{ id: Id }>(`SELECT id FROM ${name} ORDER BY id DESC LIMIT 1`)
    if (row !== undefined) newest = Math.max(newest, timeOfId(row.id))
  }
  return newest
}

const nameOf = ({ workerPool, claim }: OpenClaim): ClaimName => ({ workerPool, claim })

function keptLess(before: Limits, after: Limits): boolean {
  const none = Number.POSITIVE_INFINITY
  return (
    after.keepMs < before.keepMs ||
    (after.sessionIdleMs ?? none) < (before.sessionIdleMs ?? none) ||
    (after.ignoredBodiesMs ?? none) < (before.ignoredBodiesMs ?? none) ||
    (after.maxBodyBytes ?? defaultMaxBodyBytes) < (before.maxBodyBytes ?? defaultMaxBodyBytes)
  )
}

function isErasing(action: Action): boolean {
  return action.type === 'command' && action.command.type === 'forget'
}
