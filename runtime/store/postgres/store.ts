/** The store on PostgreSQL, which any number of nodes share: connections, batches, and what is answered from memory. */

import { createChangeFeed } from '../change-feed.ts'
import { createClaims } from '../claims.ts'
import { mostBodyBytesByDefault } from '../counters.ts'
import {
  type CommandResult,
  type Health,
  type OpenStore,
  type Store,
  StoreError,
  type StoreLimits,
  type StoreOptions,
  type Work,
} from '../port.ts'
import { type Ask, createReader } from '../reading.ts'
import { createRefusedRequests } from '../refused-requests.ts'
import { createWakeUp, setSystemTimer } from '../wake-up.ts'
import { createWorkerPool } from '../worker-pool.ts'
import { createAcceptor, createPerformer, type NodeState, slowCommitReason } from './batches.ts'
import { createAgenda, NodeGone } from './claiming.ts'
import { shiftCoalesced } from './coalescing.ts'
import {
  createDatabase,
  type Database,
  type Faults,
  type Link,
  storeErrorOf,
  UnknownCommit,
} from './connection.ts'
import { type Counters, newestTime, readBacklog, readCounters, readLeftOpen } from './counts.ts'
import { readDatabaseState } from './diagnosis.ts'
import { cancelPartialJobs } from './jobs.ts'
import { joinCluster, type NodeTimes, nodeTimes } from './nodes.ts'
import type { Changing } from './parts.ts'
import { createQueries } from './reader.ts'
import { createRetention } from './retention.ts'
import { allFirstAlarms, freeClaims, shiftTasks } from './schedule.ts'
import { checkPrivileges, migrate } from './schema.ts'
import { createSourceValues } from './source-values.ts'
import { createBulletin } from './wake-up.ts'

/** Milliseconds between two probes whether writing works again. */
const probePause = 1_000
/** Milliseconds between two checks that commits end, and between two counts where there are other nodes. */
const watchPause = 1_000
/** When the clock was set back by less, due times stay and are waited for. Milliseconds. */
const toleratedStepBackMs = 1_000
const readingLinks = 2
/** How long the database may take to answer a question of the reader. Milliseconds. */
const longestReadMs = 30_000

export const openPostgresStore: OpenStore = (options) => openStore(options)

/** `faults` are what a test makes go wrong. */
export async function openStore(options: StoreOptions, faults: Faults = {}): Promise<Store> {
  const { leases: times = nodeTimes } = options
  const database = await createDatabase({ location: options.location, faults })
  try {
    const link = database.link('membership')
    await migrateAlone(database)
    await checkPrivileges(link)
    await cancelPartialJobs(link.query, options.now())
    const [counters, newestAt, leftOpen, alarms] = await Promise.all([
      readCounters(link.query),
      newestTime(link.query),
      readLeftOpen(link.query),
      allFirstAlarms(link.query),
    ])
    const agenda = createAgenda()
    agenda.armed(alarms)
    return await createStore(options, { database, link, counters, newestAt, leftOpen, agenda, times })
  } catch (error) {
    await database.close()
    throw storeErrorOf(error)
  }
}

/** A migration may take longer than any other statement. */
async function migrateAlone(database: Database): Promise<void> {
  const link = database.link('migrates', { statementMs: 0 })
  await migrate(link)
  await link.close()
}

interface Opened extends Pick<Store, 'newestAt' | 'leftOpen'> {
  readonly database: Database
  /** For membership, and for all that no caller waits for. */
  readonly link: Link
  readonly counters: Counters
  readonly agenda: NodeState['agenda']
  readonly times: NodeTimes
}

