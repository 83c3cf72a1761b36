/**
 * The main thread's side of the core: collects the actions of one tick of the event loop, posts them together, and passes the results
 * to the callers that wait for them.
 */

import { type Acceptance, type Entry, type Id, type RequestRecord, StoreError } from './port.ts'
import type { Action, PlainError, Post, Reply, Result } from './protocol.ts'
import { idOf, plainEntry } from './records/entries.ts'

export type Client = ReturnType<typeof createClient>

export interface ClientOptions {
  readonly now: () => number
  /** Hands a post to the core. Its reply comes by `settle`. */
  post(post: Post): void
  /** Maximum number of actions in one post. */
  readonly maxActions: number
  /** Called when it becomes known whether the store kept a request whose sender was answered before. */
  onLate(request: Id, isKept: boolean): void
  /** Called when a commit begins to take too long. The next reply ends that state. */
  onStalled(): void
}

interface Waiting {
  readonly action: Action
  /** True if its caller is answered 503 when a commit stalls: senders and commands of the admin surface. */
  readonly failsOnStall: boolean
  readonly resolve: (value: unknown) => void
  readonly reject: (error: StoreError) => void
}

/**
 * Maximum number of posts without a reply. The core works on one while the next one waits, or on both. More would only split what one
 * transaction can hold.
 */
const maxUnanswered = 2
/** A commit has stalled after this many calls of `watch`, which come once a second. */
const stallAfterTicks = 5
/** While the core is busy, a post waits for no more turns of the event loop than this, as long as each brings further entries. */
const maxTurns = 4
/** Notes that may be on their way to the disk at one time. More are dropped. */
const maxNotes = 2_000
/** Maximum bytes of their bodies; further requests are noted without theirs. */
const maxNotedBytes = 33_554_432

/** The gateway's own commands wait for a stalled commit, however long it takes. */
const ownCommands: ReadonlySet<string> = new Set([
  'offer-route',
  'schedule',
  'expedite',
  'job-next',
  'job-settle',
])

/** State that the functions of a client share. */
interface Parts extends ClientOptions {
  /** Actions that are not posted yet, and those of posts without a reply. */
  queued: Waiting[]
  readonly posted: Map<number, readonly Waiting[]>
  lastPost: number
  isPosting: boolean
  failure: StoreError | undefined
  /** Set while the disk has failed: what was posted waits, and nothing else is accepted. */
  lost: StoreError | undefined
  stall: ReturnType<typeof newStall>
  /** Number of calls of `watch` since the last reply. */
  ticks: number
  /** Requests whose senders were answered while it was not known whether the store keeps them. */
  readonly undecided: Set<Id>
}

export function createClient(options: ClientOptions) {
  const noted = createNotedRequests()
  const client: Parts = {
    ...options,
    queued: [],
    posted: new Map(),
    lastPost: 0,
    isPosting: false,
    failure: undefined,
    lost: undefined,
    stall: newStall(),
    ticks: 0,
    undecided: new Set(),
  }
  const { posted, undecided } = client

  return {
    accept: (entry: Entry) => accept(client, entry),

    note(request: RequestRecord) {
      const kept = client.failure === undefined ? noted.add(request) : undefined
      if (kept === undefined) return
      const settled = () => noted.done(kept.id)
      const entry = plainEntry({ request: kept, actions: [] })
      enqueue(client, { type: 'accept', entry }, false).then(settled, settled)
    },

    /** A noted request whose commit is under way. */
    noted: noted.get,

    /** Asks for an action that is answered after its commit. */
    call(action: Action): Promise<unknown> {
      const isForeign = action.type === 'command' && !ownCommands.has(action.command.type)
      return enqueue(client, action, action.type === 'pause' || action.type === 'give-up' || isForeign)
    },

    /** Asks for an action whose end nobody waits for. */
    send(action: Action) {
      enqueue(client, action, false).catch(() => undefined)
    },

    /** The store calls it once a second. Returns whether the core has nothing to do. */
    watch(): boolean {
      const isIdle = posted.size === 0
      client.ticks = isIdle ? 0 : client.ticks + 1
      if (client.ticks > stallAfterTicks && !client.stall.isOn) beginStall(client)
      return isIdle && client.queued.length === 0
    },

    /** True while a commit takes so long that callers no longer wait for it. */
    isStalled: () => client.stall.isOn,
    /** Resolves as soon as a commit has stalled. */
    whenStalled: () => client.stall.promise,
    /** True if the sender of the request was answered before it was known whether the store keeps it. */
    isUndecided: (request: Id): boolean => undecided.has(request),

    settle({ post: number, results }: Pick<Reply, 'post' | 'results'>) {
      client.ticks = 0
      if (client.stall.isOn) client.stall = newStall()
      const batch = posted.get(number) ?? []
      posted.delete(number)
      if (client.queued.length > 0) postSoon(client)
      for (const [index, waiting] of batch.entries()) settleOne(client, waiting, results[index])
    },

    /** The disk has failed, or the store is on a new file. */
    lose(error: StoreError | undefined) {
      client.lost = error
    },

    /** Rejects every call that waits, and every later one. */
    fail(error: StoreError) {
      client.failure = error
      for (const { reject } of [...posted.values()].flat().concat(client.queued)) reject(error)
      posted.clear()
      client.queued = []
    },
  }
}

