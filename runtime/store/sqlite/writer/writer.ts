/**
 * Runs batches: entries, notes and orders go in, one transaction is committed, one reply comes out.
 *
 * A batch first runs without savepoints. When one call of the batch is at fault, the whole batch is undone and run again
 * with each call in a savepoint, so that the faulty call fails alone. When the disk is full or the files are gone, nothing of
 * the batch has happened and all of it is refused. After an I/O error it is open whether the batch is on disk, and what the
 * cache shows proves nothing: the batch is held, and nothing is written, until `rescue` has put the store into a new file,
 * whose commit number either is the number of this batch or is not. See `database/rescue.ts`.
 */

import { createClaims, type GivenClaim } from '../../claims.ts'
import { mostBodyBytesByDefault } from '../../counters.ts'
import { type Command, type CommandResult, type Outage, StoreError, type StoreLimits } from '../../port.ts'
import { isDiskFailure, isIoError, reasonOf, storeErrorOf } from '../database/failure.ts'
import { createOpenFiles } from '../database/folder.ts'
import { newestTime } from '../database/ids.ts'
import type { OnMigration } from '../database/migrate-store.ts'
import { finishRescue, isRescued, leaveMark, markIn, removeMark, rescueStore } from '../database/rescue.ts'
import { createChangeList } from '../records/change-list.ts'
import type { Counters } from '../records/counters.ts'
import type { PlainEntry } from '../records/flat-entry.ts'
import { createFaultyDisk } from './faulty-disk.ts'
import type { Answer, LoadedClaim, Order, PlainError, Reply, WriterData, WriterState } from './protocol.ts'
import { openWriterConnection, type WriterConnection } from './writer-connection.ts'

export interface Batch {
  /** The number of the newest post that had arrived when the batch was made. */
  readonly post: number
  readonly now: number
  readonly entries: readonly PlainEntry[]
  readonly notes: readonly PlainEntry[]
  readonly orders: readonly Order[]
}

export type Writer = ReturnType<typeof createWriter>

/** What a transaction answers to its callers. It takes effect when the transaction has committed. */
interface PendingAnswers {
  readonly special: Reply['special'][number][]
  readonly answers: Answer[]
}

/** When the clock was set back by less, due times stay and are waited for. Milliseconds. */
const toleratedStepBackMs = 1_000

type Result = { ok: true; value: unknown } | { ok: false; error: PlainError }

/** A batch that may be on disk. */
interface HeldBatch {
  readonly batch: Batch
  readonly pending: PendingAnswers
  readonly error: unknown
  /** What was in `changes` before it. */
  readonly changesBefore: number
}

