/**
 * Provides the evaluator threads. They are few, start when a request first needs one, and end when they are idle. Each
 * has one request at a time. A thread that exceeds its deadline or its memory is ended, and its request is refused; those
 * that await a transform in it begin again in another thread.
 */

import type { Found } from '../compile/match/decision-index.ts'
import type { Decision, HookRequest } from '../resolve/model/decision.ts'
import type { Program } from '../resolve/model/program.ts'
import type { Explanation } from '../resolve/model/trace.ts'
import { Pool, type PoolWorker, type WorkerEvents } from '../threads/pool.ts'
import { programFile, startThread } from '../threads/thread.ts'
import { checkMs, createThreadWatch, type ThreadWatch } from '../threads/watch.ts'
import type { Timers } from '../timers.ts'
import { type TransformAnswer, TransformError } from '../transform/port.ts'
import {
  type ExplainOrder,
  type FromThread,
  phases,
  type RunOrder,
  type SentMapping,
  type SettingsContent,
  slots,
  type ToThread,
} from './protocol.ts'

/** A small machine has this many cores. Each thread holds some 30 MB. */
const maxThreads = 2
/** Maximum number of requests that wait for a thread, of all senders and of one sender, since a burst comes from one. */
const maxWaiting = 2_000
const maxWaitingOfSender = 1_000
/** Maximum bytes of their bodies. */
const maxWaitingBytes = 64 * 1_048_576
/** A request that has waited this long is given up. Milliseconds. */
const waitMs = 10_000
/** A thread ends after this long without a request. It takes 0.2 s of processor time to start. Milliseconds. */
const idleMs = 300_000
/** Milliseconds of processor time for one piece of work. An expression ends itself after a second. */
const maxWorkMs = 1_500
/** Added for each megabyte of the body. Milliseconds. */
const maxWorkMsOfMegabyte = 200
/** Milliseconds by the clock for one piece of work, for starting a thread, and for compiling mappings. */
const maxClockMs = 30_000
/** The memory that a thread may hold besides its mappings. Megabytes. */
const memoryMb = 256
/** The memory of one mapping. */
const memoryMbOfMapping = 0.05
/** The requests of a thread that may await transforms while it runs others, and the bytes of their bodies. */
const maxAside = 200
const maxAsideBytes = 8 * 1_048_576
/** A thread forgets everything before it holds more generations, or more mappings, unless one request needs them. */
const maxGenerations = 20
const maxMappings = 2_000

/** The settings and mappings of one snapshot. */
export interface Generation {
  readonly id: number
  /** Every mapping, in matching order. */
  readonly programs: readonly Program[]
  settings(): SettingsContent
  mapping(program: Program): SentMapping
}

export interface EvaluatorJob {
  readonly generation: Generation
  readonly request: HookRequest
  readonly found: readonly Found[]
  /** Number of mappings that cover the endpoint. */
  readonly covering: number
  /** Absent: the request is resolved. */
  readonly explain?: ExplainOrder
  /** The answers of transforms to this request so far, in order. It gets the new ones. */
  readonly calls: TransformCalls
}

/** The calls in the order in which a request makes them. When the request begins again, none of them is repeated. */
export type TransformCalls = Promise<TransformAnswer>[]

/** Thrown if no thread, or no processor, is free for the request. The same request may be accepted later. */
export class EvaluatorsBusy extends Error {
  override readonly name = 'EvaluatorsBusy'
}

/** Thrown if the thread of the request was ended. */
export class EvaluationEnded extends Error {
  override readonly name = 'EvaluationEnded'
  /** The mapping that was tried. Absent: the body was read. */
  readonly mapping: string | undefined

  constructor(mapping: string | undefined) {
    super('the thread of the request was ended')
    this.mapping = mapping
  }
}

export interface Evaluators {
  /** Returns a decision, or an explanation if the job asks for one. @throws EvaluatorsBusy, EvaluationEnded */
  run(job: EvaluatorJob): Promise<Decision | Explanation>
  /** Ends all threads, and rejects the requests that wait or run. */
  close(): Promise<void>
}

/** A job with its state. */
interface Running extends EvaluatorJob {
  readonly id: number
  readonly result: PromiseWithResolvers<Decision | Explanation>
}

