/**
 * Runs one worker: loads a module into its thread, and runs calls in it, one at a time.
 *
 * loading -> idle <-> busy -> ended. It ends when the module ends it, when a call must be cut off, or when no further call
 * may run in it; a call under way fails in the first two cases and is answered in the third.
 */

import type { ThreadWatch } from '../../threads/watch.ts'
import type { Timers } from '../../timers.ts'
import type { TransformErrorCode, TransformListener } from '../port.ts'
import type { OpenClawWord } from '../worker/openclaw.ts'
import {
  type ErrorReport,
  type FromWorker,
  type ModuleExports,
  outputLimits,
  slots,
  type WorkerThread,
} from '../worker/protocol.ts'
import { findBusyLine } from './busy-line.ts'
import { type Call, orderOf, secondsOf, transformError } from './call.ts'
import { takeBack, watchCall } from './call-watch.ts'
import type { Mask } from './mask.ts'
import { readAnswer } from './read-answer.ts'
import { sourcePlace } from './source-place.ts'

export interface ModuleWorker {
  load(memoryMb: number): Promise<Loaded>
  /** May be called on an idle worker alone. */
  run(call: Call): void
  /**
   * Ends the worker at once. A call under way fails with a sentence of its module and `text`. Resolves when the thread has ended or was
   * abandoned.
   */
  end(text: string): Promise<void>
}

export type Loaded =
  | { readonly ok: true; readonly exports: ModuleExports; readonly loadMs: number; readonly memory: number }
  | { readonly ok: false; readonly error: ErrorReport }

/** The part of the host that a worker belongs to. */
export interface WorkerOwner {
  idle(): void
  /** The worker takes no further call. */
  ended(): void
  /** The call has not begun, and will not begin in this worker. */
  takenBack(call: Call): void
  lost(reason: string): void
  abandoned(): void
  returned(): void
}

export interface ModuleWorkerOptions {
  /** The file of the bundle; absolute. */
  readonly file: string
  /** Whether what leaves the process is refused in it. */
  readonly isDry: boolean
  /** The module that is named with output outside of calls. */
  readonly module: string
  readonly thread: WorkerThread
  readonly owner: WorkerOwner
  readonly timers: Timers
  readonly watch: ThreadWatch
  onEvent: TransformListener
  /** Whether this process is being debugged; then there are no deadlines. */
  isDebugged(): boolean
  /** Hides known secrets in whatever the module prints or throws. */
  readonly mask: Mask
  /** Advises the author of a module that uses a word of OpenClaw's, once for each. */
  advise(module: string, word: OpenClawWord): void
  /** Milliseconds. */
  readonly loadTimeoutMs: number
}

/** Loading that takes longer is logged, because all edits wait for it. */
const slowMs = 2_000

type Message<Type extends FromWorker['type']> = FromWorker & { readonly type: Type }

