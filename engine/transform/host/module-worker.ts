/**
 * Owns one worker that has a module: loading it, and running calls in it, one at a time.
 *
 * loading -> idle <-> busy -> ended. It ends when the module ends it, when a call must be cut off, or when it is not to
 * be trusted with a further one; a call under way fails in the first two cases and is answered in the third.
 */

import type { TransformError } from '../port.ts'
import type { FromWorker, ModuleExports, ToldError } from '../worker/protocol.ts'
import { type Call, failure, failureOf, orderOf, secondsOf } from './call.ts'
import { takeBack, watchCall } from './call-watch.ts'
import type { MemoryWatch } from './memory-watch.ts'
import type { Output } from './output.ts'
import { readAnswer } from './read-answer.ts'
import type { Thread } from './thread.ts'
import type { Timers } from './timers.ts'

export interface ModuleWorker {
  load(file: string, memoryMb: number): Promise<Loaded>
  /** Of an idle worker. */
  run(call: Call): void
  /** At once; a call under way is rejected with `why`. Resolves when the thread ended, or is left to itself. */
  end(why?: (call: Call) => TransformError): Promise<void>
}

export type Loaded =
  | { readonly ok: true; readonly exports: ModuleExports; readonly loadMs: number }
  | { readonly ok: false; readonly error: ToldError }

/** Who has the worker. */
export interface WorkerKeeper {
  idle(worker: ModuleWorker): void
  /** It takes no further call. */
  ended(worker: ModuleWorker): void
  /** The call has not begun, and will not here. */
  takenBack(call: Call): void
  lost(reason: string): void
  abandoned(): void
  returned(): void
}

export interface ModuleWorkerOptions {
  /** Whom output outside of a call is told of. */
  readonly module: string
  readonly thread: Thread
  readonly keeper: WorkerKeeper
  readonly timers: Timers
  readonly memory: MemoryWatch
  readonly output: Output
  /** Milliseconds. */
  readonly loadTimeoutMs: number
}

type Message<Type extends FromWorker['type']> = FromWorker & { readonly type: Type }

export function createModuleWorker(options: ModuleWorkerOptions): ModuleWorker {
  const { module, thread, keeper, timers, memory, output, loadTimeoutMs } = options
  let loading: ((loaded: Loaded) => void) | undefined
  let current: { readonly call: Call; readonly unwatch: () => void } | undefined
  let newest = 0
  let hasEnded = false
  /** The call under way is its last one. */
  let isRetiring = false
  const worker: ModuleWorker = { load, run, end }
  thread.owner = { heard, lost }

  function load(file: string, memoryMb: number): Promise<Loaded> {
    const { promise, resolve } = Promise.withResolvers<Loaded>()
    const timer = timers.setTimeout(() => {
      thread.drain()
      loadFailed(`is not loaded after ${secondsOf(loadTimeoutMs)}`)
    }, loadTimeoutMs)
    loading = (loaded) => {
      loading = undefined
      timers.clearTimeout(timer)
      memory.remove(worker)
      if (!loaded.ok) leave()
      resolve(loaded)
    }
    const exceeded = () => loadFailed(`uses more than ${memoryMb} MB while it is loaded`)
    memory.add(worker, { thread, limitMb: memoryMb, exceeded })
    thread.post({ type: 'load', file })
    return promise
  }

  function loadFailed(text: string): void {
    loading?.({ ok: false, error: { text, isSentence: true } })
  }

  function run(call: Call): void {
    newest++
    const { timeoutMs, memoryMb } = call.limits
    try {
      const order = orderOf(call, newest)
      const unwatch = watchCall({
        thread,
        timers,
        timeoutMs,
        notBegun: () => giveBack('is busy with what an earlier call left behind'),
        expired: () =>
          cutOff(failure(call.module, `took longer than ${secondsOf(timeoutMs)}`, 'TRANSFORM_TIMEOUT')),
      })
      current = { call, unwatch }
      const exceeded = () => cutOff(failure(call.module, `uses more than ${memoryMb} MB`))
      memory.add(worker, { thread, limitMb: memoryMb, exceeded })
      thread.post(order, [order.body.buffer])
    } catch (error) {
      // What has no JSON is no fault of the worker's.
      release()
      call.reject(failure(call.module, `cannot be given its data: ${(error as Error).message}`))
      keeper.idle(worker)
    }
  }

  function cutOff(error: TransformError): void {
    const call = release()
    leave()
    call?.reject(error)
  }

  function giveBack(reason: string): void {
    const call = release()
    leave()
    keeper.lost(reason)
    if (call) keeper.takenBack(call)
  }

  /** The call is over, as far as this worker is concerned. */
  function release(): Call | undefined {
    const call = current?.call
    current?.unwatch()
    current = undefined
    memory.remove(worker)
    return call
  }

  function leave(): void {
    if (hasEnded) return
    hasEnded = true
    output.dropped(module, thread.takeDroppedLines())
    void thread.stop(keeper)
    keeper.ended(worker)
  }

  function heard(message: FromWorker): void {
    const { type } = message
    if (type === 'output') print(message)
    else if (type === 'trespassed') trespassed(message)
    else if (type === 'escaped') escaped(message)
    else if (type === 'loaded') loading?.({ ok: true, exports: message.exports, loadMs: message.loadMs })
    else if (type === 'load-failed') loading?.({ ok: false, error: message.error })
    else if (message.call === newest && current) settle(message, current.call)
  }

  function print({ level, requestId, text }: Omit<Message<'output'>, 'type'>): void {
    output.tell({ module: current?.call.module ?? module, level, requestId, text })
  }

  function settle(message: Message<'answered' | 'failed'>, call: Call): void {
    release()
    isRetiring ||= message.memory > call.limits.memoryMb * 1_048_576
    output.dropped(module, thread.takeDroppedLines())
    if (isRetiring) leave()
    else keeper.idle(worker)
    const answer = message.type === 'answered' ? readAnswer(message.answer) : undefined
    if (answer) call.resolve(answer)
    else if (message.type === 'failed') call.reject(failureOf(call.module, message.error))
    else call.reject(failure(call.module, 'answered what no worker writes'))
  }

  function trespassed({ error }: Message<'trespassed'>): void {
    if (loading) loading({ ok: false, error })
    else if (current) cutOff(failureOf(current.call.module, error))
    else lost(`${error.text} between two calls`)
  }

  /** The call that caused it fails if it is under way. No other does: it is told, and the worker ends after this call. */
  function escaped({ call, requestId, error }: Message<'escaped'>): void {
    if (loading) loading({ ok: false, error })
    else if (current && call === newest) cutOff(failureOf(current.call.module, error))
    else {
      const where = error.place ? ` at ${error.place.file}:${error.place.line}:${error.place.column}` : ''
      print({ level: 'error', requestId, text: `${error.text}${where}` })
      isRetiring = true
      if (current === undefined) leave()
    }
  }

  function lost(reason: string): void {
    if (loading) loadFailed(`lost its worker while it was loaded: that ${reason}`)
    else if (current && takeBack(thread)) giveBack(reason)
    else {
      const call = current?.call
      if (call) cutOff(failure(call.module, `lost its worker, which ${reason}`))
      else leave()
      keeper.lost(reason)
    }
  }

  function end(why?: (call: Call) => TransformError): Promise<void> {
    const call = release()
    loadFailed('was given up while it was loaded')
    leave()
    if (call && why) call.reject(why(call))
    return thread.stop()
  }

  return worker
}
