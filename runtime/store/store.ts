/** Assembles a store of its core, which may run in another thread, its reader, and what is answered from memory. */

import { createChangeFeed } from './change-feed.ts'
import { type Client, createClient, slowCommitReason } from './client.ts'
import {
  type Cluster,
  type Command,
  type CommandResult,
  type Health,
  type SetTimer,
  type Store,
  StoreError,
  type StoreOptions,
} from './port.ts'
import type { CoreState, Happened, Opened, Post, Reply } from './protocol.ts'
import { createReader, type StoreQuery } from './reading.ts'
import { createRefusedRequests, type RefusedRequests } from './refused-requests.ts'
import { createWakeUp, setSystemTimer } from './wake-up.ts'
import { type ClaimTaker, createWorkerPool } from './worker-pool.ts'

/** The connection of a store to its core. */
export interface Engine {
  readonly cluster: Cluster
  /** Maximum number of actions in one post. */
  readonly maxActions: number
  /** Hands over a post. Its reply goes to `onReply` of the handlers. */
  post(post: Post): void
  readonly ask: (question: StoreQuery) => Promise<unknown>
  /** Called once a second. `isIdle` says that the core has nothing to do. */
  watch(isIdle: boolean): void
  /** Puts the store into a new file after the disk has failed. Resolves when that has been tried. */
  rescue?(now: number): Promise<void>
  /** The store is on a new file. */
  resume?(): void
  /** Closes the reader, then the core. Resolves when both have ended. */
  close(): Promise<void>
  /** Lets the process end without the core, whose commit hangs. */
  abandon(): void
  /** See `Claim.confirm`. */
  confirm?(claim: number): Promise<void>
}

export interface Handlers {
  onReply(reply: Reply): void
  onHappened(happened: Happened): void
  /** The core has ended by itself. */
  onStopped(cause: Error): void
}

/** Milliseconds between two checks whether writing works again. */
const writeCheckPause = 1_000
/** Milliseconds between two tries to put the store into a new file. They double with each. */
const rescuePause = 1_000
const maxRescuePause = 30_000
/** Milliseconds between two checks that commits end and that the files are in place. */
const watchPause = 1_000

/** State that the functions of a store share. */
interface Parts {
  readonly options: StoreOptions
  readonly setTimer: SetTimer
  readonly engine: Engine
  readonly client: Client
  readonly refused: RefusedRequests
  readonly changes: ReturnType<typeof createChangeFeed>
  readonly wakeUp: ReturnType<typeof createWakeUp>
  readonly workerPools: ClaimTaker[]
  readonly closed: PromiseWithResolvers<void>
  state: CoreState
  backlog: number
  cancelWriteCheck: (() => void) | undefined
  cancelWatch: () => void
  isRescuing: boolean
  closing: Promise<void> | undefined
  isStopped: boolean
  isStuck: boolean
  wasWritable: boolean
}

export async function assembleStore(
  options: StoreOptions,
  connect: (handlers: Handlers) => Promise<{ readonly engine: Engine; readonly opened: Opened }>,
): Promise<Store> {
  let store: Parts | undefined
  const { engine, opened } = await connect({
    onReply(reply) {
      store?.client.settle(reply)
      if (store !== undefined) take(store, reply)
    },
    // Before the store is assembled nobody waits for anything but its state, which is that of `opened`.
    onHappened: (happened) => store && take(store, happened),
    onStopped: (cause) => store && stopped(store, cause),
  })
  store = partsOf(options, engine, opened.state)
  watch(store)
  takeState(store, opened.state)
  return storeOf(store, opened)
}

function partsOf(options: StoreOptions, engine: Engine, state: CoreState): Parts {
  const { now, setTimer = setSystemTimer, backlog } = options
  const refused = createRefusedRequests()
  const client = createClient({
    now,
    post: engine.post,
    maxActions: engine.maxActions,
    onLate(request, isKept) {
      if (isKept) {
        refused.forget(request)
        client.send({ type: 'command', command: { type: 'refused-before-commit', request } })
      } else
        refused.amend(request, 'the store could not keep it; its sender was answered before that was known')
    },
    onStalled: () => reportHealth(store),
  })
  const store: Parts = {
    options,
    setTimer,
    engine,
    client,
    refused,
    changes: createChangeFeed(),
    wakeUp: createWakeUp(now, setTimer, () => client.send({ type: 'tick' })),
    workerPools: [],
    closed: Promise.withResolvers(),
    state,
    backlog,
    cancelWriteCheck: undefined,
    cancelWatch: () => undefined,
    isRescuing: false,
    closing: undefined,
    isStopped: false,
    isStuck: false,
    wasWritable: true,
  }
  return store
}

