/**
 * The evaluator threads: few, started when a request first needs one, ended when they idle. Each has one request at a
 * time. One that runs past its deadline or its memory is ended, and its request begins again in another thread, where
 * the piece of work that it was ended in fails at once.
 */

import { randomInt } from 'node:crypto'
import type { Decision, HookRequest } from '../resolve/decision.ts'
import type { Explanation } from '../resolve/explain/trace.ts'
import type { Timers } from '../timers.ts'
import { type TransformAnswer, type TransformCall, TransformError } from '../transform/port.ts'
import { type FromThread, phases, type SliceContent } from './protocol.ts'
import { startThread, type Thread } from './thread.ts'

/** As many as there are cores on a small machine. Each holds some 30 MB while it is there. */
const mostThreads = 2
/** Requests that wait for a thread, of all senders and of one: bursts come from one. */
const mostWaiting = 2_000
const mostWaitingOfSender = 1_000
/** Bytes of their bodies. */
const mostWaitingBytes = 64 * 1_048_576
/** After so long a request that still waits is given up. Milliseconds. */
const waitMs = 10_000
/** After so long without a request a thread ends. Milliseconds. */
const idleMs = 30_000
const lookMs = 50
/** Looks at one piece of work, without any progress. An expression ends itself after a second. */
const mostLooks = 30
/** So many more for each megabyte of the body. */
const looksOfMegabyte = 4
/** Looks at a thread that loads. */
const mostLoading = 600
const memoryBytes = 416 * 1_048_576
/** A request whose thread was ended so often is not tried again. */
const mostAttempts = 3
/** Endpoints whose mappings a thread keeps compiled. */
const mostSlices = 8

/** The mappings that cover one endpoint in one generation. */
export interface Slice {
  readonly id: number
  content(): SliceContent
  /** Calls the transform of a mapping. */
  readonly callTransform: (mapping: string, given: TransformCall) => Promise<TransformAnswer>
}

/** Too many requests wait for a thread already; the same one may be taken later. */
export class EvaluatorsBusy extends Error {
  override readonly name = 'EvaluatorsBusy'
}

/** The request was ended as often as one may be. */
export class EvaluationEnded extends Error {
  override readonly name = 'EvaluationEnded'
}

export interface Evaluators {
  /** `calls`: what transforms have answered to this request so far, in order; it is added to. @throws EvaluatorsBusy, EvaluationEnded */
  run(type: 'resolve', slice: Slice, request: HookRequest, calls: TransformCalls): Promise<Decision>
  run(type: 'explain', slice: Slice, request: HookRequest, calls: TransformCalls): Promise<Explanation>
  /** Ends all threads; what waits or runs is rejected. */
  close(): Promise<void>
}

/** In the order in which a request makes them: what was called once is not called again when it begins anew. */
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
  readonly seed: number
  readonly failed: number[]
  readonly result: PromiseWithResolvers<Decision | Explanation>
  waitTimer: unknown
  attempts: number
}

interface Seat {
  readonly thread: Thread
  /** Loaded, the one that was used last at the end. */
  readonly slices: Set<number>
  job: Job | undefined
  /** Since the last progress. */
  looks: number
  work: number
  idleTimer: unknown
  /** It was told to end, and has not ended yet. */
  isLeaving: boolean
}

