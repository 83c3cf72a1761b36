/**
 * Collects what callers hand in while a batch is under way, and commits it as the next one.
 *
 * Each node has two writing connections: one for entries, so that accepting never waits behind settlements, and one for the orders
 * of worker pools and commands, which claims tasks as well. Each runs one batch at a time. When one call of a batch is at fault, the
 * batch is rolled back and run again one call at a time. When the database is at fault, all of the batch is refused.
 */

import type { Claims } from '../claims.ts'
import { refuseOverBacklog } from '../counters.ts'
import { createNotedRequests } from '../noted-requests.ts'
import {
  type Acceptance,
  type Command,
  type CommandResult,
  type Effects,
  type Entry,
  type Id,
  type RequestRecord,
  type Settlement,
  StoreError,
  type Work,
} from '../port.ts'
import type { ClaimOrder, LoadedClaim } from '../worker-pool.ts'
import {
  acceptEntries,
  answerAgain,
  type Counts,
  missingRequests,
  noteRequests,
  refusedBeforeCommit,
} from './accepting.ts'
import { type Agenda, claimDue, NodeGone } from './claiming.ts'
import { runCommand } from './commands.ts'
import {
  isCallAtFault,
  isRepeatable,
  type Link,
  LostConnection,
  storeErrorOf,
  type Transaction,
} from './connection.ts'
import { applyEffects, insertEvents } from './effects.ts'
import { loadWork } from './loading.ts'
import type { Alarm, Changing, Counted } from './parts.ts'
import { columnOfText } from './rows.ts'
import {
  add,
  expedite,
  finish,
  freeLanes,
  isOccupied,
  laneColumn,
  lock,
  lockLanes,
  lockRows,
  type Postponed,
  postpone,
  remove,
  TaskChanged,
  type TaskRow,
} from './schedule.ts'

const mostEntries = 256
const mostNotes = 128
const mostOrders = 128
/** Notes that may wait at one time. More are dropped. */
const mostWaitingNotes = 2_000
/** While a batch is under way, the next one waits for no more turns of the event loop than this, as long as each brings entries. */
const mostTurns = 4
/** How often a batch is run again that met a deadlock, or a task that changed. */
const mostTries = 4
/** A batch has stalled after this many calls of `watch`, which come once a second. */
const stallAfterTicks = 5

/** What the batches of a node share. */
export interface NodeState extends Counts {
  readonly id: Id
  readonly counters: Record<Counted, number>
  /** What the transactions that are under way have changed of the counters. */
  readonly uncommitted: Set<ReadonlyMap<Counted, number>>
  readonly claims: Claims
  readonly agenda: Agenda
  readonly historyMessages: number
  readonly now: () => number
  /** Called after each commit, with the changes as flat values of four. */
  committed(happened: {
    readonly changes: Flat
    readonly alarms: readonly Alarm[]
    readonly cancels: readonly RemoteClaim[]
  }): void
}

export interface RemoteClaim {
  readonly node: Id
  readonly claim: number
}

export type Flat = (string | undefined)[]

