/** The embedded store: one folder, a writer's thread, a reader's thread, and what is answered from memory. */

import { Worker } from 'node:worker_threads'
import { type ChangeFeed, createChangeFeed } from '../change-feed.ts'
import {
  type CommandResult,
  type Health,
  type OpenStore,
  type Store,
  StoreError,
  type StoreOptions,
} from '../port.ts'
import { createRefusedRequests } from '../refused-requests.ts'
import { createWakeUp, setSystemTimer } from '../wake-up.ts'
import { type ClaimTaker, createWorkerPool } from '../worker-pool.ts'
import { createReaderClient } from './reader/reader-client.ts'
import { createHistoryParser } from './records/histories.ts'
import { type PlainWork, workOf } from './records/loading.ts'
import { createSingleNode } from './single-node.ts'
import type { Fault } from './writer/faulty-disk.ts'
import type { FromWriter, Rescue, WriterData, WriterState } from './writer/protocol.ts'
import { createWriterClient, slowCommitReason, writerFile } from './writer/writer-client.ts'

/** The store with a way to make its disk fail, for tests. */
export interface FaultyStore {
  readonly store: Store
  fault(fault: Fault): Promise<void>
}

interface StartedWriter extends Pick<Store, 'newestAt' | 'leftOpen'> {
  readonly worker: Worker
  readonly state: WriterState
}

/** Milliseconds between two probes whether writing works again. */
const probePause = 1_000
/** Milliseconds between two tries to put the store into a new file. They double with each. */
const rescuePause = 1_000
const maxRescuePause = 30_000
/** Milliseconds between two checks that commits end and that the files are in place. */
const watchPause = 1_000

export const openSqliteStore: OpenStore = async (options) => (await openFaultyStore(options)).store

export async function openFaultyStore(options: StoreOptions): Promise<FaultyStore> {
  const started = await startWriter(
    {
      folder: options.location,
      keepMs: options.keepMs,
      backlog: options.backlog,
      sessionIdleMs: options.sessionIdleMs,
      historyMessages: options.historyMessages,
      mostWithoutEffect: options.mostWithoutEffect,
      mostBodyBytes: options.mostBodyBytes,
      ignoredBodiesMs: options.ignoredBodiesMs,
      now: options.now(),
    },
    options.onMigration,
  )
  return createStore(options, started)
}

