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
import { timeOfId } from './id.ts'
import { loadWorks } from './loading.ts'
import type { Health, Id, StoreLimits } from './port.ts'
import {
  type Action,
  type CoreState,
  type Happened,
  nothingHappened,
  type Opened,
  type PlainError,
  type Post,
  type Reply,
  type Result,
} from './protocol.ts'
import { createClaimer, type Looked } from './queue/claimer.ts'
import { freeExpired, giveUpPools, type LeaseTimes } from './queue/claiming.ts'
import {
  type ClaimName,
  type Claims,
  createClaims,
  type LoadedClaim,
  type OpenClaim,
} from './queue/claims.ts'
import { shiftTasks } from './queue/tasks.ts'
import { shiftCoalesced } from './records/coalescing.ts'
import { cancelPartialJobs } from './records/jobs.ts'
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
  /** The driver's knowledge of its disk. */
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

/** State that the functions of the core share. */
interface Parts extends CoreOptions {
  /** Changed in place; see `configure`. */
  readonly limits: Limits
  readonly claims: Claims
  readonly retention: ReturnType<typeof createRetention>
  readonly counts: ReturnType<typeof createCounts>
  readonly claimer: ReturnType<typeof createClaimer>
  readonly memory: {
    commits: number
    lastNow: number
    failure?: PlainError
    /** True if this process deletes old history: always, where there is no other. */
    sweeps: boolean
    isSweeping: boolean
  }
}

export function createCore(options: CoreOptions) {
  const { driver, times, time, clock } = options
  const claims = createClaims()
  const claimer = createClaimer({
    claims,
    times,
    isApart: driver.isShared,
    time,
    clock,
    commit: (now, look) => claimIn(core, now, look),
  })
  const core: Parts = {
    ...options,
    limits: { ...options.limits },
    claims,
    claimer,
    retention: createRetention(options.now),
    counts: createCounts(),
    memory: {
      commits: 0,
      lastNow: options.now,
      sweeps: !driver.isShared,
      isSweeping: false,
    },
  }

  return {
    claims,
    state: () => stateOf(core),
    /** Runs a transaction with the context of this process. Its notes are valid once it has committed. */
    transact: <Made>(now: number, work: (tx: Context, notes: Notes) => Promise<Made>) =>
      transact(core, now, work),
    /** Frees what an earlier process had claimed, and reads what is counted. Called once, before the first post. */
    open: () => open(core),
    run: (post: Post) => run(core, post),

    /** Examines the disk, and refuses everything from now on if it is at fault. Returns whether it is. */
    checkDisk(check: () => void): boolean {
      try {
        check()
        return false
      } catch (error) {
        core.memory.failure = plainError(error)
        return true
      }
    },

    /** A task may be due at this time, as another node says. */
    notePool: claimer.note,
    forgetPools: claimer.forget,
    /** Sets the counts of all other nodes together. This node's own are known exactly. */
    setForeignCounters(next: Counters) {
      core.counts.setForeign(next)
    },
    setSweeps(on: boolean) {
      core.memory.sweeps = on
    },
  }
}

function stateOf({ driver, counts, claimer, memory, retention, diskHealth }: Parts): CoreState {
  const { backlog, pending } = counts.all()
  const { reason, brief, outage } = diskHealth?.() ?? {}
  const shown = reason === undefined ? memory.failure : { message: reason, brief }
  const isIdle = shown !== undefined && !driver.isShared
  const sweepAt = memory.sweeps ? retention.nextAt : Number.POSITIVE_INFINITY
  return {
    writable: shown === undefined,
    ...(shown && { reason: shown.message, ...(shown.brief !== undefined && { brief: shown.brief }) }),
    ...(outage && { outage }),
    backlog,
    pending,
    commits: memory.commits,
    wakeAt: isIdle ? Number.POSITIVE_INFINITY : Math.min(claimer.nextAt(), sweepAt),
  }
}

