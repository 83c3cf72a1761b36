/**
 * Owns the main thread's side of the writer: collects what is asked for within one turn of the event loop,
 * posts it as one message, and hands the replies back to those who wait.
 */

import type { Worker } from 'node:worker_threads'
import { type Acceptance, type Entry, type Id, type RequestRecord, StoreError } from '../port.ts'
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
  /** To be called once a second. Answers whether the writer has nothing to do. */
  watch(): boolean
  /** Whether a commit takes so long that nobody waits for it any more. */
  isStalled(): boolean
  /** Resolves while a commit is, or when one is, in such a state. */
  whenStalled(): Promise<void>
  /** Whether the sender of the request was answered before it was known what becomes of it. */
  isOpen(request: Id): boolean
  /** Rejects everything that waits, now and later. */
  fail(error: StoreError): void
}

export interface WriterClientOptions {
  readonly worker: Pick<Worker, 'postMessage'>
  readonly now: () => number
  /** What became of a request whose sender was answered before. */
  onLate(request: Id, isKept: boolean): void
  /** A commit began to take too long. That it is over tells the next reply. */
  onStalled(): void
}

interface WaitingEntry {
  readonly entry: Entry
  readonly resolve: (acceptance: Acceptance) => void
  readonly reject: (error: StoreError) => void
}

interface WaitingCall {
  /** Whether it is answered where a commit takes too long: an order of the admin surface, and the end of claiming. */
  readonly isAsked: boolean
  readonly resolve: (value: unknown) => void
  readonly reject: (error: StoreError) => void
}

/** A commit that takes longer is not waited for. In looks, which come once a second. */
const mostLooks = 5

/** Commands of our own can wait for as long as it takes. */
const ownCommands: ReadonlySet<string> = new Set(['offer-route', 'arm', 'hasten'])

/**
 * Posts without an answer: one that the writer works on, and one at its door, so that it never waits for us. More
 * would only split what one batch can hold, and each costs both threads a wake-up.
 */
const mostUnanswered = 2

/** Notes that are on their way to the disk at one time; more are dropped. */
const mostNotes = 2_000

export function createWriterClient({ worker, now, onLate, onStalled }: WriterClientOptions): WriterClient {
  let outgoing = emptyPost()
  let posting = false
  let posted = 0
  let answered = 0
  let failure: StoreError | undefined
  let lastCall = 0
  let notes = 0
  /** Looks since the last reply, while one is waited for. */
  let looks = 0
  let answeredAtLook = 0
  let stall: PromiseWithResolvers<void> & { isOn: boolean } = newStall()
  /** Requests whose senders were answered while it was not known whether they are kept. */
  const open = new Set<Id>()
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
      const { id } = entry.request
      if (open.delete(id)) onLate(id, answer === undefined || 'actions' in answer)
      if (answer === undefined) resolve(acceptedWhole(entry))
      else if ('actions' in answer) resolve(answer)
      else reject(storeError(answer))
    }
  }

  /** What was handed in may still be kept; what was not is withdrawn. */
  function beginStall(): void {
    stall.isOn = true
    const withdrawn = outgoing.entryCount
    outgoing.entries = []
    outgoing.entryCount = 0
    const posted = entries.slice(0, entries.length - withdrawn)
    for (const { entry, reject } of posted) {
      open.add(entry.request.id)
      reject(slowError(' It may still be kept: send it again with the same key.'))
    }
    for (const { reject } of entries.slice(posted.length)) reject(slowError())
    entries = posted
    for (const [call, { isAsked, reject }] of calls) {
      if (!isAsked) continue
      reject(slowError(' It may still be done.'))
      calls.delete(call)
    }
    stall.resolve()
    onStalled()
  }

  function endStall(): void {
    looks = 0
    if (stall.isOn) stall = newStall()
  }

  return {
    accept(entry) {
      if (failure !== undefined) return Promise.reject(failure)
      if (stall.isOn) return Promise.reject(slowError())
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
      const isAsked =
        order.type === 'rest' || (order.type === 'command' && !ownCommands.has(order.command.type))
      if (isAsked && stall.isOn) return Promise.reject(slowError())
      return new Promise((resolve, reject) => {
        lastCall += 1
        calls.set(lastCall, { isAsked, resolve, reject })
        outgoing.orders.push({ ...order, call: lastCall })
        postSoon()
      })
    },

    tell(order) {
      outgoing.orders.push(order)
      postSoon()
    },

    watch() {
      if (posted === answered || answered !== answeredAtLook) looks = 0
      answeredAtLook = answered
      if (posted === answered) return isEmpty(outgoing)
      looks += 1
      if (looks > mostLooks && !stall.isOn) beginStall()
      return false
    },

    isStalled: () => stall.isOn,
    whenStalled: () => stall.promise,
    isOpen: (request) => open.has(request),

    settle(reply) {
      endStall()
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

function storeError({ code, message, ...options }: PlainError): StoreError {
  return new StoreError(code, message, options)
}

function newStall() {
  return { ...Promise.withResolvers<void>(), isOn: false }
}

/** `more`: what that means for the one who waits; without it nothing of what was asked has happened. */
function slowError(more = ''): StoreError {
  return new StoreError('STORE_UNAVAILABLE', `${slowCommit}${more && `.${more}`}`, { brief: slowCommit })
}

export const slowCommit = `a commit takes longer than ${mostLooks} s`
