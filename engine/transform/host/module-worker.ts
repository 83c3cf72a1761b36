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
import type { ErrorReport, FromWorker, ModuleExports, WorkerThread } from '../worker/protocol.ts'
import { findBusyLine } from './busy-line.ts'
import { type Call, orderOf, secondsOf, transformError } from './call.ts'
import type { Mask } from './mask.ts'
import { sourcePlace } from './source-place.ts'

export type Loaded =
  | { readonly ok: true; readonly exports: ModuleExports; readonly loadMs: number; readonly memory: number }
  | { readonly ok: false; readonly error: ErrorReport }

/** The part of the host that a worker belongs to. */
export interface WorkerOwner {
  idle(): void
  /** The worker takes no further call. */
  ended(): void
  lost(reason: string): void
  /** The thread has not ended a second after it should have, so it is in native code. */
  abandoned(): void
}

export interface ModuleWorkerOptions {
  /** The file of the bundle; absolute. */
  readonly file: string
  /** True if connections and other processes are refused in it. */
  readonly isDry: boolean
  /** The module that is named with output outside of calls. */
  readonly module: string
  readonly thread: WorkerThread
  readonly owner: WorkerOwner
  readonly timers: Timers
  readonly watch: ThreadWatch
  onEvent: TransformListener
  /** True if this process is being debugged; then there are no deadlines. */
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
/** Milliseconds between checks, during a call without a deadline, that the debugger is still there. */
const debuggedMs = 1_000

type Message<Type extends FromWorker['type']> = FromWorker & { readonly type: Type }

export class ModuleWorker {
  readonly #options: ModuleWorkerOptions
  readonly #thread: WorkerThread
  readonly #owner: WorkerOwner
  readonly #timers: Timers
  readonly #watch: ThreadWatch
  readonly #mask: Mask
  #loading: ((loaded: Loaded) => void) | undefined
  #functions: ModuleExports['functions'] = []
  #current: Call | undefined
  #deadline: unknown
  #newest = 0
  #gone: Promise<void> | undefined
  /** True if the call under way is the worker's last one. */
  #isRetiring = false

  constructor(options: ModuleWorkerOptions) {
    this.#options = options
    this.#thread = options.thread
    this.#owner = options.owner
    this.#timers = options.timers
    this.#watch = options.watch
    this.#mask = options.mask
    this.#thread.owner = { heard: (message) => this.#heard(message), lost: (cause) => this.#lost(cause) }
  }

  load(memoryMb: number): Promise<Loaded> {
    const { promise, resolve } = Promise.withResolvers<Loaded>()
    const giveUp = async (): Promise<void> => {
      await arrived()
      if (this.#loading === undefined) return
      if (this.#options.isDebugged()) timer = this.#timers.setTimeout(giveUp, this.#options.loadTimeoutMs)
      else this.#loadFailed(`is not loaded after ${secondsOf(this.#options.loadTimeoutMs)}`)
    }
    let timer = this.#timers.setTimeout(giveUp, this.#options.loadTimeoutMs)
    const notice = this.#timers.setTimeout(() => {
      const text = `is still being loaded: its top level has not ended after ${secondsOf(slowMs)}. Edits wait for it, ${secondsOf(this.#options.loadTimeoutMs)} at most.`
      this.#print({ level: 'warn', requestId: undefined, text })
    }, slowMs)
    this.#loading = (loaded) => {
      this.#loading = undefined
      this.#timers.clearTimeout(timer)
      this.#timers.clearTimeout(notice)
      this.#watch.remove(this)
      if (loaded.ok) this.#functions = loaded.exports.functions
      else this.#stop()
      resolve(loaded)
    }
    const exceeded = () => this.#loadFailed(`uses more than ${memoryMb} MB while it is loaded`)
    this.#watch.add(this, { thread: this.#thread, limitMb: memoryMb, exceeded })
    this.#thread.post({ type: 'load', file: this.#options.file, isDry: this.#options.isDry })
    return promise
  }

