/** Decides what each request to a fake server comes to: the vendor's answer, or a fault that a test has scripted. */

import { EventEmitter, once } from 'node:events'

export interface FakeServerRequest {
  readonly method: string
  /** The decoded path, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** The headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  /** The body parsed as JSON; undefined if it is not JSON. */
  readonly json: unknown
  /** Aborted when the caller no longer waits. Absent where nothing carries requests. */
  readonly signal?: AbortSignal
}

export interface FakeServerAnswer {
  /** Default: 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON, a string as it is. */
  readonly body?: object | string
}

/**
 * What happens to one request instead of its answer. "Before" and "after" tell whether the fault strikes before or after
 * the vendor has acted on the request, that is, has stored the message.
 */
export type Fault =
  /** The vendor does not act on the request, and the fake sends this answer. */
  | { readonly kind: 'answer'; readonly answer: FakeServerAnswer }
  /** The vendor acts on the request, and the fake sends this answer all the same. */
  | { readonly kind: 'answer-after'; readonly answer: FakeServerAnswer }
  | { readonly kind: 'cut-before' }
  | { readonly kind: 'cut-after' }
  | { readonly kind: 'hang-before' }
  | { readonly kind: 'hang-after' }
  /** The fake sends half of the answer and cuts the connection. */
  | { readonly kind: 'cut-answer' }

type Answered = FakeServerAnswer | 'cut' | 'hang'

export interface FaultyVendor {
  /**
   * Answers as the vendor does, by its rules and the messages that it remembers. A vendor with faults of its own may
   * cut the connection, or let the request hang.
   */
  answer(request: FakeServerRequest): Answered | Promise<Answered>
  /** Whether faults strike this request; normally those that would store a message. Default: every request. */
  isSend?(request: FakeServerRequest): boolean
}

/** The outcome of a request. */
export type Outcome =
  | { readonly end: 'answer' | 'cut-answer'; readonly answer: FakeServerAnswer }
  | { readonly end: 'cut' | 'hang' }

export interface Faults {
  /** Every request in order of arrival, including those that met a fault. */
  readonly requests: readonly FakeServerRequest[]
  /** Adds faults, each for one of the next requests that `isSend` accepts. */
  script(...faults: readonly Fault[]): void
  /** Sets the fault for every such request from now on, or removes it with undefined. */
  always(fault: Fault | undefined): void
  /** Settles when a fault has made a request hang. */
  untilHanging(): Promise<void>
  /** Settles when no request is waiting: each has its answer, or its caller has closed the connection. */
  untilIdle(): Promise<void>
}

/**
 * Creates the faults of one fake server, whatever carries its requests. `expect` registers a waiting caller, `meet` decides
 * the outcome of its request, and `release` says that the caller no longer waits.
 */
export function createFaults<Waiter>({ answer, isSend = () => true }: FaultyVendor) {
  const requests: FakeServerRequest[] = []
  const scripted: Fault[] = []
  const waiting = new Set<Waiter>()
  const hanging = new Set<Waiter>()
  const changes = new EventEmitter()
  let permanent: Fault | undefined

  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await once(changes, 'change')
  }

  async function outcomeOf(request: FakeServerRequest): Promise<Outcome> {
    const fault = isSend(request) ? (scripted.shift() ?? permanent) : undefined
    switch (fault?.kind) {
      case 'answer':
        return { end: 'answer', answer: fault.answer }
      case 'cut-before':
        return { end: 'cut' }
      case 'hang-before':
        return { end: 'hang' }
    }
    const given = await answer(request)
    if (typeof given === 'string') return { end: given }
    switch (fault?.kind) {
      case undefined:
        return { end: 'answer', answer: given }
      case 'answer-after':
        return { end: 'answer', answer: fault.answer }
      case 'cut-after':
        return { end: 'cut' }
      case 'hang-after':
        return { end: 'hang' }
      case 'cut-answer':
        return { end: 'cut-answer', answer: given }
    }
  }

  const faults: Faults = {
    requests,
    script: (...more) => void scripted.push(...more),
    always(fault) {
      permanent = fault
    },
    untilHanging: () => until(() => hanging.size > 0),
    untilIdle: () => until(() => waiting.size === 0),
  }

  return {
    faults,
    expect: (waiter: Waiter) => void waiting.add(waiter),
    async meet(waiter: Waiter, request: FakeServerRequest): Promise<Outcome> {
      requests.push(request)
      const outcome = await outcomeOf(request)
      if (outcome.end === 'hang' && waiting.has(waiter)) hanging.add(waiter)
      changes.emit('change')
      return outcome
    },
    release(waiter: Waiter): void {
      waiting.delete(waiter)
      hanging.delete(waiter)
      changes.emit('change')
    },
  }
}
