/** Defines the messages between the main thread and an evaluator thread. */

import type { Catalog } from '../compile/snapshot.ts'
import type { Configuration, MappingEntry } from '../config/configuration.ts'
import type { Decision, HookRequest } from '../resolve/decision.ts'
import type { Decided } from '../resolve/explain/explain.ts'
import type { Explanation } from '../resolve/explain/trace.ts'
import type { TransformAnswer, TransformCall, TransformError } from '../transform/port.ts'

/** The places in the memory that both sides see. */
export const slots = {
  /** The number of the unbounded piece of work that the current request began last, from 1; 0 before the first. */
  work: 0,
  /** One of `phases`. */
  phase: 1,
} as const

export const phases = {
  /** The thread is starting, or compiling mappings. */
  loading: 0,
  /** The thread has nothing to do, or awaits a transform, so no deadline runs. */
  waiting: 1,
  resolving: 2,
} as const

/** The part of a configuration that concerns one endpoint, as plain data. */
export interface SliceContent {
  readonly settings: Configuration['settings']
  readonly endpoints: Configuration['endpoints']
  readonly mappings: readonly SliceEntry[]
  readonly disabled: readonly SliceEntry[]
  readonly catalog: Catalog
}

export type SliceEntry = Pick<MappingEntry, 'id' | 'order' | 'label' | 'origin' | 'value'>

/** Lacks the payload, which the thread reads from the body again. */
export type SentRequest = Omit<HookRequest, 'payload' | 'unwrapped' | 'isForm' | 'onCall' | 'onStop'>

/** Lacks the parts of a transform's call that the main thread has anyway. */
export type SentCall = Omit<TransformCall, 'rawBody' | 'onCall' | 'onStop'>

export interface RunOrder {
  readonly type: 'resolve' | 'explain'
  readonly job: number
  readonly slice: number
  readonly request: SentRequest
  /** Of an explanation. Absent: the request is resolved. */
  readonly decided?: Decided
  /** The pieces of work during which a thread was ended. Each of them fails at once. */
  readonly failed: readonly number[]
  /** The seed of the random numbers of expressions, so that a second attempt gets the same ones. */
  readonly seed: number
}

export type ToThread =
  | { readonly type: 'load'; readonly slice: number; readonly content: SliceContent }
  | { readonly type: 'forget'; readonly slice: number }
  | RunOrder
  | { readonly type: 'transformed'; readonly call: number; readonly answer: TransformAnswer }
  | { readonly type: 'transform-failed'; readonly call: number; readonly error: SentTransformError }

/** An error of our own class loses its class when it is posted. */
export type SentTransformError = Pick<TransformError, 'code' | 'message' | 'place' | 'refusal' | 'cause'>

export type FromThread =
  | { readonly type: 'done'; readonly job: number; readonly result: Decision | Explanation }
  | {
      readonly type: 'transform'
      readonly job: number
      /** The number of the call, from 0, in the order of the request. */
      readonly call: number
      readonly mapping: string
      readonly given: SentCall
    }
