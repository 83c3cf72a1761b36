/**
 * Starts one thread, passes on its messages, notices its end, and ends it. A thread is always in one of these states:
 *
 * running -> ending (by its owner) -> ended
 *         -> lost (it ended on its own)
 */

import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { backgroundTimers, type Timers } from '../timers.ts'
import { type ThreadUsage, threadLimits, usageOf } from './watch.ts'

/** The `workerData` of every program. Messages go over a port of their own, which code in the thread need not reach. */
export interface ThreadData {
  readonly port: MessagePort
  readonly shared: Int32Array
}

export interface ThreadOptions {
  /** The file of the thread's program, as {@link programFile} returns it. */
  readonly program: URL
  readonly name: string
  /** The number of integers that both sides share. Default: 0. */
  readonly slots?: number
  /** Posted in place of terminating the thread, which then has 2 s to end on its own. */
  readonly closeMessage?: unknown
  readonly timers?: Timers
}

export interface ThreadOwner<From> {
  heard(message: From): void
  /** `reason` continues the sentence `its thread …`. */
  lost(reason: string): void
}

export interface Thread<To = unknown, From = unknown> {
  readonly shared: Int32Array
  /** Called with the events of the thread until it is ended. */
  owner: ThreadOwner<From>
  post(message: To, transfer?: readonly ArrayBuffer[]): void
  /** True if the thread keeps the process alive. It does not when it starts. */
  keepAlive(isNeeded: boolean): void
  /** Undefined if it ended. Waits while it is in native code, or is kept from the processor. */
  usage(): Promise<ThreadUsage | undefined>
  /** V8's profile as JSON, for as long as `during` takes; undefined if this Node cannot profile, or the thread ended. */
  profile(during: () => Promise<unknown>): Promise<string | undefined>
  /** Resolves when the thread has ended. `stuck` is called if it does not within a second, as in native code. */
  end(stuck?: () => void): Promise<void>
}

const closeMs = 2_000
/** A thread that is ended leaves within milliseconds, unless it is in native code. */
const stuckMs = 1_000

/** Returns the file `name`, such as `./parse-thread.ts`, beside the module at `base`: as a source, in a package or in a bundle. */
export function programFile(name: string, base: string): URL {
  return new URL(base.endsWith('.ts') ? name : name.replace(/\.ts$/, '.js'), base)
}

/**
 * Returns the environment of a new thread. Node.js has threads use the process's compile cache only if the environment names it;
 * without it each thread loads the type stripper, which takes 0.1 s of processor time and 11 MB.
 */
export function threadEnvironment(): NodeJS.ProcessEnv {
  const versionFolder = getCompileCacheDir()
  if (versionFolder === undefined) return process.env
  return { ...process.env, NODE_COMPILE_CACHE: dirname(versionFolder) }
}

export function startThread<To, From>(options: ThreadOptions): Thread<To, From> {
  const { slots = 0, closeMessage, timers = backgroundTimers } = options
  const { port1: port, port2 } = new MessageChannel()
  const shared = new Int32Array(new SharedArrayBuffer(4 * slots))
  const worker = startWorker(options, port2, shared)
  const { promise: left, resolve: leave } = Promise.withResolvers<void>()
  let state: 'running' | 'ending' | 'lost' = 'running'
  let hasExited = false
  let lastError: string | undefined

  const thread: Thread<To, From> = {
    shared,
    owner: { heard: () => {}, lost: () => {} },
    post: (message, transfer = []) => port.postMessage(message, transfer),
    keepAlive(isNeeded) {
      if (isNeeded) worker.ref()
      else worker.unref()
    },
    usage: () => usageOf(worker),
    profile: (during) => profileOf(worker, during),
    end(stuck) {
      if (state !== 'running') return left
      state = 'ending'
      // The last messages of a thread are read after its exit, and one of them has led here.
      if (!hasExited) terminate(stuck)
      port.close()
      return left
    },
  }

  function terminate(stuck?: () => void): void {
    worker.ref()
    if (closeMessage === undefined) void worker.terminate()
    else port.postMessage(closeMessage)
    const late = closeMessage === undefined ? undefined : setTimeout(() => void worker.terminate(), closeMs)
    const giveUp = () => {
      worker.unref()
      stuck?.()
    }
    const watch = stuck && timers.setTimeout(giveUp, stuckMs + (closeMessage === undefined ? 0 : closeMs))
    worker.once('exit', () => {
      clearTimeout(late)
      timers.clearTimeout(watch)
    })
  }

  function hear(message: From): void {
    if (state === 'running') thread.owner.heard(message)
  }

  port.on('message', hear)
  worker.on('error', (error: unknown) => {
    lastError = error instanceof Error ? error.message : String(error)
  })
  worker.on('exit', (code) => {
    hasExited = true
    leave()
    // The messages that it sent before it ended still count, and may lead to its end.
    while (state === 'running') {
      const last = receiveMessageOnPort(port)
      if (last === undefined) state = 'lost'
      else hear(last.message)
    }
    if (state === 'ending') return
    port.close()
    thread.owner.lost(lastError === undefined ? `ended with the code ${code}` : `ended: ${lastError}`)
  })
  worker.unref()
  port.unref()
  return thread
}

async function profileOf(worker: Worker, during: () => Promise<unknown>): Promise<string | undefined> {
  // Node 24.8 and newer.
  const { startCpuProfile } = worker as Partial<typeof worker>
  if (startCpuProfile === undefined) return undefined
  try {
    const profiling = await startCpuProfile.call(worker)
    await during()
    return await profiling.stop()
  } catch {
    return undefined
  }
}

function startWorker({ program, name }: ThreadOptions, port: MessagePort, shared: Int32Array): Worker {
  return new Worker(program, {
    workerData: { port, shared } satisfies ThreadData,
    transferList: [port],
    name,
    env: threadEnvironment(),
    // Programs print nothing on purpose, and what a transform prints comes as messages.
    stdout: true,
    stderr: true,
    execArgv: [],
    resourceLimits: threadLimits,
  })
}
