/**
 * Provides the evaluator threads. They are few, start when a request first needs one, and end when they are idle. Each
 * has one request at a time. A thread that exceeds its deadline or its memory is ended, and its request begins again in
 * another thread, where the piece of work during which the thread was ended fails at once.
 */

import { randomInt } from 'node:crypto'
import type { Decision, HookRequest } from '../resolve/decision.ts'
import type { Decided } from '../resolve/explain/explain.ts'
import type { Explanation } from '../resolve/explain/trace.ts'
import { createMemoryWatch } from '../threads/memory-watch.ts'
import { programFile, startThread, type Thread } from '../threads/thread.ts'
import type { Timers } from '../timers.ts'
import { type TransformAnswer, type TransformCall, TransformError } from '../transform/port.ts'
import { type FromThread, phases, type SliceContent, slots, type ToThread } from './protocol.ts'

/** A small machine has this many cores. Each thread holds some 30 MB. */
const mostThreads = 2
/** How many requests may wait for a thread, of all senders and of one sender, since a burst comes from one. */
const mostWaiting = 2_000
const mostWaitingOfSender = 1_000
/** How many bytes their bodies may have. */
const mostWaitingBytes = 64 * 1_048_576
/** A request that has waited this long is given up. Milliseconds. */
const waitMs = 10_000
/** A thread ends after this long without a request. Milliseconds. */
const idleMs = 30_000
const checkMs = 50
/** The number of consecutive checks that may find the same piece of work. An expression ends itself after a second. */
const mostChecks = 30
/** The number of additional checks for each megabyte of the body. */
const checksOfMegabyte = 4
/** The number of checks while a thread loads. */
const mostChecksLoading = 600
/** The memory that a thread may hold. Megabytes. */
const memoryMb = 256
/** A request for which this many threads were ended is not tried again. */
const mostAttempts = 3
/** The number of endpoints whose mappings a thread keeps compiled. */
const mostSlices = 8

/** The mappings that cover one endpoint in one generation. */
export interface Slice {
  readonly id: number
  content(): SliceContent
  /** Calls the transform of a mapping. */
  readonly callTransform: (mapping: string, given: TransformCall) => Promise<TransformAnswer>
}

/** Thrown if too many requests wait for a thread already. The same request may be accepted later. */
export class EvaluatorsBusy extends Error {
  override readonly name = 'EvaluatorsBusy'
}

/** Thrown if too many threads were ended for the request. */
export class EvaluationEnded extends Error {
  override readonly name = 'EvaluationEnded'
}

export interface Evaluators {
  /**
   * `calls` has the answers of transforms to this request so far, in order, and gets the new ones. @throws
   * EvaluatorsBusy, EvaluationEnded
   */
  run(type: 'resolve', slice: Slice, request: HookRequest, calls: TransformCalls): Promise<Decision>
  run(
    type: 'explain',
    slice: Slice,
    request: HookRequest,
    calls: TransformCalls,
    decided?: Decided,
  ): Promise<Explanation>
  /** Ends all threads, and rejects the requests that wait or run. */
  close(): Promise<void>
}

/** The calls in the order in which a request makes them. When the request begins again, none of them is repeated. */
export type TransformCalls = Promise<TransformAnswer>[]

export interface EvaluatorsOptions {
  readonly timers: Timers
}

interface Job {
  readonly id: number
  readonly type: 'resolve' | 'explain'
  readonly slice: Slice
  readonly request: HookRequest
  readonly calls: TransformCalls
  readonly decided?: Decided
  readonly seed: number
  readonly failed: number[]
  readonly result: PromiseWithResolvers<Decision | Explanation>
  waitTimer: unknown
  attempts: number
}

/** A thread of the pool, with its current job. */
interface Member {
  readonly thread: Thread<ToThread, FromThread>
  /** The loaded slices, with the last used one at the end. */
  readonly slices: Set<number>
  job: Job | undefined
  /** The number of checks since the last progress. */
  checks: number
  work: number
  idleTimer: unknown
  /** Whether the thread is being ended. Until then it still occupies a place. */
  isEnding: boolean
}