async function accept(client: Parts, entry: Entry): Promise<Acceptance> {
  let action: Action
  try {
    action = { type: 'accept', entry: plainEntry(entry) }
  } catch (error) {
    throw new StoreError('BAD_ENTRY', 'the entry cannot be serialised', { cause: error })
  }
  return ((await enqueue(client, action, true)) as Acceptance | undefined) ?? acceptedWhole(entry)
}

function enqueue(client: Parts, action: Action, failsOnStall: boolean): Promise<unknown> {
  const { failure, lost, stall } = client
  if (failure !== undefined) return Promise.reject(failure)
  if (failsOnStall && lost !== undefined) return Promise.reject(lost)
  if (failsOnStall && stall.isOn) return Promise.reject(slowError())
  return new Promise((resolve, reject) => {
    client.queued.push({ action, failsOnStall, resolve, reject })
    postSoon(client)
  })
}

function postSoon(client: Parts): void {
  const { isPosting, posted, failure } = client
  if (isPosting || posted.size >= maxUnanswered || failure !== undefined) return
  client.isPosting = true
  gather(client, client.queued.length, posted.size > 0 ? maxTurns : 1)
}

/** Posts at the end of the turn, or of the first further one that brings no more. */
function gather(client: Parts, seen: number, turns: number): void {
  setImmediate(() => {
    if (client.queued.length > seen && turns > 1) gather(client, client.queued.length, turns - 1)
    else postNow(client)
  })
}

function postNow(client: Parts): void {
  const { now, maxActions, posted, post } = client
  client.isPosting = false
  if (client.failure !== undefined || client.queued.length === 0) return
  const batch = client.queued.slice(0, maxActions)
  client.queued = client.queued.slice(maxActions)
  client.lastPost += 1
  posted.set(client.lastPost, batch)
  try {
    post({ number: client.lastPost, now: now(), actions: batch.map(({ action }) => action) })
  } catch {
    postWhatCanBeCloned(client, client.lastPost, batch)
  }
  if (client.queued.length > 0) postSoon(client)
}

/** An action that cannot be cloned, such as one with a receipt that holds a function, is refused without its neighbours. */
function postWhatCanBeCloned({ now, posted, post }: Parts, number: number, batch: readonly Waiting[]): void {
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

function settleOne({ undecided, onLate }: Parts, { action, resolve, reject }: Waiting, result: Result): void {
  const error = result !== undefined && 'error' in result ? storeError(result.error) : undefined
  if (action.type === 'accept' && undecided.delete(idOf(action.entry)))
    onLate(idOf(action.entry), error === undefined)
  if (error === undefined) resolve(result !== undefined && 'value' in result ? result.value : undefined)
  else reject(error)
}

/** The store may still keep entries that were posted. Those that were not are withdrawn. */
function beginStall(client: Parts): void {
  const { posted, undecided, queued, stall, onStalled } = client
  stall.isOn = true
  for (const { action, failsOnStall, reject } of [...posted.values()].flat()) {
    if (!failsOnStall) continue
    const isEntry = action.type === 'accept'
    if (isEntry) undecided.add(idOf(action.entry))
    reject(
      slowError(
        isEntry ? ' It may still be kept: send it again with the same key.' : ' It may still be done.',
      ),
    )
  }
  client.queued = queued.filter(({ failsOnStall }) => !failsOnStall)
  for (const { failsOnStall, reject } of queued) if (failsOnStall) reject(slowError())
  stall.resolve()
  onStalled()
}

/** Knows the noted requests whose commit is under way, so that a sender finds its request as soon as the reply names it. */
function createNotedRequests() {
  const waiting = new Map<Id, RequestRecord>()
  let bytes = 0

  return {
    /** Returns what is to be committed: without its body while many wait, and nothing under a flood. */
    add(request: RequestRecord): RequestRecord | undefined {
      if (waiting.size >= maxNotes) return undefined
      const { body, head: _head, ...bare } = request
      const kept: RequestRecord = bytes + (body?.length ?? 0) > maxNotedBytes ? bare : request
      bytes += kept.body?.length ?? 0
      waiting.set(request.id, kept)
      return kept
    },
    /** The request is on the disk, or is given up. */
    done(id: Id): void {
      bytes -= waiting.get(id)?.body?.length ?? 0
      waiting.delete(id)
    },
    get: (id: Id): RequestRecord | undefined => waiting.get(id),
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