async function createStore(
  options: StoreOptions,
  { database, link, counters, newestAt, leftOpen, agenda, times }: Opened,
): Promise<Store> {
  const { now, setTimer = setSystemTimer, setWatchTimer = setSystemTimer } = options
  const limits: { -readonly [Name in keyof NodeState['limits']]: NodeState['limits'][Name] } =
    limitsOf(options)
  const refused = createRefusedRequests()
  const claims = createClaims()
  const changes = createChangeFeed(() => undefined)
  const workerPools: ReturnType<typeof createWorkerPool>[] = []
  let failure: StoreError | undefined
  let commits = 0
  let lastNow = now()
  /** Claims in memory and in the database have to be brought together, because it is not known what a commit has done. */
  let isUnclear = false
  let closing: Promise<void> | undefined
  let wasWritable = true
  let cancelProbe: (() => void) | undefined
  let resting: NodeJS.Timeout | undefined
  /** Whether the counters are what the database holds, as far as this node alone changes it. */
  let isCounted = true
  const rare = database.link('takes over')

  const membership = await joinCluster({
    link,
    transactions: rare,
    times,
    node: options.node,
    now,
    wakeUp: () => bulletin.mode(),
    onTakeover: options.onTakeover,
    onGone() {
      const lost = claims.held()
      loseClaims(lost)
      return lost.length
    },
    onJoinedAgain: () => bulletin.announce(),
    onNodes() {
      isCounted = false
      countAll()
    },
    onFreed(alarms) {
      agenda.armed(alarms)
      bulletin.add({ alarms, changes: [], cancels: [], hasFreed: true })
      plan()
    },
    onCancelled: cancelClaims,
  })

  const node: NodeState = {
    get id() {
      return membership.cluster.node
    },
    counters,
    uncommitted: new Set(),
    limits,
    claims,
    agenda,
    historyMessages: options.historyMessages,
    now,
    committed(happened) {
      changes.push(happened.changes)
      bulletin.add(happened)
      plan()
    },
  }

  /** Takes over what all nodes together have. What is under way here is not in the database yet. */
  const countAll = sparing(async () => {
    const before = { ...counters }
    const commitsBefore = commits
    const underWay = [...node.uncommitted].map((delta) => new Map(delta))
    const counted = await rare.transact(({ query }) => readBacklog(query))
    for (const [name, count = 0] of Object.entries(counted) as [keyof Counters, number | undefined][]) {
      const uncommitted = underWay.reduce((sum, delta) => sum + (delta.get(name) ?? 0), 0)
      counters[name] += count + uncommitted - before[name]
    }
    // What was committed meanwhile may be counted twice. Where there are other nodes the next count comes soon anyway.
    isCounted = commits === commitsBefore
  })

  const onCommit = () => {
    commits += 1
  }
  const onWritten = (error: StoreError | undefined) => {
    failure = error
    if (error instanceof UnknownCommit) isCounted = false
    if (error !== undefined) probeSoon()
    reportHealth()
  }
  const writing = { isFaulty: true, usesIndexes: true, onCommit }

  const acceptor = createAcceptor({
    link: database.link('accepts', writing),
    node,
    onWritten,
    onStalled: reportHealth,
    onLate(request, isKept) {
      if (isKept) {
        refused.forget(request)
        performer.send({ type: 'refused-before-commit', request })
      } else
        refused.amend(request, 'the store could not keep it; its sender was answered before that was known')
    },
    whenSteady: (at) =>
      needsPreparation(at) ? performer.call({ type: 'tick' }).then(() => undefined) : undefined,
  })

  const performer = createPerformer({
    link: database.link('performs', writing),
    node,
    onWritten,
    onStalled: reportHealth,
    onClaims(given, cancelled) {
      for (const each of given) workerPools[each.workerPool]?.take(each)
      for (const { workerPool, claim } of cancelled) workerPools[workerPool]?.cancel(claim)
    },
    onLost: loseClaims,
    onIdle: plan,
    needsPreparation,
    prepare,
    async onFault(error) {
      if (error instanceof UnknownCommit) isUnclear = true
      if (error instanceof NodeGone) await membership.renew().catch(() => undefined)
    },
  })

  const look = sparing(async () => {
    agenda.armed(await allFirstAlarms(link.query))
    plan()
  })
  const bulletin = createBulletin({
    database,
    link: database.link('notifies'),
    node: () => membership.cluster.node,
    isAlone: () => membership.isAlone(),
    onAlarms(alarms) {
      agenda.armed(alarms)
      plan()
    },
    onChanges: (flat) => changes.push(flat),
    onCancelled: cancelClaims,
    onNode: () => void membership.renew().catch(() => undefined),
    look,
  })

  const wakeUp = createWakeUp(now, setTimer, () => performer.send({ type: 'tick' }))
  const retention = createRetention({
    transact: (run) => performer.call({ type: 'transact', run }),
    limits,
    now,
    setTimer,
  })
  const endRetention =
    options.node?.role === 'ingress'
      ? () => undefined
      : membership.lead('retention', ({ signal }) => retention.lead(signal))
  const reader = createReader(asking(database), refused, now, acceptor.noted)
  let cancelWatch = setWatchTimer(watch, watchPause)
  plan()

  /** Looks for due tasks now, or when the next one is due. */
  function plan(): void {
    if (closing !== undefined || failure !== undefined) return
    const earliest = Math.min(
      Number.POSITIVE_INFINITY,
      ...claims.offers().map(({ kinds, roomIn }) => agenda.earliest(kinds, roomIn)),
    )
    if (earliest <= now()) performer.send({ type: 'tick' })
    else wakeUp.at(earliest)
    const restMs = agenda.restMs()
    if (restMs === undefined || resting !== undefined) return
    resting = setTimeout(() => {
      resting = undefined
      plan()
    }, restMs)
    resting.unref()
  }

  function needsPreparation(at: number): boolean {
    if (at > lastNow || !membership.isAlone()) lastNow = at
    return isUnclear || lastNow - at > toleratedStepBackMs
  }

  /** Brings the schedule up to date with what has happened outside of it. */
  async function prepare(tx: Changing): Promise<void> {
    const ms = lastNow - tx.now
    if (ms > toleratedStepBackMs) {
      shiftTasks(tx, ms)
      shiftCoalesced(tx, ms, tx.now)
      tx.afterCommit(() => {
        lastNow = tx.now
        agenda.shift(ms)
      })
    }
    if (!isUnclear) return
    const held = claims.held()
    tx.armed(await freeClaims(tx, tx.node, { isInterrupted: false, but: held }))
    const rows = await tx.query<{ claim: number }>('SELECT claim FROM tasks WHERE node = $1', [tx.node])
    const there = new Set(rows.map(({ claim }) => claim))
    tx.afterCommit(() => {
      isUnclear = false
      loseClaims(held.filter((claim) => !there.has(claim)))
    })
  }

  function loseClaims(lost: readonly number[]): void {
    for (const number of lost) {
      const claim = claims.lose(number)
      if (claim !== undefined) workerPools[claim.workerPool]?.lose(number)
    }
  }

  function cancelClaims(cancelled: readonly number[]): void {
    for (const number of cancelled) {
      const claim = claims.find(number)
      if (claim !== undefined) workerPools[claim.workerPool]?.cancel(number)
    }
  }

  /** Tries writing once a second, until it works. */
  function probeSoon(): void {
    if (cancelProbe !== undefined || closing !== undefined) return
    cancelProbe = setTimer(() => {
      cancelProbe = undefined
      performer.send({ type: 'probe' })
    }, probePause)
  }

  function watch(): void {
    acceptor.watch()
    performer.watch()
    if (!membership.isAlone() || !isCounted) countAll()
    cancelWatch = setWatchTimer(watch, watchPause)
  }

  function health(): Health {
    const isSlow = acceptor.isStalled() || performer.isStalled()
    const reason = isSlow ? `${slowCommitReason}: the database does not answer` : failure?.message
    const brief = isSlow ? slowCommitReason : failure?.brief
    // What another node accepted, or a commit that was taken for undone, is only counted down here until all is counted again.
    const [backlog, events] = [Math.max(0, counters.backlog), Math.max(0, counters.pending)]
    return {
      writable: failure === undefined && !isSlow,
      backlog,
      full: counters.backlog >= limits.backlog,
      events,
      fullOfEvents: counters.pending >= limits.backlog,
      commits,
      ...(reason === undefined ? undefined : { reason }),
      ...(brief === undefined ? undefined : { brief }),
    }
  }

  function reportHealth(): void {
    const next = health()
    if (next.writable === wasWritable) return
    wasWritable = next.writable
    options.onHealth?.(next)
    plan()
  }

  async function shut(): Promise<void> {
    endRetention()
    await retention.close()
    await Promise.all(workerPools.map((workerPool) => workerPool.drain(0)))
    await Promise.race([
      Promise.all([acceptor.settled(), performer.idle()]),
      acceptor.whenStalled(),
      performer.whenStalled(),
    ])
    acceptor.fail(closedError())
    performer.fail(closedError())
    wakeUp.close()
    cancelProbe?.()
    cancelWatch()
    clearTimeout(resting)
    changes.close()
    await membership.close()
    await bulletin.close()
    await database.close()
  }

  return {
    accept: (entry) => (closing === undefined ? acceptor.accept(entry) : Promise.reject(closedError())),
    note(request) {
      if (closing !== undefined) return
      if (!refused.takes(request.outcome)) return acceptor.note(request)
      refused.add(request, { alone: acceptor.isUndecided(request.id) })
      changes.push(['request', request.id, request.outcome, undefined])
    },
    work(workOptions) {
      const workerPool = createWorkerPool({
        id: workerPools.length,
        options: workOptions,
        client: {
          call: performer.call,
          isStalled: performer.isStalled,
          whenStalled: performer.whenStalled,
        },
        workOf: (work) => work as Work,
        hold: membership.hold,
        now,
        setTimer,
      })
      workerPools.push(workerPool)
      if (!workOptions.owned) return workerPool
      return {
        ...workerPool,
        async drain(graceMs) {
          await workerPool.drain(graceMs)
          // Other nodes go on with these pools, while this one may still end its turns.
          await membership.releasePools(workOptions.kinds).catch(() => undefined)
        },
      }
    },
    command(command): Promise<CommandResult> {
      if (closing !== undefined) return Promise.reject(closedError())
      // A command finds what was handed in before it.
      const before = acceptor.settled()
      return before === undefined ? performer.command(command) : before.then(() => performer.command(command))
    },
    configure(next) {
      const before = { ...limits }
      Object.assign(limits, limitsOf({ ...next, mostWithoutEffect: limits.mostWithoutEffect }))
      if (keepsLess(before, limits)) retention.begin()
    },
    read: reader,
    changes: changes.listen,
    newestAt,
    leftOpen,
    cluster: Object.defineProperties(
      { sourceValues: createSourceValues(link.query), database: () => readDatabaseState(link.query) },
      Object.getOwnPropertyDescriptors(membership.cluster),
    ) as Store['cluster'],
    health,
    // No thread keeps the process alive: a connection that hangs is cut.
    isStuck: () => false,
    close() {
      closing ??= shut()
      return closing
    },
  }
}