export function createWriter(data: WriterData, onMigration?: OnMigration) {
  /** `configure` changes the limits in it. */
  const settings = { ...data }
  const changes = createChangeList()
  const disk = createFaultyDisk()
  const files = createOpenFiles(data.folder)
  const claims = createClaims()
  let current: WriterConnection | undefined = open()
  let failure: PlainError | undefined
  /** Since an I/O error, until the store is in a new file and the issue about it is on disk. */
  let outage: Outage | undefined = markIn(data.folder)
  let held: HeldBatch | undefined
  /** The number of the last commit that was acknowledged. */
  let committed = current.counters.commits
  const commitsAtOpen = current.counters.commits
  const newestAt = newestTime(current.db)
  let lastState: WriterState
  let lastNow = data.now
  /** Something was erased, and the log may still hold it. */
  let isLogToEmpty = false

  recover(current)
  const leftOpen = current.leftOpen()
  lastState = stateOf(current)

  function open(): WriterConnection {
    const connection = openWriterConnection(settings, changes.note, onMigration)
    try {
      files.opened()
      return connection
    } catch (error) {
      connection.abandon()
      throw error
    }
  }

  /** Schedules again what an earlier process had claimed. */
  function recover(connection: WriterConnection): void {
    try {
      connection.begin()
      claims.recover(connection.schedule)
      connection.recoverJobs(lastNow)
      connection.commit()
    } catch (error) {
      connection.abandon()
      throw error
    }
  }

  function stateOf(connection: WriterConnection): WriterState {
    return {
      writable: failure === undefined,
      reason: failure?.message,
      brief: failure?.brief,
      outage,
      backlog: connection.counters.backlog,
      pending: connection.counters.pending,
      commits: connection.counters.commits - commitsAtOpen,
      wakeAt: wakeAt(connection),
    }
  }

  function wakeAt(connection: WriterConnection): number {
    const { schedule } = connection
    const due = claims
      .offers()
      .flatMap(({ kinds, roomIn }) => kinds.map((kind) => schedule.earliest(kind, roomIn)))
    return Math.min(connection.retention.nextAt, ...due)
  }

  /** Claims due tasks, as many as the worker pools have room for. */
  function claimDue(schedule: WriterConnection['schedule'], now: number): void {
    for (const { workerPool, kinds, free, roomIn } of claims.offers()) {
      for (const key of schedule.due(kinds, now, free, roomIn)) claims.take(workerPool, schedule.claim(key))
    }
  }

  /** Returns how far the clock was set back since the last batch. */
  function stepBack(now: number): number {
    return lastNow - now > toleratedStepBackMs ? lastNow - now : 0
  }

  /** Returns whether the batch has to write anything. */
  function writes(connection: WriterConnection, { now, entries, notes, orders }: Batch): boolean {
    return (
      stepBack(now) > 0 ||
      entries.length > 0 ||
      notes.length > 0 ||
      orders.some(isWriting) ||
      wakeAt(connection) <= now
    )
  }

  function transact(connection: WriterConnection, batch: Batch, isolated: boolean): PendingAnswers {
    const pending: PendingAnswers = { special: [], answers: [] }
    const countersBefore = { ...connection.counters }
    const changesBefore = changes.mark()
    connection.begin()
    // The rows of a call that may be undone alone are written by that call.
    connection.schedule.collect(!isolated)
    try {
      if (stepBack(batch.now) > 0) connection.shift(stepBack(batch.now), batch.now)
      batch.entries.forEach((entry, index) => {
        const error = attempt(connection, isolated, () => {
          const acceptance = connection.accepting.accept(entry, batch.now, isolated)
          if (acceptance !== undefined) pending.special.push([index, acceptance])
        })
        if (error !== undefined) pending.special.push([index, plainError(error)])
      })
      for (const note of batch.notes)
        attempt(connection, isolated, () => connection.accepting.note(note, isolated))
      connection.accepting.flush()
      for (const order of batch.orders) {
        if (waitsForCommit(order)) continue
        const error = attempt(connection, isolated, () => {
          const value = execute(connection, order, batch.now)
          answer(pending, order, { ok: true, value })
        })
        if (error !== undefined) answer(pending, order, { ok: false, error: plainError(error) })
      }
      claimDue(connection.schedule, batch.now)
      connection.schedule.flush()
      if (connection.retention.nextAt <= batch.now) connection.retention.sweep(batch.now)
      connection.countCommit()
      disk.commit(connection.commit)
      committed = connection.counters.commits
      return pending
    } catch (error) {
      if (isIoError(error)) held = { batch, pending, error, changesBefore }
      else {
        changes.undo(changesBefore)
        claims.undo()
        connection.rollback()
        connection.retention.restart()
        restore(connection, countersBefore)
      }
      throw error
    }
  }

  /** Returns the error of a call that failed alone, and throws an error that undoes the whole batch. */
  function attempt(connection: WriterConnection, isolated: boolean, run: () => void): StoreError | undefined {
    if (!isolated) {
      try {
        run()
        return undefined
      } catch (error) {
        if (isHarmless(error)) return error
        throw error
      }
    }
    const countersBefore = { ...connection.counters }
    const changesBefore = changes.mark()
    try {
      connection.nested(run)
      return undefined
    } catch (error) {
      if (isDiskFailure(error) || !connection.db.isTransaction) throw error
      restore(connection, countersBefore)
      changes.undo(changesBefore)
      return storeErrorOf(error)
    }
  }

  function restore(connection: WriterConnection, counters: Counters): void {
    Object.assign(connection.counters, counters)
    connection.schedule.forget()
    connection.accepting.forget()
    connection.histories.clear()
  }

  /** Nothing is written any more, and nothing is acknowledged, until `rescue` has succeeded. */
  function beginOutage(error: unknown, now: number): void {
    outage = { since: outage?.until === undefined ? (outage?.since ?? now) : now, reason: reasonOf(error) }
    leaveMark(data.folder, { ...outage, commits: committed })
    current?.abandon()
    current = undefined
    refuseFrom(lostWrites(outage))
  }

  function refuseFrom({ code, message, brief }: PlainError): void {
    failure = { code, message, brief }
    const wakeAt = Number.POSITIVE_INFINITY
    lastState = { ...lastState, writable: false, reason: message, brief, outage, wakeAt }
  }

  /** Copies the log into the database where it is long or holds what was erased. @throws Error as SQLite does */
  function checkpoint(connection: WriterConnection): void {
    disk.checkpoint()
    if (isLogToEmpty) isLogToEmpty = !connection.emptyLog()
    else connection.checkpoint()
  }

  /** The issue about an outage is on disk with this commit, so the mark has done its work. */
  function endOutage(batch: Batch): void {
    const isKept = batch.orders.some(
      ({ type, ...order }) =>
        type === 'command' &&
        'command' in order &&
        order.command.type === 'issues' &&
        isAboutOutage(order.command),
    )
    if (!isKept || outage?.until === undefined) return
    removeMark(data.folder)
    outage = undefined
  }

  /** Carries out one order in the transaction, and returns the value that its caller gets after the commit. */
  function execute(connection: WriterConnection, order: Order, now: number): unknown {
    switch (order.type) {
      case 'checkpoint':
        claims.verifyLease(order.claim)
        connection.applyEffects(order.effects, now)
        break
      case 'settle': {
        const { task } = claims.verifyLease(order.claim)
        const { settlement } = order
        connection.applyEffects(settlement.effects, now)
        if ('done' in settlement) {
          connection.schedule.finish(task.key)
          // The run was parked before its performer could hear of the cancel.
          const { run } = settlement.effects
          const isCancelledTooLate = run?.state === 'parked' && claims.isCancelled(order.claim)
          if (isCancelledTooLate) connection.runCommand({ type: 'cancel', run: run.id, at: now })
        } else {
          // A run that was cancelled while it was performed is due at once: its next claim ends it.
          const { again } = settlement
          const dueAt = claims.isCancelled(order.claim) ? Math.min(again, now) : again
          connection.schedule.postpone(task.key, dueAt, settlement.counts)
        }
        // This comes last: nothing can fail any more, so memory and disk agree.
        claims.settle(order.claim)
        break
      }
      case 'command':
        if (order.command.type === 'forget') isLogToEmpty = true
        return runCommand(connection, order.command)
      case 'probe':
        connection.probe()
        break
      case 'refused-before-commit':
        connection.accepting.refusedBeforeCommit(order.request)
        break
      case 'fault':
        disk.ask(order.fault, connection.db)
        break
    }
    return undefined
  }

  function runCommand(connection: WriterConnection, command: Command): CommandResult {
    const { claimed, ...result } = connection.runCommand(command)
    // This comes last, as in a settlement: memory follows the disk.
    if (claimed !== undefined) claims.cancel(claimed)
    return result
  }

  /**
   * Carries out orders that change only memory. They come before the transaction and do not depend on it: a new
   * listener gets changes from the same post, and a drain ends the claims even if the disk fails.
   */
  function applyInMemory(order: Order, now: number): void {
    if (order.type === 'listen') changes.listen(order.on)
    if (order.type === 'register') claims.register(order.workerPool, order)
    if (order.type === 'resize') claims.resize(order.workerPool, order.concurrency, order.pools)
    if (order.type === 'pause') claims.pause(order.workerPool)
    if (order.type === 'configure') configure(order.limits, now)
  }

  function configure(limits: StoreLimits, now: number): void {
    const keepsLess =
      limits.keepMs < settings.keepMs ||
      idleMsOf(limits) < idleMsOf(settings) ||
      bodyBytesOf(limits) < bodyBytesOf(settings) ||
      ignoredMsOf(limits) < ignoredMsOf(settings)
    // A limit that the configuration no longer names no longer holds.
    Object.assign(
      settings,
      { sessionIdleMs: undefined, mostBodyBytes: undefined, ignoredBodiesMs: undefined },
      limits,
    )
    if (keepsLess) current?.retention.begin(now)
  }

  /** Makes what the commit claimed and settled hold in memory, and builds the reply. */
  function publish(connection: WriterConnection, batch: Batch, pending: PendingAnswers): Reply {
    const { given, cancelled } = claims.commit()
    connection.retention.shift(stepBack(batch.now))
    lastNow = batch.now
    for (const order of batch.orders) {
      if (order.type === 'load') answer(pending, order, load(connection, order.claim, batch.now))
      if (order.type === 'close') answer(pending, order, { ok: true, value: undefined })
    }
    lastState = stateOf(connection)
    return replyTo(batch, {
      ...pending,
      claims: given.length === 0 ? [] : loadAll(connection, given, batch.now),
      cancelled,
      changes: changes.take(),
    })
  }

  function replyTo(
    batch: Batch,
    happened: Omit<Reply, 'type' | 'post' | 'entries' | 'notes' | 'state'>,
  ): Reply {
    const { post, entries, notes } = batch
    return {
      type: 'reply',
      post,
      entries: entries.length,
      notes: notes.length,
      ...happened,
      state: lastState,
    }
  }

  function load(connection: WriterConnection, claim: number, now: number): Result {
    try {
      return { ok: true, value: connection.loadWork(claims.verifyLease(claim).task, now) }
    } catch (error) {
      return { ok: false, error: plainError(storeErrorOf(error)) }
    }
  }

  function loadAll(
    connection: WriterConnection,
    given: readonly GivenClaim[],
    now: number,
  ): readonly LoadedClaim[] {
    try {
      return connection.reading(() => given.map((each) => withWork(connection, each, now)))
    } catch {
      return given
    }
  }

  /** A claim whose work cannot be read is given without it: its holder asks for it, and hears why. */
  function withWork(connection: WriterConnection, given: GivenClaim, now: number): LoadedClaim {
    try {
      return { ...given, work: connection.loadWork(given.task, now) }
    } catch {
      return given
    }
  }

  /** Builds the reply of a batch of which nothing has happened. */
  function refuse(batch: Batch, error: PlainError): Reply {
    const answers: Answer[] = []
    for (const { call, type } of batch.orders) {
      if (call === undefined) continue
      answers.push(type === 'close' ? { call, ok: true, value: undefined } : { call, ok: false, error })
    }
    const special = batch.entries.map((_entry, index) => [index, error] as const)
    return replyTo(batch, { special, answers, claims: [], cancelled: [], changes: [] })
  }

  return {
    state: () => lastState,
    /** See `Store`. */
    newestAt,
    leftOpen,

    /** Runs a batch. Returns undefined if it is held: then `state` is not writable, and `rescue` or `giveUp` returns its reply. */
    run(batch: Batch): Reply | undefined {
      for (const order of batch.orders) applyInMemory(order, batch.now)
      const connection = current
      if (connection === undefined) return refuse(batch, failure ?? plainError(unavailable()))
      try {
        const isWritten = writes(connection, batch)
        // An entry is never acknowledged if it was written to a file that no process would find again.
        if (isWritten || batch.orders.some(({ type }) => type === 'check-files')) files.check()
        if (!isWritten) {
          const pending: PendingAnswers = { special: [], answers: [] }
          for (const order of batch.orders) {
            if (!waitsForCommit(order))
              answer(pending, order, { ok: true, value: execute(connection, order, batch.now) })
          }
          return publish(connection, batch, pending)
        }
        const pending = transactOrIsolate(connection, batch)
        failure = undefined
        endOutage(batch)
        const reply = publish(connection, batch, pending)
        return checkpointAfter(connection, batch, reply)
      } catch (error) {
        if (isIoError(error)) beginOutage(error, batch.now)
        else refuseFrom(plainError(storeErrorOf(error)))
        return held === undefined ? refuse(batch, plainError(storeErrorOf(error))) : undefined
      }
    },

    /** Whether the disk has failed, and nothing is written until a rescue has succeeded. */
    isLost: () => current === undefined && outage !== undefined && outage.until === undefined,

    /** Puts the store into a new file and goes on there. Returns the reply of the batch that was held. */
    rescue(now: number): Reply | undefined {
      try {
        if (!isRescued(data.folder)) files.checkDatabase()
        rescueStore(data.folder, committed)
        files.replaced()
        finishRescue(data.folder)
        current = open()
      } catch (error) {
        refuseFrom(plainError(storeErrorOf(error)))
        return undefined
      }
      if (outage !== undefined) outage = { ...outage, until: now }
      if (outage !== undefined) leaveMark(data.folder, { ...outage, commits: committed })
      failure = undefined
      lastState = stateOf(current)
      return settleHeld(current)
    },

    /** Returns the refusal of the batch that is held, because the store is closed before it is known whether it is on disk. */
    giveUp(batch: Batch): Reply[] {
      const error = failure ?? plainError(unavailable())
      const before = held
      held = undefined
      return [...(before === undefined ? [] : [refuse(before.batch, error)]), refuse(batch, error)]
    },

    /** Closes the database, and leaves no log beside it unless the disk fails. */
    close() {
      if (current === undefined) return
      try {
        disk.checkpoint()
        current.emptyLog()
        current.close()
      } catch (error) {
        if (isIoError(error)) beginOutage(error, lastNow)
        else current.abandon()
      }
    },
  }

  /** A checkpoint that fails takes nothing back: what was committed is in the log. */
  function checkpointAfter(connection: WriterConnection, batch: Batch, reply: Reply): Reply {
    try {
      checkpoint(connection)
      return reply
    } catch (error) {
      if (!isIoError(error)) return reply
      beginOutage(error, batch.now)
      return { ...reply, state: lastState }
    }
  }

  function settleHeld(connection: WriterConnection): Reply | undefined {
    if (held === undefined) return undefined
    const { batch, pending, error, changesBefore } = held
    held = undefined
    if (connection.counters.commits > committed) {
      committed = connection.counters.commits
      return publish(connection, batch, pending)
    }
    changes.undo(changesBefore)
    claims.undo()
    return refuse(batch, plainError(storeErrorOf(error)))
  }

  function transactOrIsolate(connection: WriterConnection, batch: Batch): PendingAnswers {
    try {
      return transact(connection, batch, false)
    } catch (error) {
      if (isDiskFailure(error)) throw error
      return transact(connection, batch, true)
    }
  }
}

