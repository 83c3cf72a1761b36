/**
 * Owns the batch: entries, notes and orders go in, one transaction is committed, one reply comes out.
 *
 * The straight way runs everything without savepoints. When one call of the batch is at fault, all of it is
 * undone and run again, each call in a savepoint, so that the faulty one fails alone. When the disk is at
 * fault, nothing of the batch has happened and all of it is refused, with one exception: an I/O error at
 * COMMIT says nothing about what is on disk. Then the database is opened again and its pulse read, which
 * either is the one of this batch or is not.
 */

import { StoreError, type TaskKind } from '../port.ts'
import { createChangeList } from './change-list.ts'
import { type Desk, openDesk } from './desk.ts'
import type { PlainEntry } from './entry.ts'
import { isDiskFailure, resultOf, SQLITE_IOERR, storeErrorOf } from './failure.ts'
import { createFaultyDisk } from './fault.ts'
import type { Answer, GivenClaim, Order, PlainError, Reply, WriterData, WriterState } from './protocol.ts'
import type { Tally } from './tally.ts'

export interface Batch {
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

interface Workforce {
  readonly id: number
  readonly kinds: readonly TaskKind[]
  readonly concurrency: number
  resting: boolean
  /** Claims that are open. */
  open: number
}

interface OpenClaim {
  readonly workforce: Workforce
  readonly given: GivenClaim
}

/** What a transaction produced; of no effect until it has committed. */
interface Draft {
  readonly special: (readonly [number, Reply['special'][number][1]])[]
  readonly answers: Answer[]
  readonly claims: OpenClaim[]
  readonly settled: Set<number>
}

/** Thrown by COMMIT when nobody knows what is on disk. */
class UnknownOutcome extends Error {}

export function createWriter(data: WriterData): Writer {
  const changes = createChangeList()
  const disk = createFaultyDisk()
  const workforces: Workforce[] = []
  const claims = new Map<number, OpenClaim>()
  let desk: Desk | undefined = openDesk(data, changes.note)
  let lastClaim = 0
  let failure: string | undefined
  const commitsAtOpen = desk.tally.commits
  let lastState: WriterState

  recover(desk)
  lastState = stateOf(desk)

  /**
   * Brings claims in memory and on disk together: at open, when none is in memory, and after an outcome that
   * stayed unknown for a while. What nobody holds is armed again; who holds what was settled has lost it.
   */
  function recover(at: Desk): void {
    const held = new Set([...claims.values()].map((open) => open.given.task.key))
    at.begin()
    const right = at.schedule.recover(held)
    at.commit()
    for (const [claim, { workforce, given }] of claims) {
      if (right.has(given.task.key)) continue
      claims.delete(claim)
      workforce.open -= 1
    }
  }

  function reopenAndRecover(): Desk {
    const at = reopen()
    recover(at)
    return at
  }

  function stateOf(at: Desk): WriterState {
    return {
      writable: failure === undefined,
      reason: failure,
      backlog: at.tally.backlog,
      commits: at.tally.commits - commitsAtOpen,
      wakeAt: wakeAt(at),
    }
  }

  function wakeAt(at: Desk): number {
    let earliest = at.retention.nextAt
    for (const workforce of workforces) {
      if (workforce.resting || workforce.open >= workforce.concurrency) continue
      for (const kind of workforce.kinds) earliest = Math.min(earliest, at.schedule.earliest(kind))
    }
    return earliest
  }

  /** Whether anything of the batch has to be written. */
  function writes(at: Desk, { now, entries, notes, orders }: Batch): boolean {
    return entries.length > 0 || notes.length > 0 || orders.some(isWriting) || wakeAt(at) <= now
  }

  function transact(at: Desk, batch: Batch, guarded: boolean): Draft {
    const draft: Draft = { special: [], answers: [], claims: [], settled: new Set() }
    const tallyBefore = { ...at.tally }
    const changesBefore = changes.mark()
    const openBefore = workforces.map((workforce) => workforce.open)
    at.begin()
    try {
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
          const value = obey(at, order, draft)
          answer(draft, order, { ok: true, value })
        })
        if (error !== undefined) answer(draft, order, { ok: false, error: plainError(error) })
      }
      claimDue(at, draft, batch.now)
      if (at.retention.nextAt <= batch.now) at.retention.sweep(batch.now)
      at.beat()
      commit(at)
      return draft
    } catch (error) {
      if (error instanceof UnknownOutcome && isOnDisk(at.tally.commits)) return draft
      undo(at, tallyBefore, changesBefore)
      workforces.forEach((workforce, index) => {
        workforce.open = openBefore[index] ?? 0
      })
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
    desk = openDesk(data, changes.note)
    return desk
  }

  /** Answers what the caller is told after the commit. */
  function obey(at: Desk, order: Order, draft: Draft): unknown {
    switch (order.type) {
      case 'checkpoint':
        fence(order.claim, draft)
        at.applyEffects(order.effects)
        break
      case 'settle': {
        const { workforce, given } = fence(order.claim, draft)
        const { settlement } = order
        at.applyEffects(settlement.effects)
        if ('done' in settlement) at.schedule.finish(given.task.key)
        else at.schedule.postpone(given.task.key, settlement.again, settlement.counts)
        // Last: nothing can fail any more, so memory and disk agree.
        draft.settled.add(order.claim)
        workforce.open -= 1
        break
      }
      case 'command':
        return at.routing.obey(order.command)
      case 'hire':
        if (workforces.some((known) => known.id === order.workforce)) break
        workforces.push({ ...order, id: order.workforce, resting: false, open: 0 })
        break
      case 'rest':
        for (const workforce of workforces) if (workforce.id === order.workforce) workforce.resting = true
        break
      case 'probe':
        at.probe()
        break
      case 'fault':
        disk.ask(order.fault, at.db)
        break
    }
    return undefined
  }

  function fence(claim: number, draft: Draft): OpenClaim {
    const open = claims.get(claim)
    if (open === undefined || draft.settled.has(claim)) {
      throw new StoreError('LEASE_LOST', 'the claim was settled before, or taken back')
    }
    return open
  }

  function claimDue(at: Desk, draft: Draft, now: number): void {
    for (const workforce of workforces) {
      if (workforce.resting) continue
      const room = workforce.concurrency - workforce.open
      if (room <= 0) continue
      for (const key of at.schedule.due(workforce.kinds, now, room)) {
        lastClaim += 1
        const given = { workforce: workforce.id, claim: lastClaim, task: at.schedule.claim(key) }
        workforce.open += 1
        draft.claims.push({ workforce, given })
      }
    }
  }

  /** After the commit: what it claimed and settled holds now, and reads see it. */
  function publish(at: Desk, batch: Batch, draft: Draft): Reply {
    for (const claim of draft.settled) claims.delete(claim)
    for (const open of draft.claims) claims.set(open.given.claim, open)
    for (const order of batch.orders) {
      if (order.type === 'load') answer(draft, order, load(at, order.claim))
      if (order.type === 'close') answer(draft, order, { ok: true, value: undefined })
    }
    lastState = stateOf(at)
    return {
      type: 'reply',
      entries: batch.entries.length,
      special: draft.special,
      notes: batch.notes.length,
      answers: draft.answers,
      claims: draft.claims.map((open) => open.given),
      changes: changes.take(),
      state: lastState,
    }
  }

  function load(at: Desk, claim: number): { ok: true; value: unknown } | { ok: false; error: PlainError } {
    const open = claims.get(claim)
    if (open === undefined) {
      return {
        ok: false,
        error: { code: 'LEASE_LOST', message: 'the claim was settled before, or taken back' },
      }
    }
    try {
      return { ok: true, value: at.loadWork(open.given.task) }
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
    failure = error.message
    lastState = { ...lastState, writable: false, reason: failure, wakeAt: Number.POSITIVE_INFINITY }
    return {
      type: 'reply',
      entries: batch.entries.length,
      special: batch.entries.map((_entry, index) => [index, error] as const),
      notes: batch.notes.length,
      answers,
      claims: [],
      changes: [],
      state: lastState,
    }
  }

  return {
    state: () => lastState,

    run(batch) {
      // First of all: who began to listen hears of what was asked for in the same turn.
      for (const order of batch.orders) if (order.type === 'listen') changes.listen(order.on)
      try {
        const at = desk ?? reopenAndRecover()
        if (!writes(at, batch)) {
          const draft: Draft = { special: [], answers: [], claims: [], settled: new Set() }
          for (const order of batch.orders) {
            if (!waitsForCommit(order)) answer(draft, order, { ok: true, value: obey(at, order, draft) })
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

/** Hiring may be followed by claims at once, which the check of what is due does not see yet. */
function isWriting(order: Order): boolean {
  return !['load', 'listen', 'tick', 'rest', 'fault', 'close'].includes(order.type)
}

/** Answered after the commit, from what is committed. */
function waitsForCommit(order: Order): boolean {
  return order.type === 'load' || order.type === 'close'
}

function answer(
  draft: Draft,
  order: Order,
  result: { ok: true; value: unknown } | { ok: false; error: PlainError },
): void {
  if (order.call !== undefined) draft.answers.push({ call: order.call, ...result })
}

function plainError({ code, message }: StoreError): PlainError {
  return { code, message }
}