/** Makes what commands work with of a transaction. What it notes in memory is undone with it. */
function createUnit({ query, send }: Transaction, node: NodeState, now: number) {
  const changes: Flat = []
  const alarms: Alarm[] = []
  const cancels: RemoteClaim[] = []
  const after: (() => void)[] = []
  const noted: Promise<unknown>[] = []
  const delta = new Map<Counted, number>()
  node.uncommitted.add(delta)

  const changing: Changing = {
    query,
    send,
    now,
    node: node.id,
    changed: (...change) => void changes.push(change[0], change[1], change[2], change[3]),
    counted(what, by) {
      if (by === 0) return
      delta.set(what, (delta.get(what) ?? 0) + by)
      node.counters[what] += by
    },
    cancelled(task) {
      const rows = query<RemoteClaim>(
        'UPDATE tasks SET cancelled = true WHERE key = $1 AND node IS NOT NULL RETURNING node, claim',
        [columnOfText(task)],
      )
      noted.push(
        rows.then((found) => {
          for (const claim of found) {
            if (claim.node === node.id) node.claims.cancel(task)
            else cancels.push(claim)
          }
        }),
      )
    },
    refuseOverBacklog: () => refuseOverBacklog(node.counters, node.limits),
    armed: (armed) => void alarms.push(...armed),
    afterCommit: (run) => void after.push(run),
    insertEvents: (events) => insertEvents(changing, events),
    schedule: {
      add: (tasks) => add(changing, tasks),
      expedite: (key, dueAt) => expedite(changing, key, dueAt),
      lock: (keys) => lock(changing, keys),
      remove: (key) => remove(changing, key),
      isOccupied: (lane) => isOccupied(changing, lane),
    },
  }

  return {
    changing,
    /** Resolves when the transaction may be committed. */
    async finish() {
      const bytes = delta.get('bodyBytes') ?? 0
      if (bytes !== 0) send('INSERT INTO kept_sizes (bytes) VALUES ($1)', [bytes])
      await Promise.all(noted)
    },
    publish() {
      node.uncommitted.delete(delta)
      for (const run of after) run()
      node.agenda.armed(alarms)
      node.committed({ changes, alarms, cancels })
    },
    undo() {
      node.uncommitted.delete(delta)
      for (const [what, by] of delta) node.counters[what] -= by
    },
  }
}

/** Runs a transaction, again where that may help, and makes known what it changed. */
export async function runUnit<Result>(
  link: Link,
  node: NodeState,
  run: (tx: Changing) => Promise<Result>,
  now = node.now(),
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    let unit: ReturnType<typeof createUnit> | undefined
    try {
      const result = await link.transact(async (tx) => {
        unit = createUnit(tx, node, now)
        const done = await run(unit.changing)
        await unit.finish()
        return done
      })
      unit?.publish()
      return result
    } catch (error) {
      unit?.undo()
      const mayHelp = isRepeatable(error) || error instanceof TaskChanged
      if (mayHelp && tries < mostTries) continue
      if (error instanceof LostConnection && tries === 1) continue
      throw error
    }
  }
}

/** What both kinds of batches report. */
export interface BatchParts {
  readonly link: Link
  readonly node: NodeState
  /** Called when writing failed, and with `undefined` when it worked. */
  onWritten(failure: StoreError | undefined): void
  /** Called when a batch begins to take too long. Its end ends that state. */
  onStalled(): void
}

/** Knows when a batch takes too long. */
function createStall(onStall: () => void) {
  let ticks = 0
  let isRunning = false
  let state = newStall()
  return {
    begin() {
      isRunning = true
      ticks = 0
    },
    end() {
      isRunning = false
      if (state.isOn) state = newStall()
    },
    watch() {
      if (!isRunning) return
      ticks += 1
      if (ticks <= stallAfterTicks || state.isOn) return
      state.isOn = true
      state.resolve()
      onStall()
    },
    isOn: () => state.isOn,
    when: () => state.promise,
  }
}

function newStall() {
  return { ...Promise.withResolvers<void>(), isOn: false }
}

export const slowCommitReason = `a commit takes longer than ${stallAfterTicks} s`

function slowError(more = ''): StoreError {
  return new StoreError('STORE_UNAVAILABLE', `${slowCommitReason}${more && `.${more}`}`, {
    brief: slowCommitReason,
  })
}

interface WaitingEntry {
  readonly entry: Entry
  readonly resolve: (acceptance: Acceptance) => void
  readonly reject: (error: StoreError) => void
}

export interface AcceptorParts extends BatchParts {
  /** Called when it becomes known whether the store kept a request whose sender was answered before. */
  onLate(request: Id, isKept: boolean): void
  /** Resolves when the due times follow a clock that was set back. */
  whenSteady(now: number): Promise<void> | undefined
}

