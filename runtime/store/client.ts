/**
 * The main thread's side of the core: collects the actions of one tick of the event loop, posts them together, and passes the results
 * to the callers that wait for them.
 */

import { createNotedRequests } from './noted-requests.ts'
import { type Acceptance, type Entry, type Id, type RequestRecord, StoreError } from './port.ts'
import type { Action, PlainError, Post, Reply, Result } from './protocol.ts'
import { idOf, plainEntry } from './records/entries.ts'

export type Client = ReturnType<typeof createClient>

export interface ClientOptions {
  readonly now: () => number
  /** Hands a post to the core. Its reply comes by `settle`. */
  post(post: Post): void
  /** How many posts may be without a reply. */
  readonly maxUnanswered: number
  /** How many actions one post holds. */
  readonly maxActions: number
  /** Called when it becomes known whether the store kept a request whose sender was answered before. */
  onLate(request: Id, isKept: boolean): void
  /** Called when a commit begins to take too long. The next reply ends that state. */
  onStalled(): void
}

interface Waiting {
  readonly action: Action
  /** Whether its caller is answered 503 when a commit stalls: senders and commands of the admin surface. */
  readonly failsOnStall: boolean
  readonly resolve: (value: unknown) => void
  readonly reject: (error: StoreError) => void
}

/** A commit has stalled after this many calls of `watch`, which come once a second. */
const stallAfterTicks = 5
/** While the core is busy, a post waits for no more turns of the event loop than this, as long as each brings further entries. */
const maxTurns = 4
/** Notes that may be on their way to the disk at one time. More are dropped. */
const maxNotes = 2_000

/** The gateway's own commands wait for a stalled commit, however long it takes. */
const ownCommands: ReadonlySet<string> = new Set([
  'offer-route',
  'schedule',
  'expedite',
  'job-next',
  'job-settle',
])

