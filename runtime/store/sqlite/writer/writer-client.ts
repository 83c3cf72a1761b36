/**
 * The main thread's side of the writer: collects the requests of one tick of the event loop, posts them as one message,
 * and passes the replies to the callers that wait for them.
 */

import type { Worker } from 'node:worker_threads'
import { createNotedRequests } from '../../noted-requests.ts'
import { type Acceptance, type Entry, type Id, type RequestRecord, StoreError } from '../../port.ts'
import { flattenEntry, flattenNote } from '../records/flat-entry.ts'
import type { Order, PlainError, Post, Reply } from './protocol.ts'

export type WriterClient = ReturnType<typeof createWriterClient>

export interface WriterClientOptions {
  readonly worker: Pick<Worker, 'postMessage'>
  readonly now: () => number
  /** Called when it becomes known whether the store kept a request whose sender was answered before. */
  onLate(request: Id, isKept: boolean): void
  /** Called when a commit begins to take too long. The next reply ends that state. */
  onStalled(): void
}

interface WaitingEntry {
  readonly entry: Entry
  readonly resolve: (acceptance: Acceptance) => void
  readonly reject: (error: StoreError) => void
}

interface WaitingCall {
  /** True for orders that are rejected when a commit stalls: commands of the admin surface, and the end of claiming. */
  readonly failsOnStall: boolean
  readonly resolve: (value: unknown) => void
  readonly reject: (error: StoreError) => void
}

/** A commit has stalled after this many calls of `watch`, which come once a second. */
const stallAfterTicks = 5

/** The gateway's own commands wait for a stalled commit, however long it takes. */
const ownCommands: ReadonlySet<string> = new Set([
  'offer-route',
  'schedule',
  'expedite',
  'job-next',
  'job-settle',
])

/**
 * The writer works on one post while the next one waits, so it never waits for the main thread. More unanswered posts
 * would only split what one batch can hold, and each costs both threads a wake-up.
 */
const mostUnanswered = 2

/** While the writer is busy, a post waits for no more turns of the event loop than this, as long as each brings further requests. */
const mostTurns = 4

/** Notes that may be on their way to the disk at one time. More are dropped. */
const mostNotes = 2_000