/** Runs something once at a time, and rests nine times as long as it took: where it has become slow, it must not fill the connection. */
function sparing(run: () => Promise<void>): () => void {
  let isWanted = false
  let isBusy = false
  async function runWhileWanted(): Promise<void> {
    isBusy = true
    while (isWanted) {
      isWanted = false
      const began = performance.now()
      await run().catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, 9 * (performance.now() - began)).unref())
    }
    isBusy = false
  }
  return () => {
    isWanted = true
    if (!isBusy) void runWhileWanted()
  }
}

/** A limit that is not named does not hold. */
function limitsOf({
  keepMs,
  backlog,
  sessionIdleMs,
  mostBodyBytes,
  ignoredBodiesMs,
  mostWithoutEffect,
}: Partial<StoreOptions> & StoreLimits) {
  const limits = { keepMs, backlog, sessionIdleMs, mostBodyBytes, ignoredBodiesMs, mostWithoutEffect }
  return limits as NodeState['limits']
}

function keepsLess(before: StoreLimits, after: StoreLimits): boolean {
  const idle = ({ sessionIdleMs = Number.POSITIVE_INFINITY }: StoreLimits) => sessionIdleMs
  const bytes = ({ mostBodyBytes = mostBodyBytesByDefault }: StoreLimits) => mostBodyBytes
  const ignored = ({ ignoredBodiesMs = Number.POSITIVE_INFINITY }: StoreLimits) => ignoredBodiesMs
  return (
    after.keepMs < before.keepMs ||
    idle(after) < idle(before) ||
    bytes(after) < bytes(before) ||
    ignored(after) < ignored(before)
  )
}

/** Answers the reader's questions on connections of their own, the one that has the fewest, so that a long list delays no commit. */
function asking(database: Database): Ask {
  const links = Array.from({ length: readingLinks }, (_, index) => ({
    queries: createQueries(database.link(`reads ${index + 1}`, { statementMs: longestReadMs }).query),
    waiting: 0,
  }))
  return async (name, ...args) => {
    const link = links.reduce((least, each) => (each.waiting < least.waiting ? each : least))
    const ask = link.queries[name] as (...given: unknown[]) => Promise<never>
    link.waiting += 1
    try {
      return await ask(...args)
    } catch (error) {
      throw storeErrorOf(error)
    } finally {
      link.waiting -= 1
    }
  }
}

function closedError(): StoreError {
  return new StoreError('DRAINING', 'the store is closed')
}