async function open(core: Parts): Promise<Opened> {
  const { driver, now } = core
  const { made } = await transact(core, now, async (tx) => {
    if (!driver.isShared) {
      await foldCounts(tx)
      await freeExpired(tx, now)
      await cancelPartialJobs(tx, 'SELECT id FROM nodes')
    }
    core.counts.setForeign(await readCounts(tx))
    const [jobs] = await tx.all(`SELECT 1 FROM jobs WHERE state = 'running' LIMIT 1`)
    const [issues] = await tx.all(`SELECT 1 FROM issues WHERE state <> 'resolved' LIMIT 1`)
    const leftOpen = { replayJobs: jobs !== undefined, issues: issues !== undefined }
    return { newestAt: await newestTime(tx), leftOpen }
  })
  return { state: stateOf(core), ...made }
}

async function run(core: Parts, post: Post): Promise<Reply> {
  for (const action of post.actions) applyInMemory(core, action, post.now)
  let results: readonly Result[] = post.actions.map(() => undefined)
  let happened = nothingHappened
  try {
    if (mustWrite(core, post)) {
      const committed = await commit(core, post)
      delete core.memory.failure
      results = committed.results
      happened = await publish(core, committed, post.now)
    }
  } catch (error) {
    const failure = plainError(error)
    core.memory.failure = failure
    results = post.actions.map((action) => (isWriting(action) ? { error: failure } : undefined))
  }
  results = await Promise.all(
    post.actions.map((action, index) =>
      action.type === 'load' ? loadResult(core, action.claim, post.now) : results[index],
    ),
  )
  if (core.driver.isShared) await workApart(core, post)
  return { post: post.number, results, ...happened, state: stateOf(core) }
}

async function transact<Made>(
  core: Parts,
  now: number,
  work: (tx: Context, notes: Notes) => Promise<Made>,
  isErasing = false,
): Promise<{ readonly made: Made; readonly notes: Notes }> {
  const { driver, node, limits, counts, claimer } = core
  const run = async (tx: Transaction) => {
    const settings = { counters: counts.all(), driver, node, limits }
    const { context, notes, sent } = createContext(tx, now, settings)
    const made = await work(context, notes)
    writeCounts(context, notes)
    await sent()
    return { made, notes }
  }
  const committed = await driver.transaction(run, { isErasing })
  counts.add(committed.notes.counts)
  for (const news of committed.notes.pools.values()) claimer.note(news)
  core.onCommit?.(committed.notes)
  return committed
}

/** By how much the clock was set back. On a server, due times are by the database's clock. */
function stepBack({ driver, memory: { lastNow } }: Parts, now: number): number {
  return !driver.isShared && lastNow - now > toleratedStepBackMs ? lastNow - now : 0
}

function mustWrite(core: Parts, { now, actions }: Post): boolean {
  const isDue = !core.driver.isShared && stateOf(core).wakeAt <= now
  return stepBack(core, now) > 0 || actions.some(isWriting) || isDue
}

async function commit(core: Parts, post: Post): Promise<Committed> {
  try {
    return await runPost(core, post, false)
  } catch (failed) {
    const error = storeErrorOf(failed)
    if (isUnavailable(error)) throw error
    return await runPost(core, post, true)
  }
}

async function runPost(core: Parts, post: Post, isolated: boolean): Promise<Committed> {
  const { claims, claimer, driver, memory, retention } = core
  const back = stepBack(core, post.now)
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
  const { made, notes } = await transact(core, post.now, work, post.actions.some(isErasing))
  memory.commits += 1
  if (back > 0) retention.begin(post.now)
  return { ...made, notes }
}