export function createWriterClient({ worker, now, onLate, onStalled }: WriterClientOptions) {
  let outgoing = emptyPost()
  let posting = false
  let posted = 0
  let answered = 0
  let failure: StoreError | undefined
  /** Set while the disk has failed: what was posted waits, and nothing else is taken. */
  let lost: StoreError | undefined
  let lastCall = 0
  const noted = createNotedRequests(mostNotes)
  /** Calls of `watch` since the last reply, while one is expected. */
  let ticks = 0
  let answeredAtTick = 0
  let stall: PromiseWithResolvers<void> & { isOn: boolean } = newStall()
  /** Requests whose senders were answered while it was not known whether the store keeps them. */
  const undecided = new Set<Id>()
  let entries: WaitingEntry[] = []
  const calls = new Map<number, WaitingCall>()

  function postSoon(): void {
    if (posting || posted - answered >= mostUnanswered) return
    posting = true
    gather(outgoing.entryCount, posted > answered ? mostTurns : 1)
  }

  /** Posts at the end of the turn, or of the first further one that brings no more entries. */
  function gather(seen: number, turns: number): void {
    setImmediate(() => {
      const count = outgoing.entryCount
      if (count > seen && turns > 1) gather(count, turns - 1)
      else post()
    })
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
      postWhatCanBeCloned(message)
    }
  }

  /** An order that cannot be cloned, such as a receipt with a function in it, is refused without its neighbours. */
  function postWhatCanBeCloned(message: Post): void {
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
      if (undecided.delete(id)) onLate(id, answer === undefined || 'actions' in answer)
      if (answer === undefined) resolve(acceptedWhole(entry))
      else if ('actions' in answer) resolve(answer)
      else reject(storeError(answer))
    }
  }

  /** The store may still keep entries that were posted. Entries that were not posted are withdrawn. */
  function beginStall(): void {
    stall.isOn = true
    const withdrawn = outgoing.entryCount
    outgoing.entries = []
    outgoing.entryCount = 0
    const posted = entries.slice(0, entries.length - withdrawn)
    for (const { entry, reject } of posted) {
      undecided.add(entry.request.id)
      reject(slowError(' It may still be kept: send it again with the same key.'))
    }
    for (const { reject } of entries.slice(posted.length)) reject(slowError())
    entries = posted
    for (const [call, { failsOnStall, reject }] of calls) {
      if (!failsOnStall) continue
      reject(slowError(' It may still be done.'))
      calls.delete(call)
    }
    stall.resolve()
    onStalled()
  }

  function endStall(): void {
    ticks = 0
    if (stall.isOn) stall = newStall()
  }

  return {
    accept(entry: Entry): Promise<Acceptance> {
      if (failure !== undefined) return Promise.reject(failure)
      if (lost !== undefined) return Promise.reject(lost)
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

    note(request: RequestRecord) {
      const kept = failure === undefined ? noted.add(request) : undefined
      if (kept === undefined) return
      flattenNote(outgoing.notes, kept)
      outgoing.noteCount += 1
      postSoon()
    },

    /** A noted request whose commit is under way. */
    noted: noted.get,

    /** Sends an order that is answered after its commit. */
    call(order: Order): Promise<unknown> {
      if (failure !== undefined) return Promise.reject(failure)
      const failsOnStall =
        order.type === 'pause' || (order.type === 'command' && !ownCommands.has(order.command.type))
      if (failsOnStall && lost !== undefined) return Promise.reject(lost)
      if (failsOnStall && stall.isOn) return Promise.reject(slowError())
      return new Promise((resolve, reject) => {
        lastCall += 1
        calls.set(lastCall, { failsOnStall, resolve, reject })
        outgoing.orders.push({ ...order, call: lastCall })
        postSoon()
      })
    },

    /** Sends an order that is not answered. */
    send(order: Order) {
      outgoing.orders.push(order)
      postSoon()
    },

    /** The store calls it once a second. Returns whether the writer has nothing to do. */
    watch(): boolean {
      if (posted === answered || answered !== answeredAtTick) ticks = 0
      answeredAtTick = answered
      if (posted === answered) return isEmpty(outgoing)
      ticks += 1
      if (ticks > stallAfterTicks && !stall.isOn) beginStall()
      return false
    },

    /** Returns whether a commit takes so long that no caller waits for it any more. */
    isStalled: () => stall.isOn,
    /** Resolves as soon as a commit has stalled. */
    whenStalled: () => stall.promise,
    /** Returns whether the sender of the request was answered before it was known whether the store keeps it. */
    isUndecided: (request: Id): boolean => undecided.has(request),

    /** The store calls it with every reply of the worker, in order. */
    settle(reply: Reply) {
      endStall()
      answered = reply.post
      if (!isEmpty(outgoing)) postSoon()
      noted.settled(reply.notes)
      settleEntries(reply)
      for (const answer of reply.answers) {
        const call = calls.get(answer.call)
        calls.delete(answer.call)
        if (answer.ok) call?.resolve(answer.value)
        else call?.reject(storeError(answer.error))
      }
    },

    /** The disk has failed, or the store is on a new file. */
    lose(error: StoreError | undefined) {
      lost = error
    },

    /** Rejects every call that waits, and every later one. */
    fail(error: StoreError) {
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

/** `more` describes the consequence of the stall for the caller. Without it, nothing that was requested has happened. */
function slowError(more = ''): StoreError {
  return new StoreError('STORE_UNAVAILABLE', `${slowCommitReason}${more && `.${more}`}`, {
    brief: slowCommitReason,
  })
}

export const slowCommitReason = `a commit takes longer than ${stallAfterTicks} s`

/** The thread's program, which lies beside this module as a source, in a package or in a bundle. */
export function writerFile(): URL {
  return new URL(
    import.meta.url.endsWith('.ts') ? './sqlite-writer.ts' : './sqlite-writer.js',
    import.meta.url,
  )
}