export function createEvaluators({ timers }: EvaluatorsOptions): Evaluators {
  const seats = new Set<Seat>()
  const waiting: Job[] = []
  let nextJob = 1
  let lookTimer: unknown
  let isClosed = false

  function dispatch(): void {
    for (;;) {
      const place = waiting.findIndex(({ request }) => mayRun(request.sender))
      const job = waiting[place]
      if (job === undefined) return
      const seat = freeSeat()
      if (seat === undefined) return
      waiting.splice(place, 1)
      timers.clearTimeout(job.waitTimer)
      assign(seat, job)
    }
  }

  /** One sender never has all threads. */
  function mayRun(sender: string | undefined): boolean {
    if (sender === undefined) return true
    let held = 0
    for (const { job } of seats) if (job?.request.sender === sender) held += 1
    return held < mostThreads - 1
  }

  function freeSeat(): Seat | undefined {
    for (const seat of seats) if (seat.job === undefined && !seat.isLeaving) return seat
    return seats.size < mostThreads ? openSeat() : undefined
  }

  function openSeat(): Seat {
    const thread = startThread({ heard: (message) => hear(seat, message), ended: () => lose(seat) })
    const seat: Seat = {
      thread,
      slices: new Set(),
      job: undefined,
      looks: 0,
      work: 0,
      idleTimer: undefined,
      isLeaving: false,
    }
    seats.add(seat)
    return seat
  }

  function assign(seat: Seat, job: Job): void {
    timers.clearTimeout(seat.idleTimer)
    const { thread, slices } = seat
    const { id: slice } = job.slice
    if (!slices.delete(slice)) thread.post({ type: 'load', slice, content: job.slice.content() })
    slices.add(slice)
    const [oldest] = slices
    if (slices.size > mostSlices && oldest !== undefined) {
      slices.delete(oldest)
      thread.post({ type: 'forget', slice: oldest })
    }
    job.attempts += 1
    seat.job = job
    seat.looks = 0
    thread.resetWork()
    const {
      payload: _payload,
      unwrapped: _unwrapped,
      isForm: _isForm,
      onCall: _onCall,
      ...request
    } = job.request
    const rawBody = new Uint8Array(request.rawBody)
    const { type, seed, failed } = job
    thread.post({ type, job: job.id, slice, request: { ...request, rawBody }, failed, seed })
    lookTimer ??= timers.setTimeout(look, lookMs)
  }

  function hear(seat: Seat, message: FromThread): void {
    const { job } = seat
    if (job === undefined || job.id !== message.job) return
    if (message.type === 'transform')
      void callTransform(seat, job, message).catch((error) => {
        seat.job = undefined
        job.result.reject(error)
        leave(seat)
      })
    else {
      seat.job = undefined
      seat.idleTimer = timers.setTimeout(() => leave(seat), idleMs)
      job.result.resolve(message.result)
      dispatch()
    }
  }

  async function callTransform(
    seat: Seat,
    { calls, slice, request }: Job,
    { call, mapping, given }: Extract<FromThread, { type: 'transform' }>,
  ): Promise<void> {
    const { rawBody, onCall } = request
    calls[call] ??= slice.callTransform(mapping, { ...given, rawBody, onCall })
    try {
      seat.thread.post({ type: 'transformed', call, answer: await calls[call] })
    } catch (error) {
      if (!(error instanceof TransformError)) throw error
      const { code, message, place, refusal, cause } = error
      seat.thread.post({ type: 'transform-failed', call, error: { code, message, place, refusal, cause } })
    }
  }

  /** What is under way is looked at while there is any. */
  function look(): void {
    lookTimer = undefined
    let isBusy = false
    for (const seat of seats) {
      if (seat.job === undefined || seat.isLeaving) continue
      isBusy = true
      if (isOverdue(seat, seat.job)) leave(seat)
      else void watchMemory(seat, seat.job)
    }
    if (isBusy) lookTimer = timers.setTimeout(look, lookMs)
  }

  function isOverdue(seat: Seat, { request }: Job): boolean {
    const { work, phase } = seat.thread.progress()
    if (phase === phases.waiting || work !== seat.work) seat.looks = 0
    seat.work = work
    seat.looks += 1
    if (phase === phases.loading) return seat.looks > mostLoading
    return seat.looks > mostLooks + looksOfMegabyte * (request.rawBody.length / 1_048_576)
  }

  async function watchMemory(seat: Seat, job: Job): Promise<void> {
    const bytes = await seat.thread.memory()
    if (bytes !== undefined && bytes > memoryBytes && seat.job === job) leave(seat)
  }

  function leave(seat: Seat): void {
    if (seat.isLeaving) return
    seat.isLeaving = true
    timers.clearTimeout(seat.idleTimer)
    void seat.thread.end().then(() => {
      seats.delete(seat)
      dispatch()
    })
  }

  /** A thread ended: what it had begins again, without the piece of work that it was in. */
  function lose(seat: Seat): void {
    const { job } = seat
    seat.job = undefined
    if (!seat.isLeaving) leave(seat)
    if (job === undefined) return
    const { work } = seat.thread.progress()
    if (isClosed || work === 0 || job.attempts === mostAttempts) {
      job.result.reject(new EvaluationEnded('the request takes more time or memory than one may'))
      return
    }
    job.failed.push(work)
    job.waitTimer = timers.setTimeout(() => giveUp(job), waitMs)
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

  function giveUp(job: Job): void {
    waiting.splice(waiting.indexOf(job), 1)
    job.result.reject(new EvaluatorsBusy('the request waited too long for a thread'))
  }

  async function run(type: Job['type'], slice: Slice, request: HookRequest, calls: TransformCalls) {
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
      seed,
      failed: [],
      result,
      waitTimer: undefined,
      attempts: 0,
    }
    job.waitTimer = timers.setTimeout(() => giveUp(job), waitMs)
    waiting.push(job)
    dispatch()
    return result.promise
  }

  return {
    run: run as Evaluators['run'],
    async close() {
      isClosed = true
      timers.clearTimeout(lookTimer)
      for (const { result, waitTimer } of waiting.splice(0)) {
        timers.clearTimeout(waitTimer)
        result.reject(new EvaluationEnded('the gateway stops'))
      }
      await Promise.all(
        [...seats].map((seat) => {
          seat.isLeaving = true
          timers.clearTimeout(seat.idleTimer)
          return seat.thread.end()
        }),
      )
    },
  }
}