function storeOf(store: Parts, { newestAt, leftOpen }: Opened): Store {
  const { options, setTimer, engine, client, refused, changes, workerPools } = store
  const { now } = options
  return {
    accept: (entry) => (store.closing === undefined ? client.accept(entry) : Promise.reject(closedError())),
    note(request) {
      if (store.closing !== undefined) return
      if (!refused.takes(request.outcome)) return client.note(request)
      refused.add(request, { alone: client.isUndecided(request.id) })
      changes.push([{ type: 'request', id: request.id, state: request.outcome }])
    },
    work(workOptions) {
      const { confirm } = engine
      const parts = { id: workerPools.length, options: workOptions, client, now, setTimer }
      const workerPool = createWorkerPool({ ...parts, ...(confirm && { hold: confirm }) })
      workerPools.push(workerPool)
      return workerPool
    },
    command: (command: Command) => client.call({ type: 'command', command }) as Promise<CommandResult>,
    configure({ backlog, keepMs, sessionIdleMs, maxBodyBytes, ignoredBodiesMs }) {
      store.backlog = backlog
      // All of them: one that the configuration no longer names no longer holds.
      const limits = { keepMs, backlog, sessionIdleMs, maxBodyBytes, ignoredBodiesMs }
      client.send({ type: 'configure', limits })
    },
    read: createReader(engine.ask, refused, now, client.noted),
    changes: changes.listen,
    cluster: engine.cluster,
    now,
    newestAt,
    leftOpen,
    health: () => healthOf(store),
    isStuck: () => store.isStuck || client.isStalled(),
    close() {
      store.closing ??= shut(store)
      return store.closing
    },
  }
}

function watch(store: Parts, isFirst = true): void {
  const { engine, client, options } = store
  if (!isFirst) engine.watch(client.watch())
  store.cancelWatch = (options.setWatchTimer ?? setSystemTimer)(() => watch(store, false), watchPause)
}

function healthOf({ client, state, backlog }: Parts): Health {
  const isSlow = client.isStalled() && state.writable
  const reason = isSlow ? `${slowCommitReason}: its disk does not answer` : state.reason
  const brief = isSlow ? slowCommitReason : state.brief
  return {
    writable: state.writable && !isSlow,
    backlog: state.backlog,
    full: state.backlog >= backlog,
    events: state.pending,
    fullOfEvents: state.pending >= backlog,
    commits: state.commits,
    ...(reason !== undefined && { reason }),
    ...(brief !== undefined && { brief }),
    ...(state.outage !== undefined && { outage: state.outage }),
  }
}

function reportHealth(store: Parts): void {
  const next = healthOf(store)
  if (next.writable === store.wasWritable) return
  store.wasWritable = next.writable
  store.options.onHealth?.(next)
}

function take(store: Parts, happened: Happened): void {
  const { changes, workerPools } = store
  takeState(store, happened.state)
  reportHealth(store)
  changes.push(happened.changes)
  for (const claim of happened.claims) workerPools[claim.workerPool]?.take(claim)
  for (const { workerPool, claim } of happened.cancelled) workerPools[workerPool]?.cancel(claim)
  for (const { workerPool, claim } of happened.lost) workerPools[workerPool]?.lose(claim)
}

function takeState(store: Parts, next: CoreState): void {
  const { client, wakeUp, setTimer } = store
  store.state = next
  wakeUp.at(next.wakeAt)
  const { reason = '', brief } = next
  client.lose(isLost(next) ? new StoreError('STORE_UNAVAILABLE', reason, { brief }) : undefined)
  if (isLost(next) && !store.isRescuing) void keepRescuing(store)
  const isChecked = store.cancelWriteCheck !== undefined || store.closing !== undefined
  if (isLost(next) || next.writable || isChecked) return
  store.cancelWriteCheck = setTimer(() => {
    store.cancelWriteCheck = undefined
    client.send({ type: 'command', command: { type: 'write-check' } })
  }, writeCheckPause)
}

/** Asks for the store to be put into a new file, at once and then less and less often. */
async function keepRescuing(store: Parts): Promise<void> {
  const { engine, options, setTimer, closed } = store
  const isNeeded = () => isLost(store.state) && store.closing === undefined
  store.isRescuing = true
  for (let pause = rescuePause; isNeeded(); pause = Math.min(2 * pause, maxRescuePause)) {
    await engine.rescue?.(options.now())
    if (isLost(store.state))
      await Promise.race([new Promise<void>((resolve) => void setTimer(resolve, pause)), closed.promise])
  }
  store.isRescuing = false
  if (store.closing === undefined) engine.resume?.()
}

/** A dead core is not started again: it may have died of its input, and a new process starts from a clean state. */
function stopped(store: Parts, cause: Error): void {
  if (store.isStopped || store.closing !== undefined) return
  store.isStopped = true
  const error = new StoreError('STORE_UNAVAILABLE', 'the writer stopped', { cause })
  store.state = { ...store.state, writable: false, reason: error.message }
  store.client.fail(error)
  store.options.onStopped?.(error)
}

async function shut(store: Parts): Promise<void> {
  const { workerPools, closed, client, engine, wakeUp, changes } = store
  await Promise.all(workerPools.map((workerPool) => workerPool.drain(0)))
  store.cancelWriteCheck?.()
  closed.resolve()
  // Posts are committed, unless the disk has failed.
  if (!isLost(store.state) && !store.isStopped)
    await Promise.race([client.call({ type: 'tick' }).catch(() => undefined), client.whenStalled()])
  const committed = engine.close()
  await Promise.race([committed, client.whenStalled()])
  store.isStuck = client.isStalled()
  client.fail(closedError())
  wakeUp.close()
  store.cancelWatch()
  changes.close()
  if (store.isStuck) engine.abandon()
  else await committed
}

/** True if the disk has failed, and the store is not in a new file yet. */
function isLost({ outage }: CoreState): boolean {
  return outage !== undefined && outage.until === undefined
}

export function closedError(): StoreError {
  return new StoreError('DRAINING', 'the store is closed')
}