  #loadFailed(text: string): void {
    this.#loading?.({ ok: false, error: sentence(text) })
  }

  /** May be called on an idle worker alone. */
  run(call: Call): void {
    this.#newest++
    const { timeoutMs, memoryMb } = call.limits
    try {
      const order = orderOf(call, this.#newest)
      this.#current = call
      this.#expireAfter(timeoutMs, call)
      const exceeded = () => this.#cutOff(sentence(`uses more than ${memoryMb} MB`))
      this.#watch.add(this, { thread: this.#thread, limitMb: memoryMb, exceeded })
      this.#thread.post(order, [order.body.buffer])
    } catch (error) {
      // Data that has no JSON is not the worker's fault.
      this.#release()
      this.#fail(call, sentence(`cannot be given its data: ${(error as Error).message}`))
      this.#owner.idle()
    }
  }

  #expireAfter(ms: number, call: Call): void {
    this.#deadline = this.#timers.setTimeout(async () => {
      await arrived()
      if (this.#current !== call) return
      if (this.#options.isDebugged()) this.#expireAfter(debuggedMs, call)
      else await this.#expire(call)
    }, ms)
  }

  /** The call that has failed waits for the search, and so does one that needs its place. */
  async #expire(call: Call): Promise<void> {
    this.#release()
    const finding = findBusyLine(this.#thread, this.#options.file)
    this.#stop(finding)
    const { state, place } = await finding
    const what = { busy: ', and still computes', waiting: ', and waits for something', unknown: '' }[state]
    const error = sentence(`took longer than ${secondsOf(call.limits.timeoutMs)}${what}`)
    await this.#fail(call, { ...error, ...(place && { place }) }, 'TRANSFORM_TIMEOUT')
  }

  #cutOff(error: ErrorReport): void {
    const call = this.#release()
    this.#stop()
    if (call) this.#fail(call, error)
  }

  /** Rejects a call. An error without a line of its own gets that of the function. */
  async #fail(call: Call, error: ErrorReport, code?: TransformErrorCode): Promise<void> {
    const position = this.#functions.find(({ name }) => name === call.exportName)?.position
    const place = error.place ?? (position && (await sourcePlace(this.#options.file, position)))
    call.reject(transformError(call.module, { ...error, ...(place && { place }) }, code))
  }

  /** Ends the watch over the current call, which this worker has no part in any more. */
  #release(): Call | undefined {
    const call = this.#current
    this.#timers.clearTimeout(this.#deadline)
    this.#current = undefined
    this.#watch.remove(this)
    return call
  }

  /** Takes no more calls, and stops the thread once `after` is settled. */
  #stop(after: Promise<unknown> = Promise.resolve()): Promise<void> {
    if (this.#gone !== undefined) return this.#gone
    this.#gone = after.then(() => this.#thread.end(this.#owner.abandoned))
    this.#owner.ended()
    return this.#gone
  }

  #heard(received: FromWorker): void {
    const message = this.#mask.message(received)
    const { type } = message
    const { module } = this.#current ?? this.#options
    if (type === 'output') this.#print(message)
    else if (type === 'dropped')
      this.#options.onEvent({ type: 'transform-output-dropped', module, lines: message.lines })
    else if (type === 'advice') this.#options.advise(module, message.word)
    else if (type === 'escaped') this.#escaped(message)
    else if (type === 'loaded') this.#loadedAs(message)
    else if (type === 'load-failed') this.#loading?.({ ok: false, error: message.error })
    else if (message.call !== this.#newest || !this.#current) return
    else if (type === 'reached') this.#reached(message, this.#current)
    else this.#settle(message, this.#current)
  }

  #reached({ target: named, isStopped, place }: Message<'reached'>, { module, given }: Call): void {
    const target = this.#mask.text(named)
    if (isStopped) given.onStop?.({ module, target, ...(place && { place }) })
    else given.onCall?.(module, target)
  }

  #loadedAs({ exports, loadMs, memory }: Message<'loaded'>): void {
    this.#loading?.({ ok: true, exports, loadMs, memory })
  }

  #print({ level, requestId, text }: Omit<Message<'output'>, 'type'>): void {
    const { module } = this.#current ?? this.#options
    this.#options.onEvent({
      type: 'transform-output',
      module,
      level,
      text,
      ...(requestId !== undefined && { requestId }),
    })
  }

  #settle(message: Message<'answered' | 'failed'>, call: Call): void {
    this.#release()
    this.#isRetiring ||= message.memory > call.limits.memoryMb * 1_048_576
    if (this.#isRetiring) this.#stop()
    else this.#owner.idle()
    if (message.type === 'answered') call.resolve(message.answer)
    else this.#fail(call, message.error)
  }

  /** The call that caused it fails if it is under way. Otherwise it is logged, and the worker ends after the current call. */
  #escaped({ call, requestId, error }: Message<'escaped'>): void {
    if (this.#loading) this.#loading({ ok: false, error })
    else if (this.#current && call === this.#newest) this.#cutOff(error)
    else {
      const where = error.place ? ` at ${error.place.file}:${error.place.line}:${error.place.column}` : ''
      this.#print({ level: 'error', requestId, text: `${error.text}${where}` })
      this.#isRetiring = true
      if (this.#current === undefined) this.#stop()
    }
  }

  #lost(cause: string): void {
    const reason = this.#mask.text(cause)
    if (this.#loading) this.#loadFailed(`lost its worker while it was loaded: that ${reason}`)
    else {
      this.#cutOff(sentence(`lost its worker, which ${reason}`))
      this.#owner.lost(reason)
    }
  }

  /**
   * Ends the worker at once. A call under way fails with a sentence of its module and `text`. Resolves when the thread has ended.
   */
  end(text: string): Promise<void> {
    const call = this.#release()
    this.#loadFailed('was given up while it was loaded')
    if (call) this.#fail(call, sentence(text))
    return this.#stop()
  }
}

/** What has arrived is in time, since it is this thread that was late. */
function arrived(): Promise<void> {
  return new Promise(setImmediate)
}

/** `text` follows the module's name. */
function sentence(text: string): ErrorReport {
  return { text, isSentence: true }
}