function unavailable(): StoreError {
  return new StoreError('STORE_UNAVAILABLE', 'the store is not open')
}

function lostWrites({ reason }: Outage): PlainError {
  return {
    code: 'STORE_UNAVAILABLE',
    message: `the disk lost writes (${reason}), and the store is put into a new file`,
    brief: 'its disk lost writes',
  }
}

function isAboutOutage({ changes }: Extract<Command, { type: 'issues' }>): boolean {
  return changes.some((change) => 'code' in change && change.code === 'DISK_LOST_WRITES')
}

/** These errors are thrown before anything was written, so that nothing has to be undone. */
function isHarmless(error: unknown): error is StoreError {
  return error instanceof StoreError && (error.code === 'BACKLOG' || error.code === 'LEASE_LOST')
}

function idleMsOf({ sessionIdleMs = Number.POSITIVE_INFINITY }: StoreLimits): number {
  return sessionIdleMs
}

function ignoredMsOf({ ignoredBodiesMs = Number.POSITIVE_INFINITY }: StoreLimits): number {
  return ignoredBodiesMs
}

function bodyBytesOf({ mostBodyBytes = mostBodyBytesByDefault }: StoreLimits): number {
  return mostBodyBytes
}

const inMemory = ['load', 'listen', 'tick', 'resize', 'pause', 'configure', 'fault', 'check-files', 'close']

/** `register` counts as writing: claims may follow at once, and the check for due tasks does not see the new pool yet. */
function isWriting(order: Order): boolean {
  return !inMemory.includes(order.type)
}

/** These orders are answered after the commit, from what is committed. */
function waitsForCommit(order: Order): boolean {
  return order.type === 'load' || order.type === 'close'
}

function answer(pending: PendingAnswers, order: Order, result: Result): void {
  if (order.call !== undefined) pending.answers.push({ call: order.call, ...result })
}

/** An error loses its code on its way to another thread, so its fields are sent. */
export function plainError({ code, message, brief }: StoreError): PlainError {
  return { code, message, brief }
}
