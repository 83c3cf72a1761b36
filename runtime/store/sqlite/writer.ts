/**
 * Owns the batch: entries, notes and orders go in, one transaction is committed, one reply comes out.
 *
 * The straight way runs everything without savepoints. When one call of the batch is at fault, all of it is
 * undone and run again, each call in a savepoint, so that the faulty one fails alone. When the disk is at
 * fault, nothing of the batch has happened and all of it is refused, with one exception: an I/O error at
 * COMMIT says nothing about what is on disk. Then the database is opened again and its pulse read, which
 * either is the one of this batch or is not.
 */

import { type Command, type CommandResult, StoreError, type StoreLimits } from '../port.ts'
import { createChangeList } from './change-list.ts'
import { createClaims } from './claims.ts'
import { type Desk, openDesk } from './desk.ts'
import type { PlainEntry } from './entry.ts'
import { isDiskFailure, resultOf, SQLITE_IOERR, storeErrorOf } from './failure.ts'
import { createFaultyDisk } from './fault.ts'
import { createOpenFiles } from './folder.ts'
import type { Answer, Order, PlainError, Reply, WriterData, WriterState } from './protocol.ts'
import type { Tally } from './tally.ts'

export interface Batch {
  /** The newest post that had arrived when the batch was made. */
  readonly post: number
  readonly now: number
  readonly entries: readonly PlainEntry[]
  readonly notes: readonly PlainEntry[]
  readonly orders: readonly Order[]
}

export interface Writer {
  readonly state: () => WriterState
  run(batch: Batch): Reply
  close(): void
}

/** What a transaction has to say; of no effect until it has committed. */
interface Draft {
  readonly special: Reply['special'][number][]
  readonly answers: Answer[]
}

/** A clock that is set back by less is waited for. Milliseconds. */
const patience = 1_000

type Result = { ok: true; value: unknown } | { ok: false; error: PlainError }

/** Thrown by COMMIT when nobody knows what is on disk. */
class UnknownOutcome extends Error {}