export function createModuleWorker(options: ModuleWorkerOptions): ModuleWorker {
  const { file, module, thread, owner, timers, watch, onEvent, mask, loadTimeoutMs } = options
  let loading: ((loaded: Loaded) => void) | undefined
  let functions: ModuleExports['functions'] = []
  let current: { readonly call: Call; readonly unwatch: () => void } | undefined
  let newest = 0
  let gone: Promise<void> | undefined
  let droppedTimer: unknown
  /** Whether the call under way is the worker's last one. */
  let isRetiring = false
  const worker: ModuleWorker = { load, run, end }
  thread.owner = { heard, lost }

  function load(memoryMb: number): Promise<Loaded> {
    const { promise, resolve } = Promise.withResolvers<Loaded>()
    let timer = timers.setTimeout(giveUp, loadTimeoutMs)
    function giveUp(): void {
      thread.drain()
      if (loading === undefined) return
      if (options.isDebugged()) timer = timers.setTimeout(giveUp, loadTimeoutMs)
      else loadFailed(`is not loaded after ${secondsOf(loadTimeoutMs)}`)
    }
    const notice = timers.setTimeout(() => {
      const text = `is still being loaded: its top level has not ended after ${secondsOf(slowMs)}. Edits wait for it, ${secondsOf(loadTimeoutMs)} at most.`
      print({ level: 'warn', requestId: undefined, text })
    }, slowMs)
    loading = (loaded) => {
      loading = undefined
      timers.clearTimeout(timer)
      timers.clearTimeout(notice)
      watch.remove(worker)
      if (loaded.ok) functions = loaded.exports.functions
      else stop()
      resolve(loaded)
    }
    const exceeded = () => loadFailed(`uses more than ${memoryMb} MB while it is loaded`)
    watch.add(worker, { thread, limitMb: memoryMb, exceeded })
    thread.post({ type: 'load', file, isDry: options.isDry })
    return promise
  }

  /** Reports the lines that the worker has dropped: once for each window, since each call may drop some. */
  function reportDropped(): void {
    timers.clearTimeout(droppedTimer)
    droppedTimer = undefined
    const lines = Atomics.exchange(thread.shared, slots.droppedLines, 0)
    if (lines > 0) onEvent({ type: 'transform-output-dropped', module, lines })
  }

  function loadFailed(text: string): void {
    loading?.({ ok: false, error: sentence(text) })
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
        isDebugged: options.isDebugged,
        notBegun: () => returnCall('is busy with what an earlier call left behind'),
        expired: expire,
      })
      current = { call, unwatch }
      const exceeded = () => cutOff(sentence(`uses more than ${memoryMb} MB`))
      watch.add(worker, { thread, limitMb: memoryMb, exceeded })
      thread.post(order, [order.body.buffer])
    } catch (error) {
      // Data that has no JSON is not the worker's fault.
      release()
      fail(call, sentence(`cannot be given its data: ${(error as Error).message}`))
      owner.idle()
    }
  }

  /** The call that has failed waits for the search, and so does one that needs its place. */
  async function expire(): Promise<void> {
    const call = release()
    const finding = findBusyLine(thread, file)
    stop(finding)
    if (call === undefined) return
    const { state, place } = await finding
    const what = { busy: ', and still computes', waiting: ', and waits for something', unknown: '' }[state]
    const error = sentence(`took longer than ${secondsOf(call.limits.timeoutMs)}${what}`)
    await fail(call, { ...error, ...(place && { place }) }, 'TRANSFORM_TIMEOUT')
  }

  function cutOff(error: ErrorReport): void {
    const call = release()
    stop()
    if (call) fail(call, error)
  }

  function returnCall(reason: string): void {
    const call = release()
    stop()
    owner.lost(reason)
    if (call) owner.takenBack(call)
  }

  /** Rejects a call. An error without a line of its own gets that of the function. */
  async function fail(call: Call, error: ErrorReport, code?: TransformErrorCode): Promise<void> {
    const position = functions.find(({ name }) => name === call.exportName)?.position
    const place = error.place ?? (position && (await sourcePlace(file, position)))
    call.reject(transformError(call.module, { ...error, ...(place && { place }) }, code))
  }

  /** Ends the watch over the current call, which this worker has no part in any more. */
  function release(): Call | undefined {
    const call = current?.call
    current?.unwatch()
    current = undefined
    watch.remove(worker)
    return call
  }

  /** Takes no more calls, and stops the thread once `after` is settled. */
  function stop(after: Promise<unknown> = Promise.resolve()): Promise<void> {
    if (gone !== undefined) return gone
    reportDropped()
    gone = after.then(() => thread.end(owner))
    owner.ended()
    return gone
  }

  function heard(received: FromWorker): void {
    const message = mask.message(received)
    const { type } = message
    if (type === 'output') print(message)
    else if (type === 'advice') options.advise(current?.call.module ?? module, message.word)
    else if (type === 'escaped') escaped(message)
    else if (type === 'loaded') loadedAs(message)
    else if (type === 'load-failed') loading?.({ ok: false, error: message.error })
    else if (message.call !== newest || !current) return
    else if (type === 'reached') reached(message, current.call)
    else settle(message, current.call)
  }

  function reached({ target: named, isStopped, place }: Message<'reached'>, { module, given }: Call): void {
    const target = mask.text(named)
    if (isStopped) given.onStop?.({ module, target, ...(place && { place }) })
    else given.onCall?.(module, target)
  }

  function loadedAs({ exports, loadMs, memory }: Message<'loaded'>): void {
    loading?.({ ok: true, exports, loadMs, memory })
  }

  function print({ level, requestId, text }: Omit<Message<'output'>, 'type'>): void {
    const named = current?.call.module ?? module
    onEvent({
      type: 'transform-output',
      module: named,
      level,
      text,
      ...(requestId !== undefined && { requestId }),
    })
  }

  function settle(message: Message<'answered' | 'failed'>, call: Call): void {
    release()
    isRetiring ||= message.memory > call.limits.memoryMb * 1_048_576
    if (Atomics.load(thread.shared, slots.droppedLines) > 0)
      droppedTimer ??= timers.setTimeout(reportDropped, outputLimits.windowMs)
    if (isRetiring) stop()
    else owner.idle()
    if (message.type === 'answered') call.resolve(readAnswer(message.answer))
    else fail(call, message.error)
  }

  /** The call that caused it fails if it is under way. Otherwise it is logged, and the worker ends after the current call. */
  function escaped({ call, requestId, error }: Message<'escaped'>): void {
    if (loading) loading({ ok: false, error })
    else if (current && call === newest) cutOff(error)
    else {
      const where = error.place ? ` at ${error.place.file}:${error.place.line}:${error.place.column}` : ''
      print({ level: 'error', requestId, text: `${error.text}${where}` })
      isRetiring = true
      if (current === undefined) stop()
    }
  }

  function lost(cause: string): void {
    const reason = mask.text(cause)
    if (loading) loadFailed(`lost its worker while it was loaded: that ${reason}`)
    else if (current && takeBack(thread)) returnCall(reason)
    else {
      cutOff(sentence(`lost its worker, which ${reason}`))
      owner.lost(reason)
    }
  }

  function end(text: string): Promise<void> {
    const call = release()
    loadFailed('was given up while it was loaded')
    if (call) fail(call, sentence(text))
    return stop()
  }

  return worker
}

/** `text` follows the module's name. */
function sentence(text: string): ErrorReport {
  return { text, isSentence: true }
}
