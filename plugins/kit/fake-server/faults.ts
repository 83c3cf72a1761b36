/** Owns what befalls requests: the script, and what each request comes to, whatever carries it. */

import { EventEmitter, once } from 'node:events'

export interface FakeServerRequest {
  readonly method: string
  /** Decoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  /** The body as JSON; undefined where it is none. */
  readonly json: unknown
}

export interface FakeServerAnswer {
  /** Default: 200. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** An object goes as JSON, a text as it is. */
  readonly body?: object | string
}

/**
 * What befalls one request instead of its answer. "Before" and "after" say whether the vendor has acted on it (stored
 * the message) when it happens.
 */
export type Fault =
  /** This is answered, and the request is not acted on. */
  | { readonly kind: 'answer'; readonly answer: FakeServerAnswer }
  /** The request is acted on, and this is answered all the same. */
  | { readonly kind: 'answer-after'; readonly answer: FakeServerAnswer }
  | { readonly kind: 'cut-before' }
  | { readonly kind: 'cut-after' }
  | { readonly kind: 'hang-before' }
  | { readonly kind: 'hang-after' }
  /** Half of the answer, and then the connection is cut. */
  | { readonly kind: 'cut-answer' }

export interface FaultyVendor {
  /** The vendor: its rules, and its memory of messages. */
  answer(request: FakeServerRequest): FakeServerAnswer | Promise<FakeServerAnswer>
  /** Which requests faults befall: those that would store a message. Default: all. */
  isSend?(request: FakeServerRequest): boolean
}

/** What a request comes to. */
export type Outcome =
  | { readonly end: 'answer' | 'cut-answer'; readonly answer: FakeServerAnswer }
  | { readonly end: 'cut' | 'hang' }

export interface Faults {
  /** Everything that came, in order, faults included. */
  readonly requests: readonly FakeServerRequest[]
  /** Each fault befalls one of the next requests that `isSend`. */
  script(...faults: readonly Fault[]): void
  /** From now on the fault befalls every such request; undefined ends that. */
  always(fault: Fault | undefined): void
  /** Settles when a request hangs, as a fault has it. */
  untilHanging(): Promise<void>
  /** Settles when no request waits for an answer any more: each has one, or its caller has let go of the connection. */
  untilIdle(): Promise<void>
}

/** `meet` takes a request, once; `release` says that nobody waits for its answer any more. */
export function createFaults<Waiter>({ answer, isSend = () => true }: FaultyVendor) {
  const requests: FakeServerRequest[] = []
  const scripted: Fault[] = []
  const waiting = new Set<Waiter>()
  const hanging = new Set<Waiter>()
  const changes = new EventEmitter()
  let standing: Fault | undefined

  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await once(changes, 'change')
  }

  async function outcomeOf(request: FakeServerRequest): Promise<Outcome> {
    const fault = isSend(request) ? (scripted.shift() ?? standing) : undefined
    switch (fault?.kind) {
      case 'answer':
        return { end: 'answer', answer: fault.answer }
      case 'cut-before':
        return { end: 'cut' }
      case 'hang-before':
        return { end: 'hang' }
    }
    const given = await answer(request)
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
      standing = fault
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

/** As the fake server of a vendor reads a body; undefined where it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