export function createEvaluators({ timers }: { readonly timers: Timers }): Evaluators {
  const watch = createThreadWatch(timers)
  const pool = new Pool<Running>({
    timers,
    maxWorkers: maxThreads,
    idleMs,
    waitMs,
    start: (events) => new Worker(events, watch, { beginAgain, refuse }),
    // One sender never gets all threads.
    mayRun: ({ request: { sender } }, running) =>
      sender === undefined ||
      running.filter(({ request }) => request.sender === sender).length < maxThreads - 1,
    gaveUp: ({ result }) => result.reject(new EvaluatorsBusy('the request waited too long for a thread')),
  })
  let nextJob = 1
  let isClosed = false

  function beginAgain(job: Running): void {
    if (isClosed) refuse(job)
    else pool.addFirst(job)
  }

  function refuse({ result }: Running, reason?: Error): void {
    result.reject(isClosed ? new EvaluatorsBusy('the gateway stops') : reason)
  }

  function isFull({ sender, rawBody }: HookRequest): boolean {
    const waiting = pool.waiting()
    if (waiting.length === 0) return false
    let bytes = rawBody.length
    let ofSender = 0
    for (const { request } of waiting) {
      bytes += request.rawBody.length
      if (sender !== undefined && request.sender === sender) ofSender += 1
    }
    return waiting.length >= maxWaiting || ofSender >= maxWaitingOfSender || bytes > maxWaitingBytes
  }

  return {
    async run(job) {
      if (isClosed || isFull(job.request)) throw new EvaluatorsBusy('too many requests wait for a thread')
      const result = Promise.withResolvers<Decision | Explanation>()
      pool.add({ ...job, id: nextJob++, result })
      return result.promise
    },
    async close() {
      isClosed = true
      watch.close()
      const { waiting, ended } = pool.close()
      for (const { result } of waiting) result.reject(new EvaluatorsBusy('the gateway stops'))
      await ended
    },
  }
}

/** What becomes of the jobs of an ended thread. */
interface Ends {
  beginAgain(job: Running): void
  refuse(job: Running, reason: Error): void
}

/** Runs jobs in one thread, one at a time. A job that awaits a transform is put aside for others. */
class Worker implements PoolWorker<Running> {
  readonly #events: WorkerEvents<Running>
  readonly #watch: ThreadWatch
  readonly #ends: Ends
  readonly #thread = startThread<ToThread, FromThread>({
    program: programFile('./evaluator-thread.ts', import.meta.url),
    name: 'evaluator',
    slots: Object.keys(slots).length,
  })
  readonly #sent = createSent()
  /** The jobs that await a transform. */
  readonly #aside = new Set<Running>()
  #current: Running | undefined

  constructor(events: WorkerEvents<Running>, watch: ThreadWatch, ends: Ends) {
    this.#events = events
    this.#watch = watch
    this.#ends = ends
    this.#thread.owner = { heard: (message) => this.#heard(message), lost: () => events.ended() }
  }

  run(job: Running): void {
    const order = orderOf(job, this.#sent.add(job))
    this.#makeCurrent(job)
    this.#thread.post(order)
  }

  #makeCurrent(job: Running): void {
    this.#current = job
    // Nothing else may keep a process that only tests or tries mappings.
    this.#thread.keepAlive(true)
    Atomics.store(this.#thread.shared, slots.phase, phases.loading)
    const limitMb = memoryMb + memoryMbOfMapping * this.#sent.size()
    const deadline = createDeadline(this.#thread.shared, job.request.rawBody.length)
    this.#watch.add(this, {
      thread: this.#thread,
      limitMb,
      check: (processorMs) => this.#check(job, deadline(processorMs)),
      exceeded: this.#events.ended,
    })
  }

  #check(job: Running, late: ReturnType<Deadline>): void {
    if (late === undefined) return
    if (late === 'clock') {
      this.#current = undefined
      job.result.reject(new EvaluatorsBusy('the machine does not let the thread of the request run'))
    }
    this.#events.ended()
  }

  #rest(): void {
    this.#current = undefined
    this.#thread.keepAlive(false)
    this.#watch.remove(this)
    this.#events.idle()
  }

  #heard(message: FromThread): void {
    const job = this.#current
    if (job?.id !== message.job) return
    if (message.type === 'transform') void this.#transform(job, message)
    else {
      job.result.resolve(message.result)
      this.#rest()
    }
  }

  async #transform(job: Running, message: TransformMessage): Promise<void> {
    const answer = answerOf(job, message)
    const isAside = mayPutAside(job, this.#aside)
    if (isAside) {
      this.#aside.add(job)
      this.#rest()
    }
    try {
      const order = await answer
      if (!isAside) this.#thread.post(order)
      else if (this.#aside.has(job))
        this.#events.claim(job, () => {
          this.#aside.delete(job)
          this.#makeCurrent(job)
          this.#thread.post(order)
        })
    } catch (error) {
      // A transform that breaks its contract leaves a request in the thread that nothing answers.
      job.result.reject(error)
      const isHere = this.#aside.delete(job) || this.#current === job
      if (this.#current === job) this.#current = undefined
      if (isHere) this.#events.ended()
    }
  }

  async end(): Promise<void> {
    const job = this.#current
    this.#current = undefined
    this.#watch.remove(this)
    const ended = this.#thread.end()
    const others = [...this.#aside]
    this.#aside.clear()
    if (job !== undefined) this.#ends.refuse(job, this.#errorOf(job))
    for (const each of others) this.#ends.beginAgain(each)
    await ended
  }

  #errorOf({ generation }: Running): Error {
    const { shared } = this.#thread
    if (Atomics.load(shared, slots.phase) === phases.loading)
      return new Error('the thread of the request ended before it read the body')
    const tried = Atomics.load(shared, slots.mapping)
    return new EvaluationEnded(generation.programs.find(({ number }) => number === tried)?.id)
  }
}