export function createWriter(data: WriterData): Writer {
  /** The limits in it change. */
  const settings = { ...data }
  const changes = createChangeList()
  const disk = createFaultyDisk()
  const files = createOpenFiles(data.folder)
  const claims = createClaims()
  let desk: Desk | undefined = open()
  let failure: PlainError | undefined
  const commitsAtOpen = desk.tally.commits
  let lastState: WriterState
  let lastNow = data.now

  recover(desk)
  lastState = stateOf(desk)

  function open(): Desk {
    const at = openDesk(settings, changes.note)
    try {
      files.opened()
      return at
    } catch (error) {
      at.close()
      throw error
    }
  }

  function recover(at: Desk): void {
    at.begin()
    claims.recover(at.schedule)
    at.commit()
  }

  function reopenAndRecover(): Desk {
    const at = reopen()
    try {
      recover(at)
      return at
    } catch (error) {
      // Claims in memory and on disk are brought together before anything else is done.
      desk = undefined
      at.close()
      throw error
    }
  }

  function stateOf(at: Desk): WriterState {
    return {
      writable: failure === undefined,
      reason: failure?.message,
      brief: failure?.brief,
      backlog: at.tally.backlog,
      pending: at.tally.pending,
      commits: at.tally.commits - commitsAtOpen,
      wakeAt: wakeAt(at),
    }
  }

  function wakeAt(at: Desk): number {
    return Math.min(at.retention.nextAt, claims.earliest(at.schedule))
  }

  /** How far the clock was set back since the last batch. */
  function stepBack(now: number): number {
    return lastNow - now > patience ? lastNow - now : 0
  }

  /** Whether anything of the batch has to be written. */
  function writes(at: Desk, { now, entries, notes, orders }: Batch): boolean {
    return (
      stepBack(now) > 0 ||
      entries.length > 0 ||
      notes.length > 0 ||
      orders.some(isWriting) ||
      wakeAt(at) <= now
    )
  }

  function transact(at: Desk, batch: Batch, guarded: boolean): Draft {
    const draft: Draft = { special: [], answers: [] }
    const tallyBefore = { ...at.tally }
    const changesBefore = changes.mark()
    at.begin()
    try {
      if (stepBack(batch.now) > 0) at.shift(stepBack(batch.now), batch.now)
      batch.entries.forEach((entry, index) => {
        const error = attempt(at, guarded, () => {
          const acceptance = at.accepting.accept(entry, batch.now)
          if (acceptance !== undefined) draft.special.push([index, acceptance])
        })
        if (error !== undefined) draft.special.push([index, plainError(error)])
      })
      for (const note of batch.notes) attempt(at, guarded, () => at.accepting.note(note))
      for (const order of batch.orders) {
        if (waitsForCommit(order)) continue
        const error = attempt(at, guarded, () => {
          const value = obey(at, order, batch.now)
          answer(draft, order, { ok: true, value })
        })
        if (error !== undefined) answer(draft, order, { ok: false, error: plainError(error) })
      }
      claims.claimDue(at.schedule, batch.now)
      if (at.retention.nextAt <= batch.now) at.retention.sweep(batch.now)
      at.beat()
      commit(at)
      return draft
    } catch (error) {
      if (error instanceof UnknownOutcome && isOnDisk(at.tally.commits)) return draft
      undo(at, tallyBefore, changesBefore)
      claims.undo()
      throw error instanceof UnknownOutcome ? error.cause : error
    }
  }

  /** A desk that was closed meanwhile has nothing to undo: the next one reads what is on disk. */
  function undo(at: Desk, tally: Tally, mark: number): void {
    changes.undo(mark)
    if (at !== desk) return
    at.rollback()
    at.retention.restart()
    restore(at, tally)
  }

  /** Answers the error of a call that was undone or refused by itself; throws what undoes the whole batch. */
  function attempt(at: Desk, guarded: boolean, run: () => void): StoreError | undefined {
    if (!guarded) {
      try {
        run()
        return undefined
      } catch (error) {
        if (isHarmless(error)) return error
        throw error
      }
    }
    const tallyBefore = { ...at.tally }
    const changesBefore = changes.mark()
    try {
      at.nested(run)
      return undefined
    } catch (error) {
      if (isDiskFailure(error) || !at.db.isTransaction) throw error
      restore(at, tallyBefore)
      changes.undo(changesBefore)
      return storeErrorOf(error)
    }
  }

  function restore(at: Desk, tally: Tally): void {
    Object.assign(at.tally, tally)
    at.schedule.forget()
  }

  function commit(at: Desk): void {
    try {
      disk.commit(at.commit)
    } catch (error) {
      throw resultOf(error) === SQLITE_IOERR ? new UnknownOutcome('at COMMIT', { cause: error }) : error
    }
  }

  /** Opens the database again and answers whether the commit of that number is in it. */
  function isOnDisk(commits: number): boolean {
    try {
      return reopen().tally.commits === commits
    } catch {
      return false
    }
  }

  function reopen(): Desk {
    const old = desk
    desk = undefined
    old?.close()
    desk = open()
    return desk
  }

  /** Answers what the caller is told after the commit. */
  function obey(at: Desk, order: Order, now: number): unknown {
    switch (order.type) {
      case 'checkpoint':
        claims.fence(order.claim)
        at.applyEffects(order.effects, now)
        break
      case 'settle': {
        const { task } = claims.fence(order.claim)
        const { settlement } = order
        at.applyEffects(settlement.effects, now)
        if ('done' in settlement) {
          at.schedule.finish(task.key)
          // Whoever held it back had not heard that somebody wants its end.
          const { run } = settlement.effects
          const isHeldBack = run?.state === 'parked' && claims.isCancelled(order.claim)
          if (isHeldBack) at.cancelling.cancel({ type: 'cancel', run: run.id, at: now })
        } else {
          // What was cancelled while it was performed waits for nothing: whoever claims it next ends it.
          const { again } = settlement
          const dueAt = claims.isCancelled(order.claim) ? Math.min(again, now) : again
          at.schedule.postpone(task.key, dueAt, settlement.counts)
        }
        // Last: nothing can fail any more, so memory and disk agree.
        claims.settle(order.claim)
        break
      }
      case 'command':
        return obeyCommand(at, order.command)
      case 'probe':
        at.probe()
        break
      case 'answered-before':
        at.accepting.answeredBefore(order.request)
        break
      case 'fault':
        disk.ask(order.fault, at.db)
        break
    }
    return undefined
  }

  function obeyCommand(at: Desk, command: Command): CommandResult {
    if (command.type === 'resume') return at.cancelling.resume(command)
    if (command.type === 'send' || command.type === 'replay-delivery') return at.sending.obey(command)
    if (command.type !== 'cancel') return at.routing.obey(command)
    const { claimed, ...result } = at.cancelling.cancel(command)
    // Last, as with what settles: memory follows the disk.
    if (claimed !== undefined) claims.cancel(claimed)
    return result
  }

  /**
   * What is only in memory is carried out first of all, whatever becomes of the batch: who began to listen hears of
   * what was asked for in the same turn, and no failing disk keeps a drain from ending the claims.
   */
  function remember(order: Order, now: number): void {
    if (order.type === 'listen') changes.listen(order.on)
    if (order.type === 'hire') claims.hire({ ...order, id: order.workforce })
    if (order.type === 'resize') claims.resize(order.workforce, order.concurrency, order.pools)
    if (order.type === 'rest') claims.rest(order.workforce)
    if (order.type === 'configure') configure(order.limits, now)
  }

  function configure(limits: StoreLimits, now: number): void {
    const isShorter = limits.keepMs < settings.keepMs || idleMsOf(limits) < idleMsOf(settings)
    // A limit that is not named any more does not hold any more.
    Object.assign(settings, { sessionIdleMs: undefined }, limits)
    if (isShorter) desk?.retention.begin(now)
  }

  /** After the commit: what it claimed and settled holds now, and reads see it. */
  function publish(at: Desk, batch: Batch, draft: Draft): Reply {
    const { given, cancelled } = claims.commit()
    at.retention.shift(stepBack(batch.now))
    lastNow = batch.now
    for (const order of batch.orders) {
      if (order.type === 'load') answer(draft, order, load(at, order.claim, batch.now))
      if (order.type === 'close') answer(draft, order, { ok: true, value: undefined })
    }
    lastState = stateOf(at)
    return {
      type: 'reply',
      post: batch.post,
      entries: batch.entries.length,
      special: draft.special,
      notes: batch.notes.length,
      answers: draft.answers,
      claims: given,
      cancelled,
      changes: changes.take(),
      state: lastState,
    }
  }

  function load(at: Desk, claim: number, now: number): Result {
    try {
      return { ok: true, value: at.loadWork(claims.fence(claim).task, now) }
    } catch (error) {
      return { ok: false, error: plainError(storeErrorOf(error)) }
    }
  }

  /** Nothing of the batch has happened. */
  function refuse(batch: Batch, cause: unknown): Reply {
    const error = plainError(storeErrorOf(cause))
    const answers: Answer[] = []
    for (const { call, type } of batch.orders) {
      if (call === undefined) continue
      answers.push(type === 'close' ? { call, ok: true, value: undefined } : { call, ok: false, error })
    }
    failure = error
    const { message: reason, brief } = error
    lastState = { ...lastState, writable: false, reason, brief, wakeAt: Number.POSITIVE_INFINITY }
    return {
      type: 'reply',
      post: batch.post,
      entries: batch.entries.length,
      special: batch.entries.map((_entry, index) => [index, error] as const),
      notes: batch.notes.length,
      answers,
      claims: [],
      cancelled: [],
      changes: [],
      state: lastState,
    }
  }

  return {
    state: () => lastState,

    run(batch) {
      for (const order of batch.orders) remember(order, batch.now)
      try {
        const at = desk ?? reopenAndRecover()
        const isWritten = writes(at, batch)
        // Nothing is acknowledged that is written where nobody finds it.
        if (isWritten || batch.orders.some(({ type }) => type === 'look')) files.check()
        if (!isWritten) {
          const draft: Draft = { special: [], answers: [] }
          for (const order of batch.orders) {
            if (!waitsForCommit(order)) answer(draft, order, { ok: true, value: obey(at, order, batch.now) })
          }
          return publish(at, batch, draft)
        }
        const draft = transactOrIsolate(at, batch)
        failure = undefined
        return publish(desk ?? at, batch, draft)
      } catch (error) {
        return refuse(batch, error)
      }
    },

    close() {
      desk?.close()
    },
  }

  function transactOrIsolate(at: Desk, batch: Batch): Draft {
    try {
      return transact(at, batch, false)
    } catch (error) {
      if (isDiskFailure(error)) throw error
      return transact(at, batch, true)
    }
  }
}

/** Refused before anything was written, so that nothing has to be undone. */
function isHarmless(error: unknown): error is StoreError {
  return error instanceof StoreError && (error.code === 'BACKLOG' || error.code === 'LEASE_LOST')
}

function idleMsOf({ sessionIdleMs = Number.POSITIVE_INFINITY }: StoreLimits): number {
  return sessionIdleMs
}

const inMemory = ['load', 'listen', 'tick', 'resize', 'rest', 'configure', 'fault', 'look', 'close']

/** Hiring counts: claims may follow at once, which the check of what is due does not see yet. */
function isWriting(order: Order): boolean {
  return !inMemory.includes(order.type)
}

/** Answered after the commit, from what is committed. */
function waitsForCommit(order: Order): boolean {
  return order.type === 'load' || order.type === 'close'
}

function answer(draft: Draft, order: Order, result: Result): void {
  if (order.call !== undefined) draft.answers.push({ call: order.call, ...result })
}

function plainError({ code, message, brief }: StoreError): PlainError {
  return { code, message, ...(brief !== undefined && { brief }) }
}
