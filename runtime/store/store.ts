/** Assembles a store of its core, which may run in another thread, its reader, and what is answered from memory. */

import { createChangeFeed } from './change-feed.ts'
import { createClient, slowCommitReason } from './client.ts'
import {
  type Cluster,
  type Command,
  type CommandResult,
  type Health,
  type Store,
  StoreError,
  type StoreOptions,
} from './port.ts'
import type { CoreState, Happened, Opened, Post, Reply } from './protocol.ts'
import { createReader, type Question } from './reading.ts'
import { createRefusedRequests } from './refused-requests.ts'
import { createWakeUp, setSystemTimer } from './wake-up.ts'
import { type ClaimTaker, createWorkerPool } from './worker-pool.ts'

/** How the core of a store is reached. */
export interface Engine {
  readonly cluster: Cluster
  /** How many posts may be without a reply. */
  readonly maxUnanswered: number
  /** How many actions one post holds. */
  readonly maxActions: number
  /** Hands over a post. Its reply goes to `onReply` of the handlers. */
  post(post: Post): void
  readonly ask: (question: Question) => Promise<unknown>
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
  /** See `Claim.hold`. */
  hold?(claim: number): Promise<void>
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

export async function assembleStore(
  options: StoreOptions,
  connect: (handlers: Handlers) => Promise<{ readonly engine: Engine; readonly opened: Opened }>,
): Promise<Store> {
  const { now, setTimer = setSystemTimer, setWatchTimer = setSystemTimer } = options
  const refused = createRefusedRequests()
  /** What happens before the store is assembled is handled then. */
  let early: (() => void)[] | undefined = []
  const later =
    <Message>(handle: (message: Message) => void) =>
    (message: Message) =>
      early === undefined ? handle(message) : void early.push(() => handle(message))
  const { engine, opened } = await connect({
    onReply: later((reply) => {
      client.settle(reply)
      take(reply)
    }),
    onHappened: later((happened) => take(happened)),
    onStopped: later((cause) => stopped(cause)),
  })
  const client = createClient({
    now,
    post: engine.post,
    maxUnanswered: engine.maxUnanswered,
    maxActions: engine.maxActions,
    onLate(request, isKept) {
      if (isKept) {
        refused.forget(request)
        client.send({ type: 'refused-before-commit', request })
      } else
        refused.amend(request, 'the store could not keep it; its sender was answered before that was known')
    },
    onStalled: () => reportHealth(),
  })
  const changes = createChangeFeed((on) => client.send({ type: 'listen', on }))
  const wakeUp = createWakeUp(now, setTimer, () => client.send({ type: 'tick' }))
  const workerPools: ClaimTaker[] = []
  let state: CoreState = opened.state
  let { backlog } = options
  let cancelWriteCheck: (() => void) | undefined
  let isRescuing = false
  const closed = Promise.withResolvers<void>()
  let closing: Promise<void> | undefined
  let isStopped = false
  let isStuck = false
  let wasWritable = true
  let cancelWatch = setWatchTimer(watch, watchPause)

  function watch(): void {
    engine.watch(client.watch())
    cancelWatch = setWatchTimer(watch, watchPause)
  }

  function health(): Health {
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

  function reportHealth(): void {
    const next = health()
    if (next.writable === wasWritable) return
    wasWritable = next.writable
    options.onHealth?.(next)
  }

  function take(happened: Happened): void {
    takeState(happened.state)
    reportHealth()
    changes.push(happened.changes)
    for (const claim of happened.claims) workerPools[claim.workerPool]?.take(claim)
    for (const { workerPool, claim } of happened.cancelled) workerPools[workerPool]?.cancel(claim)
    for (const { workerPool, claim } of happened.lost) workerPools[workerPool]?.lose(claim)
  }

  function takeState(next: CoreState): void {
    state = next
    wakeUp.at(next.wakeAt)
    client.lose(
      isLost(next)
        ? new StoreError('STORE_UNAVAILABLE', next.reason ?? '', { brief: next.brief })
        : undefined,
    )
    if (isLost(next) && !isRescuing) void keepRescuing()
    if (!isLost(next) && !next.writable && cancelWriteCheck === undefined && closing === undefined) {
      cancelWriteCheck = setTimer(() => {
        cancelWriteCheck = undefined
        client.send({ type: 'write-check' })
      }, writeCheckPause)
    }
  }

  /** Asks for the store to be put into a new file, at once and then less and less often. */
  async function keepRescuing(): Promise<void> {
    isRescuing = true
    for (
      let pause = rescuePause;
      isLost(state) && closing === undefined;
      pause = Math.min(2 * pause, maxRescuePause)
    ) {
      await engine.rescue?.(now())
      if (isLost(state))
        await Promise.race([new Promise<void>((resolve) => void setTimer(resolve, pause)), closed.promise])
    }
    isRescuing = false
    if (closing === undefined) engine.resume?.()
  }

  /** A dead core is not started again: it may have died of its input, and a new process starts from a clean state. */
  function stopped(cause: Error): void {
    if (isStopped || closing !== undefined) return
    isStopped = true
    const error = new StoreError('STORE_UNAVAILABLE', 'the writer stopped', { cause })
    state = { ...state, writable: false, reason: error.message }
    client.fail(error)
    options.onStopped?.(error)
  }

  async function shut(): Promise<void> {
    await Promise.all(workerPools.map((workerPool) => workerPool.drain(0)))
    cancelWriteCheck?.()
    closed.resolve()
    // What was handed in is committed, unless the disk has failed.
    if (!isLost(state) && !isStopped)
      await Promise.race([client.call({ type: 'tick' }).catch(() => undefined), client.whenStalled()])
    const committed = engine.close()
    await Promise.race([committed, client.whenStalled()])
    isStuck = client.isStalled()
    client.fail(closedError())
    wakeUp.close()
    cancelWatch()
    changes.close()
    if (isStuck) engine.abandon()
    else await committed
  }

  takeState(opened.state)
  const waiting = early
  early = undefined
  for (const handle of waiting) handle()

  return {
    accept: (entry) => (closing === undefined ? client.accept(entry) : Promise.reject(closedError())),
    note(request) {
      if (closing !== undefined) return
      if (!refused.takes(request.outcome)) return client.note(request)
      refused.add(request, { alone: client.isUndecided(request.id) })
      changes.push(['request', request.id, request.outcome, undefined])
    },
    work(workOptions) {
      const { hold } = engine
      const id = workerPools.length
      const workerPool = createWorkerPool({
        id,
        options: workOptions,
        client,
        now,
        setTimer,
        ...(hold && { hold }),
      })
      workerPools.push(workerPool)
      return workerPool
    },
    command: (command: Command) => client.call({ type: 'command', command }) as Promise<CommandResult>,
    configure({ backlog: limit, keepMs, sessionIdleMs, maxBodyBytes, ignoredBodiesMs }) {
      backlog = limit
      const limits = { keepMs, backlog, sessionIdleMs, maxBodyBytes, ignoredBodiesMs }
      client.send({ type: 'configure', limits })
    },
    read: createReader(engine.ask, refused, now, client.noted),
    changes: changes.listen,
    cluster: engine.cluster,
    now,
    newestAt: opened.newestAt,
    leftOpen: opened.leftOpen,
    health,
    isStuck: () => isStuck || client.isStalled(),
    close() {
      closing ??= shut()
      return closing
    },
  }
}

/** Whether the disk has failed, and the store is not in a new file yet. */
function isLost({ outage }: CoreState): boolean {
  return outage !== undefined && outage.until === undefined
}

export function closedError(): StoreError {
  return new StoreError('DRAINING', 'the store is closed')
}