export function createClient({ now, post, maxUnanswered, maxActions, onLate, onStalled }: ClientOptions) {
  /** Actions that are not posted yet, and those of posts without a reply. */
  let queued: Waiting[] = []
  const posted = new Map<number, readonly Waiting[]>()
  let lastPost = 0
  let isPosting = false
  let failure: StoreError | undefined
  /** Set while the disk has failed: what was posted waits, and nothing else is accepted. */
  let lost: StoreError | undefined
  const noted = createNotedRequests(maxNotes)
  let ticks = 0
  let replies = 0
  let repliesAtTick = 0
  let stall = newStall()
  /** Requests whose senders were answered while it was not known whether the store keeps them. */
  const undecided = new Set<Id>()

  function postSoon(): void {
    if (isPosting || posted.size >= maxUnanswered || failure !== undefined) return
    isPosting = true
    gather(queued.length, posted.size > 0 ? maxTurns : 1)
  }

  /** Posts at the end of the turn, or of the first further one that brings no more. */
  function gather(seen: number, turns: number): void {
    setImmediate(() => {
      if (queued.length > seen && turns > 1) gather(queued.length, turns - 1)
      else postNow()
    })
  }

  function postNow(): void {
    isPosting = false
    if (failure !== undefined || queued.length === 0) return
    const batch = queued.slice(0, maxActions)
    queued = queued.slice(maxActions)
    lastPost += 1
    posted.set(lastPost, batch)
    try {
      post({ number: lastPost, now: now(), actions: batch.map(({ action }) => action) })
    } catch {
      postWhatCanBeCloned(lastPost, batch)
    }
    if (queued.length > 0) postSoon()
  }

  /** An action that cannot be cloned, such as one with a receipt that holds a function, is refused without its neighbours. */
  function postWhatCanBeCloned(number: number, batch: readonly Waiting[]): void {
    const kept = batch.filter(({ action, reject }) => {
      try {
        structuredClone(action)
        return true
      } catch (error) {
        reject(new StoreError('BAD_ENTRY', 'an effect holds what is no data', { cause: error }))
        return false
      }
    })
    posted.set(number, kept)
    post({ number, now: now(), actions: kept.map(({ action }) => action) })
  }

  function enqueue(action: Action, failsOnStall: boolean): Promise<unknown> {
    if (failure !== undefined) return Promise.reject(failure)
    if (failsOnStall && lost !== undefined) return Promise.reject(lost)
    if (failsOnStall && stall.isOn) return Promise.reject(slowError())
    return new Promise((resolve, reject) => {
      queued.push({ action, failsOnStall, resolve, reject })
      postSoon()
    })
  }

  function settleOne({ action, resolve, reject }: Waiting, result: Result): void {
    const error = result !== undefined && 'error' in result ? storeError(result.error) : undefined
    if (action.type === 'accept' && undecided.delete(idOf(action.entry)))
      onLate(idOf(action.entry), error === undefined)
    if (error === undefined) resolve(result !== undefined && 'value' in result ? result.value : undefined)
    else reject(error)
  }

  /** The store may still keep entries that were posted. Those that were not are withdrawn. */
  function beginStall(): void {
    stall.isOn = true
    for (const { action, failsOnStall, reject } of [...posted.values()].flat()) {
      if (!failsOnStall) continue
      if (action.type === 'accept') undecided.add(idOf(action.entry))
      reject(
        slowError(
          action.type === 'accept'
            ? ' It may still be kept: send it again with the same key.'
            : ' It may still be done.',
        ),
      )
    }
    const withdrawn = queued.filter(({ failsOnStall }) => failsOnStall)
    queued = queued.filter(({ failsOnStall }) => !failsOnStall)
    for (const { reject } of withdrawn) reject(slowError())
    stall.resolve()
    onStalled()
  }

  return {
    async accept(entry: Entry): Promise<Acceptance> {
      let action: Action
      try {
        action = { type: 'accept', entry: plainEntry(entry) }
      } catch (error) {
        throw new StoreError('BAD_ENTRY', 'the entry cannot be serialised', { cause: error })
      }
      return ((await enqueue(action, true)) as Acceptance | undefined) ?? acceptedWhole(entry)
    },

    note(request: RequestRecord) {
      const kept = failure === undefined ? noted.add(request) : undefined
      if (kept === undefined) return
      const settled = () => noted.done(kept.id)
      enqueue({ type: 'note', request: plainEntry({ request: kept, actions: [] }) }, false).then(
        settled,
        settled,
      )
    },

    /** A noted request whose commit is under way. */
    noted: noted.get,

    /** Asks for an action that is answered after its commit. */
    call(action: Action): Promise<unknown> {
      const isForeign = action.type === 'command' && !ownCommands.has(action.command.type)
      return enqueue(action, action.type === 'pause' || action.type === 'give-up' || isForeign)
    },

    /** Asks for an action whose end nobody waits for. */
    send(action: Action) {
      enqueue(action, false).catch(() => undefined)
    },

    /** The store calls it once a second. Returns whether the core has nothing to do. */
    watch(): boolean {
      const isIdle = posted.size === 0
      if (isIdle || replies !== repliesAtTick) ticks = 0
      repliesAtTick = replies
      if (isIdle) return queued.length === 0
      ticks += 1
      if (ticks > stallAfterTicks && !stall.isOn) beginStall()
      return false
    },

    /** Whether a commit takes so long that no caller waits for it any more. */
    isStalled: () => stall.isOn,
    /** Resolves as soon as a commit has stalled. */
    whenStalled: () => stall.promise,
    /** Whether the sender of the request was answered before it was known whether the store keeps it. */
    isUndecided: (request: Id): boolean => undecided.has(request),
    /** Whether nothing is queued or without a reply. */
    isIdle: () => queued.length === 0 && posted.size === 0,

    settle({ post: number, results }: Pick<Reply, 'post' | 'results'>) {
      replies += 1
      ticks = 0
      if (stall.isOn) stall = newStall()
      const batch = posted.get(number) ?? []
      posted.delete(number)
      if (queued.length > 0) postSoon()
      for (const [index, waiting] of batch.entries()) settleOne(waiting, results[index])
    },

    /** The disk has failed, or the store is on a new file. */
    lose(error: StoreError | undefined) {
      lost = error
    },

    /** Rejects every call that waits, and every later one. */
    fail(error: StoreError) {
      failure = error
      for (const { reject } of [...posted.values()].flat().concat(queued)) reject(error)
      posted.clear()
      queued = []
    },
  }
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

export const slowCommitReason = `a commit takes longer than ${stallAfterTicks} s`

/** `more` describes the consequence of the stall for the caller. Without it, nothing that was requested has happened. */
function slowError(more = ''): StoreError {
  return new StoreError('STORE_UNAVAILABLE', `${slowCommitReason}${more && `.${more}`}`, {
    brief: slowCommitReason,
  })
}