export type Acceptor = ReturnType<typeof createAcceptor>

/** Commits entries, and requests that are only noted. */
export function createAcceptor({ link, node, onWritten, onStalled, onLate, whenSteady }: AcceptorParts) {
  let entries: WaitingEntry[] = []
  let notes: RequestRecord[] = []
  const notedRequests = createNotedRequests(mostWaitingNotes)
  let running: readonly WaitingEntry[] = []
  let isRunning = false
  let isGathering = false
  let failure: StoreError | undefined
  /** How many entries and notes were handed in, and how many of them are committed or refused. */
  let handedIn = 0
  let done = 0
  let followers: { readonly after: number; readonly resolve: () => void }[] = []
  /** Requests whose senders were answered while it was not known whether the store keeps them. */
  const undecided = new Set<Id>()
  const stall = createStall(() => {
    for (const { entry, reject } of running) {
      undecided.add(entry.request.id)
      reject(slowError(' It may still be kept: send it again with the same key.'))
    }
    for (const { reject } of entries) reject(slowError())
    done += entries.length
    entries = []
    onStalled()
  })

  function runSoon(): void {
    if (isRunning || isGathering || entries.length + notes.length === 0) return
    isGathering = true
    setImmediate(() => {
      isGathering = false
      void run()
    })
  }

  /** What comes in the turn after a batch belongs to the next one. */
  function gather(seen: number, turns: number): void {
    isGathering = true
    setImmediate(() => {
      if (entries.length > seen && turns > 1) gather(entries.length, turns - 1)
      else {
        isGathering = false
        if (entries.length + notes.length > 0) void run()
      }
    })
  }

  async function run(): Promise<void> {
    isRunning = true
    running = entries.splice(0, mostEntries)
    const noted = notes.splice(0, mostNotes)
    stall.begin()
    const now = node.now()
    const answers = await commit(
      running.map(({ entry }) => entry),
      noted,
      now,
    )
    stall.end()
    const answered = running
    running = []
    for (const [index, { entry, resolve, reject }] of answered.entries()) {
      const answer = answers[index] as Acceptance | StoreError
      const isKept = !(answer instanceof StoreError)
      if (undecided.delete(entry.request.id)) onLate(entry.request.id, isKept)
      if (answer instanceof StoreError) reject(answer)
      else resolve(answer)
    }
    isRunning = false
    notedRequests.settled(noted.length)
    done += answered.length + noted.length
    for (const { resolve } of followers.filter(({ after }) => after <= done)) resolve()
    followers = followers.filter(({ after }) => after > done)
    if (entries.length + notes.length > 0) gather(entries.length, mostTurns)
  }

  async function commit(
    batch: readonly Entry[],
    noted: readonly RequestRecord[],
    now: number,
  ): Promise<(Acceptance | StoreError)[]> {
    try {
      await whenSteady(now)
      const answers = await commitTogether(batch, noted, now)
      onWritten(undefined)
      return answers
    } catch (cause) {
      const error = storeErrorOf(cause)
      onWritten(error)
      return batch.map(() => error)
    }
  }

  async function commitTogether(
    batch: readonly Entry[],
    noted: readonly RequestRecord[],
    now: number,
  ): Promise<(Acceptance | StoreError)[]> {
    try {
      return await runUnit(
        link,
        node,
        async (tx) => {
          const answers = batch.length === 0 ? [] : await acceptEntries(tx, batch, node)
          await noteRequests(tx, noted, node)
          return answers
        },
        now,
      )
    } catch (error) {
      if (!isCallAtFault(error)) throw error
      const answers: (Acceptance | StoreError)[] = []
      for (const entry of batch) answers.push(await commitAlone(entry, now))
      for (const note of noted) await noteAlone(note, now)
      return answers
    }
  }

  async function commitAlone(entry: Entry, now: number): Promise<Acceptance | StoreError> {
    try {
      return await runUnit(
        link,
        node,
        async (tx) =>
          (await answerAgain(tx, entry)) ?? ((await acceptEntries(tx, [entry], node))[0] as Acceptance),
        now,
      )
    } catch (error) {
      if (isCallAtFault(error)) return storeErrorOf(error)
      throw error
    }
  }

  async function noteAlone(note: RequestRecord, now: number): Promise<void> {
    try {
      await runUnit(link, node, async (tx) => noteRequests(tx, await missingRequests(tx, [note]), node), now)
    } catch (error) {
      if (!isCallAtFault(error)) throw error
    }
  }

  return {
    accept(entry: Entry): Promise<Acceptance> {
      if (failure !== undefined) return Promise.reject(failure)
      if (stall.isOn()) return Promise.reject(slowError())
      return new Promise((resolve, reject) => {
        entries.push({ entry, resolve, reject })
        handedIn += 1
        runSoon()
      })
    },
    /** A noted request whose commit is under way. */
    noted: notedRequests.get,
    note(request: RequestRecord) {
      const kept = failure === undefined ? notedRequests.add(request) : undefined
      if (kept === undefined) return
      notes.push(kept)
      handedIn += 1
      runSoon()
    },
    watch: stall.watch,
    isStalled: stall.isOn,
    whenStalled: stall.when,
    isUndecided: (request: Id) => undecided.has(request),
    /** Resolves when everything that was handed in until now is committed or refused; `undefined` if it is. */
    settled(): Promise<void> | undefined {
      if (done === handedIn) return undefined
      return new Promise((resolve) => followers.push({ after: handedIn, resolve }))
    },
    /** Rejects every call that waits, and every later one. */
    fail(error: StoreError) {
      failure = error
      for (const { reject } of [...running, ...entries]) reject(error)
      entries = []
      notes = []
    },
  }
}

