/**
 * Owns the main thread's side of the writer: collects what is asked for within one turn of the event loop,
 * posts it as one message, and hands the replies back to those who wait.
 */

import type { Worker } from 'node:worker_threads'
import { type Acceptance, type Entry, type RequestRecord, StoreError } from '../port.ts'
import { flattenEntry, flattenNote } from './entry.ts'
import type { Order, PlainError, Post, Reply } from './protocol.ts'

export interface WriterClient {
  accept(entry: Entry): Promise<Acceptance>
  note(request: RequestRecord): void
  /** An order that is answered after its commit. */
  ask(order: Order): Promise<unknown>
  /** An order that is not answered. */
  tell(order: Order): void
  /** To be called with every reply of the worker, in order. */
  settle(reply: Reply): void
  /** Rejects everything that waits, now and later. */
  fail(error: StoreError): void
}

interface WaitingEntry {
  readonly entry: Entry
  readonly resolve: (acceptance: Acceptance) => void
  readonly reject: (error: StoreError) => void
}

interface WaitingCall {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: StoreError) => void
}

/**
 * Posts without an answer: one that the writer works on, and one at its door, so that it never waits for us. More
 * would only split what one batch can hold, and each costs both threads a wake-up.
 */
const mostUnanswered = 2

/** Notes that are on their way to the disk at one time; more are dropped. */
const mostNotes = 2_000

export function createWriterClient(worker: Pick<Worker, 'postMessage'>, now: () => number): WriterClient {
  let outgoing = emptyPost()
  let posting = false
  let posted = 0
  let answered = 0
  let failure: StoreError | undefined
  let lastCall = 0
  let notes = 0
  let entries: WaitingEntry[] = []
  const calls = new Map<number, WaitingCall>()

  function postSoon(): void {
    if (posting || posted - answered >= mostUnanswered) return
    posting = true
    setImmediate(post)
  }

  function post(): void {
    posting = false
    posted += 1
    const message: Post = { ...outgoing, number: posted, now: now() }
    outgoing = emptyPost()
    if (failure !== undefined) return
    try {
      worker.postMessage(message)
    } catch {
      postWithoutStrangers(message)
    }
  }

  /** One order holds what cannot be cloned (a function in a receipt): it alone is refused. */
  function postWithoutStrangers(message: Post): void {
    const orders = message.orders.filter((order) => {
      try {
        structuredClone(order)
        return true
      } catch (error) {
        reject(order, new StoreError('BAD_ENTRY', 'an effect holds what is no data', { cause: error }))
        return false
      }
    })
    worker.postMessage({ ...message, orders })
  }

  function reject(order: Order, error: StoreError): void {
    if (order.call === undefined) return
    calls.get(order.call)?.reject(error)
    calls.delete(order.call)
  }

  function settleEntries(reply: Reply): void {
    if (reply.entries === 0) return
    const answered = entries.slice(0, reply.entries)
    entries = entries.slice(reply.entries)
    const special = new Map(reply.special)
    for (const [index, { entry, resolve, reject }] of answered.entries()) {
      const answer = special.get(index)
      if (answer === undefined) resolve(acceptedWhole(entry))
      else if ('actions' in answer) resolve(answer)
      else reject(storeError(answer))
    }
  }

  return {
    accept(entry) {
      if (failure !== undefined) return Promise.reject(failure)
      return new Promise((resolve, reject) => {
        const start = outgoing.entries.length
        try {
          flattenEntry(outgoing.entries, entry)
        } catch (error) {
          outgoing.entries.length = start
          reject(new StoreError('BAD_ENTRY', 'the entry cannot be serialised', { cause: error }))
          return
        }
        outgoing.entryCount += 1
        entries.push({ entry, resolve, reject })
        postSoon()
      })
    },

    note(request) {
      if (failure !== undefined || notes >= mostNotes) return
      notes += 1
      flattenNote(outgoing.notes, request)
      outgoing.noteCount += 1
      postSoon()
    },

    ask(order) {
      if (failure !== undefined) return Promise.reject(failure)
      return new Promise((resolve, reject) => {
        lastCall += 1
        calls.set(lastCall, { resolve, reject })
        outgoing.orders.push({ ...order, call: lastCall })
        postSoon()
      })
    },

    tell(order) {
      outgoing.orders.push(order)
      postSoon()
    },

    settle(reply) {
      answered = reply.post
      if (!isEmpty(outgoing)) postSoon()
      notes -= reply.notes
      settleEntries(reply)
      for (const answer of reply.answers) {
        const call = calls.get(answer.call)
        calls.delete(answer.call)
        if (answer.ok) call?.resolve(answer.value)
        else call?.reject(storeError(answer.error))
      }
    },

    fail(error) {
      failure = error
      for (const { reject } of entries) reject(error)
      for (const { reject } of calls.values()) reject(error)
      entries = []
      calls.clear()
    },
  }
}

function emptyPost() {
  return {
    entries: [] as unknown[],
    entryCount: 0,
    notes: [] as unknown[],
    noteCount: 0,
    orders: [] as Order[],
  }
}

function isEmpty({ entryCount, noteCount, orders }: ReturnType<typeof emptyPost>): boolean {
  return entryCount + noteCount + orders.length === 0
}

function acceptedWhole(entry: Entry): Acceptance {
  return { actions: entry.actions.map((action) => ({ outcome: 'accepted', id: action.record.id })) }
}

function storeError({ code, message }: PlainError): StoreError {
  return new StoreError(code, message)
}