function createStore(
  options: StoreOptions,
  { worker, state: opened, newestAt, leftOpen }: StartedWriter,
): FaultyStore {
  const { now, setTimer = setSystemTimer, setWatchTimer = setSystemTimer, location } = options
  const refused = createRefusedRequests()
  const parseHistory = createHistoryParser(options.historyMessages)
  const client = createWriterClient({
    worker,
    now,
    onLate(request, isKept) {
      if (isKept) {
        refused.forget(request)
        client.send({ type: 'refused-before-commit', request })
      } else
        refused.amend(request, 'the store could not keep it; its sender was answered before that was known')
    },
    onStalled: () => reportHealth(),
  })
  const reader = createReaderClient(location, refused, setTimer, now, client.noted)
  const changes: ChangeFeed = createChangeFeed((on) => client.send({ type: 'listen', on }))
  const wakeUp = createWakeUp(now, setTimer, () => client.send({ type: 'tick' }))
  const workerPools: ClaimTaker[] = []
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  let state = opened
  let { backlog } = options
  let cancelProbe: (() => void) | undefined
  /** Set while the disk has failed. */
  let rescue: { pause: number; cancel: () => void } | undefined
  let closing: Promise<void> | undefined
  let isStopped = false
  let isStuck = false
  let wasWritable = true
  let cancelWatch = setWatchTimer(watch, watchPause)

  /** Asks an idle writer to check its files, because it would not notice by itself that they are gone. */
  function watch(): void {
    reader.watch()
    if (client.watch() && state.writable) client.send({ type: 'check-files' })
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
      ...(reason === undefined ? undefined : { reason }),
      ...(brief === undefined ? undefined : { brief }),
      ...(state.outage === undefined ? undefined : { outage: state.outage }),
    }
  }

  function reportHealth(): void {
    const next = health()
    if (next.writable === wasWritable) return
    wasWritable = next.writable
    options.onHealth?.(next)
  }

  function take(next: WriterState): void {
    state = next
    wakeUp.at(next.wakeAt)
    const isLost = next.outage !== undefined && next.outage.until === undefined
    client.lose(
      isLost ? new StoreError('STORE_UNAVAILABLE', next.reason ?? '', { brief: next.brief }) : undefined,
    )
    if (isLost) rescueSoon()
    else if (rescue !== undefined) {
      rescue = undefined
      reader.resume()
    }
    if (!isLost && !next.writable && cancelProbe === undefined) {
      cancelProbe = setTimer(() => {
        cancelProbe = undefined
        client.send({ type: 'probe' })
      }, probePause)
    }
  }

  /** Asks the writer to put the store into a new file, at once and then less and less often. */
  function rescueSoon(): void {
    if (closing !== undefined) return
    if (rescue === undefined) {
      rescue = { pause: rescuePause, cancel: () => undefined }
      // Nobody holds a connection to the old file.
      void reader.suspend().then(() => askForRescue())
      return
    }
    const { pause } = rescue
    rescue.cancel()
    rescue = { pause: Math.min(2 * pause, maxRescuePause), cancel: setTimer(askForRescue, pause) }
  }

  function askForRescue(): void {
    worker.postMessage({ type: 'rescue', now: now() } satisfies Rescue)
  }

  worker.on('message', (reply: Extract<FromWriter, { type: 'reply' | 'state' }>) => {
    take(reply.state)
    if (reply.type === 'state') {
      reportHealth()
      return
    }
    client.settle(reply)
    reportHealth()
    changes.push(reply.changes)
    for (const given of reply.claims) workerPools[given.workerPool]?.take(given)
    for (const { workerPool, claim } of reply.cancelled) workerPools[workerPool]?.cancel(claim)
  })
  worker.on('error', (error) => stopped(error))
  worker.on('exit', (code) => {
    if (closing === undefined) stopped(new Error(`its thread ended with the code ${code}`))
  })
  take(opened)

  /** A dead thread is not started again: it may have died of its input, and a new process starts from a clean state. */
  function stopped(cause: Error): void {
    if (isStopped) return
    isStopped = true
    const error = new StoreError('STORE_UNAVAILABLE', 'the writer stopped', { cause })
    state = { ...state, writable: false, reason: error.message }
    client.fail(error)
    options.onStopped?.(error)
  }

  async function shut(): Promise<void> {
    await Promise.all(workerPools.map((workerPool) => workerPool.drain(0)))
    // The writer is the last to close, and takes the log into the database.
    const read = reader.close()
    await Promise.race([read, client.whenStalled()])
    const committed = client.call({ type: 'close' })
    // The order above is on its way already. Later calls are refused.
    await Promise.race([committed.catch(() => undefined), client.whenStalled()])
    isStuck = client.isStalled()
    client.fail(closedError())
    wakeUp.close()
    cancelProbe?.()
    rescue?.cancel()
    cancelWatch()
    changes.close()
    if (isStuck) {
      // The disk that hangs the writer may hang the reader too.
      worker.unref()
      return
    }
    await read
    await exited
  }

  const store: Store = {
    accept: (entry) => (closing === undefined ? client.accept(entry) : Promise.reject(closedError())),
    note(request) {
      if (closing !== undefined) return
      if (!refused.takes(request.outcome)) return client.note(request)
      refused.add(request, { alone: client.isUndecided(request.id) })
      changes.push(['request', request.id, request.outcome, undefined])
    },
    work(workOptions) {
      const workerPool = createWorkerPool({
        id: workerPools.length,
        options: workOptions,
        client,
        workOf: (work) => workOf(work as PlainWork, parseHistory),
        now,
        setTimer,
      })
      workerPools.push(workerPool)
      return workerPool
    },
    command: (command) => client.call({ type: 'command', command }) as Promise<CommandResult>,
    configure({ backlog: limit, keepMs, sessionIdleMs, mostBodyBytes, ignoredBodiesMs }) {
      backlog = limit
      const limits = { keepMs, backlog, sessionIdleMs, mostBodyBytes, ignoredBodiesMs }
      client.send({ type: 'configure', limits })
    },
    read: reader.read,
    changes: changes.listen,
    cluster: createSingleNode(options),
    newestAt,
    leftOpen,
    health,
    isStuck: () => isStuck || client.isStalled(),
    close() {
      closing ??= shut()
      return closing
    },
  }

  return {
    store,
    async fault(fault) {
      await client.call({ type: 'fault', fault })
    },
  }
}

function startWriter(data: WriterData, onMigration: StoreOptions['onMigration']): Promise<StartedWriter> {
  const worker = new Worker(writerFile(), { workerData: data })
  return new Promise((resolve, reject) => {
    worker.once('error', (error) =>
      reject(new StoreError('STORE_UNAVAILABLE', 'the writer did not start', { cause: error })),
    )
    const listen = (message: FromWriter) => {
      if (message.type === 'migrating') return onMigration?.(message.migration)
      worker.removeAllListeners('error').removeListener('message', listen)
      if (message.type === 'ready') resolve({ worker, ...message })
      if (message.type !== 'failed') return
      const { code, message: text } = message.error
      // The folder is unlocked only when the thread is gone.
      worker.once('exit', () => reject(new StoreError(code, text)))
    }
    worker.on('message', listen)
  })
}

function closedError(): StoreError {
  return new StoreError('DRAINING', 'the store is closed')
}