/** Makes what was committed hold in memory. */
async function publish(core: Parts, committed: Omit<Committed, 'results'>, now: number): Promise<Happened> {
  const { claims, claimer, memory, onHappened } = core
  const { notes, settled, looked } = committed
  const cancelled = claims.cancel(notes.cancelled)
  claims.end(settled)
  const claimed = looked === undefined ? [] : claimer.take(looked)
  const lost = claims.replacedBy(claimed)
  claims.end(lost.map(({ claim }) => claim))
  // Before anything else is waited for: what they still begin would be begun twice.
  if (lost.length > 0) onHappened({ ...nothingHappened, lost: lost.map(nameOf), state: stateOf(core) })
  memory.lastNow = now
  const loaded = await loadAll(core, claimed, now)
  return {
    ...nothingHappened,
    claims: loaded,
    // Claims that were cancelled before they are given carry their cancellation.
    cancelled: [
      ...cancelled.filter(({ claim }) => claims.isOpen(claim)),
      ...claimed.filter(claims.isCancelled),
    ].map(nameOf),
    changes: notes.changes,
    state: stateOf(core),
  }
}

/** Commits a look for due tasks apart from any post. A claim lost while its work was loaded is performed elsewhere, or by a later claim. */
async function claimIn(core: Parts, now: number, look: (tx: Context) => Promise<Looked>): Promise<Looked> {
  const { made: looked, notes } = await transact(core, now, look)
  const happened = await publish(core, { looked, settled: [], notes }, now)
  const claims = happened.claims.filter(({ claim }) => core.claims.isOpen(claim))
  core.onHappened({ ...happened, claims })
  return looked
}

async function loadAll(
  core: Parts,
  given: readonly OpenClaim[],
  now: number,
): Promise<readonly LoadedClaim[]> {
  if (given.length === 0) return []
  // Claims whose work cannot be read are given without it: their holders ask for it, and hear why.
  const works = await load(core, given, now).catch(() => [])
  return given.map(({ workerPool, claim, task }, index) => {
    const work = works[index]
    return { workerPool, claim, task, ...(work && { work }) }
  })
}

function load({ driver, counts, historyMessages }: Parts, claimed: readonly OpenClaim[], now: number) {
  const { pending: all, pendingNow } = counts.all()
  const options = { dialect: driver.dialect, now, pending: { all, now: pendingNow }, historyMessages }
  const tasks = claimed.map(({ task }) => task)
  return driver.read((statements) => loadWorks(statements, tasks, options))
}

async function loadResult(core: Parts, claim: number, now: number): Promise<Result> {
  try {
    const [work] = await load(core, [core.claims.find(claim)], now)
    return { value: work }
  } catch (error) {
    return { error: plainError(error) }
  }
}

/** Carries out actions that change only memory. */
function applyInMemory(core: Parts, action: Action, now: number): void {
  const { claims, claimer } = core
  switch (action.type) {
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
      configure(core, action.limits, now)
  }
}

function configure({ limits, retention }: Parts, next: StoreLimits, now: number): void {
  const before = { ...limits }
  Object.assign(limits, next)
  if (keptLess(before, limits)) retention.begin(now)
}

/** Does what is due in transactions of their own, so that no post waits for it. */
async function workApart(core: Parts, { now, actions }: Post): Promise<void> {
  const { memory, retention } = core
  if (memory.sweeps && retention.nextAt <= now && !memory.isSweeping) sweepApart(core, now)
  const claimed = core.claimer.claimApart(now)
  if (actions.some(({ type }) => type === 'give-up'))
    await transact(core, now, giveUpPools).catch(() => undefined)
  // The answer to a command comes once what it has made due is claimed, and a pool is paused once what was being claimed has been given.
  if (actions.some(({ type }) => type === 'command' || type === 'pause')) await claimed
}

/** Deletes old history in a transaction of its own. */
function sweepApart(core: Parts, now: number): void {
  const { memory, retention, onHappened } = core
  memory.isSweeping = true
  void transact(core, now, (tx) => retention.sweep(tx))
    .catch(() => undefined)
    .finally(() => {
      memory.isSweeping = false
      onHappened({ ...nothingHappened, state: stateOf(core) })
    })
}

/** Counts known to this process: those of the others, and its own. */
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