/** The requests that await transforms in one thread are limited in number and bytes. */
function mayPutAside({ request: { rawBody } }: Running, aside: ReadonlySet<Running>): boolean {
  const bytes = [...aside].reduce((sum, { request }) => sum + request.rawBody.length, rawBody.length)
  return aside.size < maxAside && bytes <= maxAsideBytes
}

type TransformMessage = Extract<FromThread, { type: 'transform' }>

/** Calls a transform, unless an earlier attempt has. Rejects if it breaks its contract. */
async function answerOf(
  { calls, generation, request }: Running,
  { job, call, mapping, given }: TransformMessage,
): Promise<ToThread> {
  const { rawBody, onCall, onStop } = request
  const transform = generation.programs.find(({ id }) => id === mapping)?.transform
  if (transform === undefined) throw new Error(`The mapping "${mapping}" has no transform.`)
  calls[call] ??= transform.call({ ...given, rawBody, onCall, onStop })
  try {
    return { type: 'transformed', job, answer: await calls[call] }
  } catch (error) {
    if (!(error instanceof TransformError)) throw error
    const { code, message, place, refusal, cause } = error
    return { type: 'transform-failed', job, error: { code, message, place, refusal, cause } }
  }
}

/**
 * Called every `checkMs`, and with the thread's processor time each time that it is known. Returns by what the current piece
 * of work is late: by the processor time that it takes, or by the clock, since it may have to wait for the processor.
 */
type Deadline = (processorMs?: number) => 'processor' | 'clock' | undefined

/** `bytes` is the length of the body. */
export function createDeadline(shared: Int32Array, bytes: number): Deadline {
  const maxMs = maxWorkMs + (maxWorkMsOfMegabyte * bytes) / 1_048_576
  let last = ''
  let checks = 0
  let before: number | undefined
  return (processorMs) => {
    const phase = Atomics.load(shared, slots.phase)
    const work = `${phase} ${Atomics.load(shared, slots.work)}`
    if (phase === phases.waiting || work !== last) {
      checks = 0
      before = processorMs
    }
    last = work
    if (processorMs === undefined) {
      checks += 1
      return checks * checkMs > maxClockMs ? 'clock' : undefined
    }
    before ??= processorMs
    return phase === phases.resolving && processorMs - before > maxMs ? 'processor' : undefined
  }
}

type Content = Pick<RunOrder, 'forgets' | 'settings' | 'mappings'>

/** Remembers the content that was sent to one thread. */
function createSent() {
  const generations = new Set<number>()
  const mappings = new Set<number>()
  /** Those whose mappings were sent: a request that finds the same again costs no more, however many mappings that is. */
  let buckets = new WeakSet<Found['bucket']>()

  return {
    /** Returns the number of mappings. */
    size: () => mappings.size,
    /** Returns what the job needs besides. */
    add({ generation: { id, programs, settings, mapping }, found }: Running): Content {
      const isNew = !generations.has(id)
      const forgets = mappings.size >= maxMappings || (isNew && generations.size >= maxGenerations)
      if (forgets) {
        generations.clear()
        mappings.clear()
        buckets = new WeakSet()
      }
      const positions = found.flatMap(({ bucket }) => (buckets.has(bucket) ? [] : bucket))
      const needed = new Set(positions.flatMap((position) => programs[position] ?? []))
      const missing = [...needed].filter(({ number }) => !mappings.has(number))
      for (const { bucket } of found) buckets.add(bucket)
      for (const { number } of missing) mappings.add(number)
      generations.add(id)
      return {
        forgets,
        ...((isNew || forgets) && { settings: settings() }),
        mappings: missing.map(mapping),
      }
    },
  }
}

function orderOf(job: Running, content: Content): RunOrder {
  const { endpoint, headers, query, sender, rawBody, id: requestId, dryRun, now } = job.request
  const { id, generation, found, covering, explain } = job
  return {
    type: 'run',
    job: id,
    generation: generation.id,
    ...content,
    found,
    covering,
    ...(explain && { explain }),
    // A buffer of Node may be part of a larger one, which would be copied as a whole.
    request: {
      endpoint,
      headers,
      query,
      sender,
      rawBody: new Uint8Array(rawBody),
      id: requestId,
      dryRun,
      now,
    },
  }
}