/** What is done on the connection for orders, in the order in which it was handed in. */
export type Order =
  | ClaimOrder
  | { readonly type: 'command'; readonly command: Command }
  /** Runs a transaction of the store itself. */
  | { readonly type: 'transact'; readonly run: (tx: Changing) => Promise<unknown> }
  | { readonly type: 'refused-before-commit'; readonly request: Id }
  /** Writes and deletes a row, to find out whether writing works again. */
  | { readonly type: 'probe' }
  /** Does nothing itself: it makes the node look for due tasks. */
  | { readonly type: 'tick' }

interface WaitingOrder {
  readonly order: Order
  /** True for orders that are rejected when a commit stalls: commands of the admin surface, and the end of claiming. */
  readonly failsOnStall: boolean
  isOver: boolean
  readonly resolve: (value: unknown) => void
  readonly reject: (error: StoreError) => void
}

/** The gateway's own commands wait for a stalled commit, however long it takes. */
const ownCommands: ReadonlySet<string> = new Set([
  'offer-route',
  'schedule',
  'expedite',
  'job-next',
  'job-settle',
])

export interface PerformerParts extends BatchParts {
  /** Called after a commit with the claims that it gave, and with those whose runs were cancelled. */
  onClaims(
    given: readonly LoadedClaim[],
    cancelled: readonly { readonly workerPool: number; readonly claim: number }[],
  ): void
  /** Called with claims that another node has taken over. */
  onLost(claims: readonly number[]): void
  /** Called after each batch: the node may have something to do at another time. */
  onIdle(): void
  /** What has to be done before the batch in its transaction, such as moving due times. */
  prepare(tx: Changing): Promise<void>
  needsPreparation(now: number): boolean
  /** Called when a transaction failed in such a way that memory and database may differ, or the node is gone. */
  onFault(error: unknown): Promise<void>
}

export type Performer = ReturnType<typeof createPerformer>

/** An answer to one order. It takes effect when the transaction has committed. */
type Answer = { readonly value: unknown } | { readonly error: StoreError }