export function createEvaluators({ timers }: EvaluatorsOptions): Evaluators {
  const members = new Set<Member>()
  const waiting: Job[] = []
  let nextJob = 1
  const memory = createMemoryWatch(timers)
  let checkTimer: unknown
  let isClosed = false

  function dispatch(): void {
    for (;;) {
      const place = waiting.findIndex(({ request }) => mayRun(request.sender))
      const job = waiting[place]
      if (job === undefined) return
      const member = freeMember()
      if (member === undefined) return
      waiting.splice(place, 1)
      timers.clearTimeout(job.waitTimer)
      assign(member, job)
    }
  }

  /** One sender never gets all threads. */
  function mayRun(sender: string | undefined): boolean {
    if (sender === undefined) return true
    let held = 0
    for (const { job } of members) if (job?.request.sender === sender) held += 1
    return held < mostThreads - 1
  }

  function freeMember(): Member | undefined {
    for (const member of members) if (member.job === undefined && !member.isEnding) return member
    return members.size < mostThreads ? addMember() : undefined
  }

  function addMember(): Member {
    const thread = startThread<ToThread, FromThread>({
      program: programFile('./evaluator-thread.ts', import.meta.url),
      name: 'evaluator',
      slots: Object.keys(slots).length,
    })
    thread.owner = {
      heard: (message) => handleMessage(member, message),
      lost: () => restartJob(member),
    }
    const member: Member = {
      thread,
      slices: new Set(),
      job: undefined,
      checks: 0,
      work: 0,
      idleTimer: undefined,
      isEnding: false,
    }
    members.add(member)
    return member
  }

  function assign(member: Member, job: Job): void {
    timers.clearTimeout(member.idleTimer)
    const { thread, slices } = member
    const { id: slice } = job.slice
    if (!slices.delete(slice)) thread.post({ type: 'load', slice, content: job.slice.content() })
    slices.add(slice)
    const [oldest] = slices
    if (slices.size > mostSlices && oldest !== undefined) {
      slices.delete(oldest)
      thread.post({ type: 'forget', slice: oldest })
    }
    job.attempts += 1
    member.job = job
    member.checks = 0
    // A thread that ends while it loads must not seem to have ended during the work of the last request.
    Atomics.store(thread.shared, slots.work, 0)
    const {
      payload: _payload,
      unwrapped: _unwrapped,
      isForm: _isForm,
      onCall: _onCall,
      onStop: _onStop,
      ...request
    } = job.request
    const rawBody = new Uint8Array(request.rawBody)
    const { type, seed, failed, decided } = job
    const order = { type, job: job.id, slice, request: { ...request, rawBody }, failed, seed }
    thread.post({ ...order, ...(decided && { decided }) })
    memory.add(member, { thread, limitMb: memoryMb, exceeded: () => void end(member) })
    checkTimer ??= timers.setTimeout(checkDeadlines, checkMs)
  }

  function handleMessage(member: Member, message: FromThread): void {
    const { job } = member
    if (job === undefined || job.id !== message.job) return
    if (message.type === 'transform')
      void callTransform(member, job, message).catch((error) => {
        member.job = undefined
        job.result.reject(error)
        void end(member)
      })
    else {
      member.job = undefined
      memory.remove(member)
      member.idleTimer = timers.setTimeout(() => void end(member), idleMs)
      job.result.resolve(message.result)
      dispatch()
    }
  }

  async function callTransform(
    member: Member,
    { calls, slice, request }: Job,
    { call, mapping, given }: Extract<FromThread, { type: 'transform' }>,
  ): Promise<void> {
    const { rawBody, onCall, onStop } = request
    calls[call] ??= slice.callTransform(mapping, { ...given, rawBody, onCall, onStop })
    try {
      member.thread.post({ type: 'transformed', call, answer: await calls[call] })
    } catch (error) {
      if (!(error instanceof TransformError)) throw error
      const { code, message, place, refusal, cause } = error
      member.thread.post({ type: 'transform-failed', call, error: { code, message, place, refusal, cause } })
    }
  }

  /** Called periodically while any thread has a job. */
  function checkDeadlines(): void {
    checkTimer = undefined
    const busy = [...members].filter(({ job, isEnding }) => job !== undefined && !isEnding)
    for (const member of busy) if (isOverdue(member)) void end(member)
    if (busy.length > 0) checkTimer = timers.setTimeout(checkDeadlines, checkMs)
  }

  function isOverdue(member: Member): boolean {
    const { shared } = member.thread
    const work = Atomics.load(shared, slots.work)
    const phase = Atomics.load(shared, slots.phase)
    if (phase === phases.waiting || work !== member.work) member.checks = 0
    member.work = work
    member.checks += 1
    if (phase === phases.loading) return member.checks > mostChecksLoading
    const megabytes = (member.job?.request.rawBody.length ?? 0) / 1_048_576
    return member.checks > mostChecks + checksOfMegabyte * megabytes
  }

  async function end(member: Member): Promise<void> {
    member.isEnding = true
    memory.remove(member)
    timers.clearTimeout(member.idleTimer)
    const ended = member.thread.end()
    restartJob(member)
    await ended
    members.delete(member)
    dispatch()
  }

  /** Begins the job of an ended thread again, without the piece of work during which the thread was ended. */
  function restartJob(member: Member): void {
    const { job } = member
    member.job = undefined
    if (!member.isEnding) void end(member)
    if (job === undefined) return
    const work = Atomics.load(member.thread.shared, slots.work)
    if (isClosed || work === 0 || job.attempts === mostAttempts) {
      job.result.reject(new EvaluationEnded('the request takes more time or memory than one may'))
      return
    }
    job.failed.push(work)
    job.waitTimer = timers.setTimeout(() => expire(job), waitMs)
    waiting.unshift(job)
    dispatch()
  }

  function isFull({ sender, rawBody }: HookRequest): boolean {
    let bytes = rawBody.length
    let ofSender = 0
    for (const { request } of waiting) {
      bytes += request.rawBody.length
      if (sender !== undefined && request.sender === sender) ofSender += 1
    }
    return waiting.length >= mostWaiting || ofSender >= mostWaitingOfSender || bytes > mostWaitingBytes
  }

  function expire(job: Job): void {
    waiting.splice(waiting.indexOf(job), 1)
    job.result.reject(new EvaluatorsBusy('the request waited too long for a thread'))
  }

  async function run(
    type: Job['type'],
    slice: Slice,
    request: HookRequest,
    calls: TransformCalls,
    decided?: Decided,
  ) {
    if (isClosed || (waiting.length > 0 && isFull(request)))
      throw new EvaluatorsBusy('too many requests wait for a thread')
    const result = Promise.withResolvers<Decision | Explanation>()
    const seed = randomInt(2 ** 31)
    const job: Job = {
      id: nextJob++,
      type,
      slice,
      request,
      calls,
      ...(decided && { decided }),
      seed,
      failed: [],
      result,
      waitTimer: undefined,
      attempts: 0,
    }
    job.waitTimer = timers.setTimeout(() => expire(job), waitMs)
    waiting.push(job)
    dispatch()
    return result.promise
  }

  async function close(): Promise<void> {
    isClosed = true
    timers.clearTimeout(checkTimer)
    memory.close()
    for (const { result, waitTimer } of waiting.splice(0)) {
      timers.clearTimeout(waitTimer)
      result.reject(new EvaluationEnded('the gateway stops'))
    }
    await Promise.all([...members].map(end))
  }

  return { run: run as Evaluators['run'], close }
}