/** Commits orders, and claims due tasks. */
export function createPerformer(parts: PerformerParts) {
  const { link, node, onWritten } = parts
  const { claims } = node
  let waiting: WaitingOrder[] = []
  let running: WaitingOrder[] = []
  let isRunning = false
  let isGathering = false
  let failure: StoreError | undefined
  let whenIdle: (() => void) | undefined
  const stall = createStall(() => {
    for (const order of [...running, ...waiting]) {
      if (!order.failsOnStall) continue
      order.isOver = true
      order.reject(slowError(' It may still be done.'))
    }
    waiting = waiting.filter(({ isOver }) => !isOver)
    parts.onStalled()
  })

  function runSoon(): void {
    if (isRunning || isGathering) return
    isGathering = true
    setImmediate(() => {
      isGathering = false
      void run()
    })
  }

  async function run(): Promise<void> {
    isRunning = true
    running = waiting.splice(0, mostOrders)
    stall.begin()
    const orders = running.map(({ order }) => order)
    for (const order of orders) applyInMemory(order)
    const done = await commit(orders)
    stall.end()
    const answered = running
    running = []
    isRunning = false
    for (const [index, { isOver, resolve, reject }] of answered.entries()) {
      if (isOver) continue
      const answer = done.answers[index] ?? { value: undefined }
      if ('error' in answer) reject(answer.error)
      else resolve(answer.value)
    }
    parts.onClaims(done.given, done.cancelled)
    if (waiting.length > 0) return runSoon()
    parts.onIdle()
    if (!isGathering) whenIdle?.()
  }

  /** Orders that change only memory come before the transaction: they hold even if it fails. */
  function applyInMemory(order: Order): void {
    if (order.type === 'register') claims.register(order.workerPool, order)
    if (order.type === 'resize') claims.resize(order.workerPool, order.concurrency, order.pools)
    if (order.type === 'pause') claims.pause(order.workerPool)
  }

  interface Done {
    readonly answers: readonly (Answer | undefined)[]
    readonly given: readonly LoadedClaim[]
    readonly cancelled: readonly { readonly workerPool: number; readonly claim: number }[]
  }

  async function commit(orders: readonly Order[], tries = 1): Promise<Done> {
    const now = node.now()
    if (!needsTransaction(orders, now)) return { answers: [], given: [], cancelled: [] }
    try {
      const done = await commitTogether(orders, now)
      if (orders.some(isWriting) || done.given.length > 0) onWritten(undefined)
      return done
    } catch (cause) {
      await parts.onFault(cause)
      if (cause instanceof NodeGone && tries < mostTries) return commit(orders, tries + 1)
      const error = storeErrorOf(cause)
      onWritten(error)
      const answers = orders.map((order) =>
        isWriting(order) || order.type === 'load' ? { error } : undefined,
      )
      return { answers, given: [], cancelled: [] }
    }
  }

  function needsTransaction(orders: readonly Order[], now: number): boolean {
    if (orders.some((order) => isWriting(order) || order.type === 'load')) return true
    if (parts.needsPreparation(now)) return true
    return claims.offers().some(({ kinds, roomIn }) => node.agenda.earliest(kinds, roomIn) <= now)
  }

  async function commitTogether(orders: readonly Order[], now: number): Promise<Done> {
    try {
      return await transact(orders, now)
    } catch (error) {
      if (!isCallAtFault(error)) throw error
      return isolated(orders, now)
    }
  }

  async function isolated(orders: readonly Order[], now: number): Promise<Done> {
    const answers: (Answer | undefined)[] = []
    const [given, cancelled]: [LoadedClaim[], Done['cancelled'][number][]] = [[], []]
    for (const order of orders) {
      try {
        const done = await transact([order], now)
        answers.push(done.answers[0])
        given.push(...done.given)
        cancelled.push(...done.cancelled)
      } catch (error) {
        if (!isCallAtFault(error)) throw error
        answers.push({ error: storeErrorOf(error) })
      }
    }
    return { answers, given, cancelled }
  }

  async function transact(orders: readonly Order[], now: number): Promise<Done> {
    let lost: number[] = []
    try {
      const done = await runUnit(
        link,
        node,
        async (tx) => {
          claims.undo()
          lost = []
          if (parts.needsPreparation(now)) await parts.prepare(tx)
          const answers = await carryOut(tx, orders, lost)
          const options = {
            now,
            historyMessages: node.historyMessages,
            pending: { all: node.counters.pending, now: node.counters.pendingNow },
          }
          const works = await claimDue(tx, node.agenda, claims, (tasks) => loadWork(tx.query, tasks, options))
          const asked = orders.flatMap((order) =>
            order.type === 'load' ? (claims.find(order.claim)?.task ?? []) : [],
          )
          const loads = await loadWork(tx.query, asked, options)
          return { answers: withLoads(orders, answers, loads), works }
        },
        now,
      )
      const { given, cancelled } = claims.commit()
      if (lost.length > 0) parts.onLost(lost)
      return {
        answers: done.answers,
        given: given.map((each, index) => ({ ...each, work: done.works[index] })),
        cancelled,
      }
    } catch (error) {
      claims.undo()
      throw error
    }
  }

  function withLoads(
    orders: readonly Order[],
    answers: readonly (Answer | undefined)[],
    works: readonly Work[],
  ): (Answer | undefined)[] {
    let next = 0
    return orders.map((order, index) => {
      if (order.type !== 'load') return answers[index]
      if (claims.find(order.claim) === undefined)
        return { error: new StoreError('LEASE_LOST', 'the claim was settled before, or taken back') }
      return { value: works[next++] }
    })
  }

  /** Carries out orders one after the other. Neighbouring checkpoints and settlements are applied together. */
  async function carryOut(
    tx: Changing,
    orders: readonly Order[],
    lost: number[],
  ): Promise<(Answer | undefined)[]> {
    const answers: (Answer | undefined)[] = orders.map(() => undefined)
    for (let at = 0; at < orders.length; ) {
      const order = orders[at] as Order
      if (order.type === 'settle' || order.type === 'checkpoint') {
        let end = at
        while (isClaimed(orders[end])) end += 1
        await settleTogether(
          tx,
          orders.slice(at, end) as ClaimedOrder[],
          (index, answer) => {
            answers[at + index] = answer
          },
          lost,
        )
        at = end
        continue
      }
      answers[at] = await carryOutOne(tx, order)
      at += 1
    }
    return answers
  }

  async function carryOutOne(tx: Changing, order: Order): Promise<Answer | undefined> {
    switch (order.type) {
      case 'command':
        try {
          return { value: await runCommand(order.command, tx) }
        } catch (error) {
          // It is thrown before anything was written.
          if (error instanceof StoreError && error.code === 'BACKLOG') return { error }
          throw error
        }
      case 'transact':
        return { value: await order.run(tx) }
      case 'refused-before-commit':
        await refusedBeforeCommit(tx, order.request)
        return undefined
      case 'probe':
        tx.send('INSERT INTO probe (weight) VALUES ($1)', ['x'.repeat(1_000)])
        tx.send('DELETE FROM probe')
        return undefined
      default:
        return undefined
    }
  }

  async function settleTogether(
    tx: Changing,
    orders: readonly ClaimedOrder[],
    answer: (index: number, answer: Answer) => void,
    lost: number[],
  ): Promise<void> {
    const held = orders.map((order) => claims.find(order.claim))
    const tasks = held.flatMap((each) => each?.task ?? [])
    // The heartbeat is nearly always scheduled, so its lane is locked only where it is not.
    const added = orders.flatMap((order) => effectsOf(order).tasks ?? [])
    const lanes = [...tasks, ...added.filter(({ subject }) => subject !== undefined)].flatMap(
      (task) => laneColumn(task) ?? [],
    )
    lockLanes(tx, lanes)
    const rows = await lockRows(
      tx,
      tasks.map(({ key }) => columnOfText(key)),
    )
    const byKey = new Map(rows.map((row) => [row.key, row]))
    // A run that another one has taken into its lane since it was claimed.
    lockLanes(
      tx,
      rows.flatMap(({ lane }) =>
        lane !== null && !tasks.some((task) => laneColumn(task) === lane) ? lane : [],
      ),
    )
    const [all, finished, postponed]: [Effects[], TaskRow[], Postponed[]] = [[], [], []]
    const cancelled: Id[] = []
    const over = new Set<number>()
    for (const [index, order] of orders.entries()) {
      const task = held[index]?.task
      const row = task && byKey.get(columnOfText(task.key))
      const isOurs = row !== undefined && row.node === tx.node && row.claim === order.claim
      if (!isOurs || over.has(order.claim)) {
        if (task !== undefined && !isOurs) lost.push(order.claim)
        answer(index, { error: new StoreError('LEASE_LOST', 'the claim was settled before, or taken back') })
        continue
      }
      all.push(effectsOf(order))
      answer(index, { value: undefined })
      if (order.type === 'checkpoint') continue
      over.add(order.claim)
      const { settlement } = order
      if ('done' in settlement) {
        finished.push(row)
        // The run was parked before its performer could hear of the cancel.
        const { run } = settlement.effects
        if (run?.state === 'parked' && row.cancelled) cancelled.push(run.id)
      } else postponed.push(postponedOf(row, settlement, tx.now))
    }
    await applyEffects(tx, all)
    await Promise.all([finish(tx, finished), postpone(tx, postponed)])
    if (lost.length > 0) freeLanes(tx, lanes)
    for (const run of cancelled) await runCommand({ type: 'cancel', run, at: tx.now }, tx)
    for (const claim of over) claims.settle(claim)
  }

  function call(order: Order): Promise<unknown> {
    if (failure !== undefined) return Promise.reject(failure)
    const failsOnStall =
      order.type === 'pause' || (order.type === 'command' && !ownCommands.has(order.command.type))
    if (failsOnStall && stall.isOn()) return Promise.reject(slowError())
    return new Promise((resolve, reject) => {
      waiting.push({ order, failsOnStall, isOver: false, resolve, reject })
      runSoon()
    })
  }

  return {
    /** Resolves when the order is committed. */
    call,
    /** Sends an order whose answer is not waited for. */
    send: (order: Order) => void call(order).catch(() => undefined),
    command: (command: Command) => call({ type: 'command', command }) as Promise<CommandResult>,
    watch: stall.watch,
    isStalled: stall.isOn,
    whenStalled: stall.when,
    async idle(): Promise<void> {
      if (!isRunning && !isGathering && waiting.length === 0) return
      await new Promise<void>((resolve) => {
        whenIdle = resolve
      })
    },
    fail(error: StoreError) {
      failure = error
      for (const { reject } of [...running, ...waiting]) reject(error)
      waiting = []
    },
  }
}

type ClaimedOrder = Extract<Order, { readonly type: 'settle' | 'checkpoint' }>

function effectsOf(order: ClaimedOrder): Effects {
  return order.type === 'checkpoint' ? order.effects : order.settlement.effects
}

function isClaimed(order: Order | undefined): order is ClaimedOrder {
  return order?.type === 'settle' || order?.type === 'checkpoint'
}

/** A run that was cancelled while it was performed is due at once: its next claim ends it. */
function postponedOf(
  task: TaskRow,
  settlement: Settlement & { again: number; counts: boolean },
  now: number,
): Postponed {
  const { again, counts } = settlement
  return { task, dueAt: task.cancelled ? Math.min(again, now) : again, counts }
}

const inMemory: ReadonlySet<Order['type']> = new Set(['load', 'tick', 'resize', 'pause', 'register'])

function isWriting(order: Order): boolean {
  return !inMemory.has(order.type)
}
