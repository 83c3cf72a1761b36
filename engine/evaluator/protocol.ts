/** What the main thread and an evaluator thread say to each other. */

import type { MessagePort } from 'node:worker_threads'
import type { Catalog } from '../compile/snapshot.ts'
import type { Configuration, MappingEntry } from '../config/configuration.ts'
import type { Decision, HookRequest } from '../resolve/decision.ts'
import type { Explanation } from '../resolve/explain/trace.ts'
import type { TransformAnswer, TransformCall, TransformError } from '../transform/port.ts'

export interface ThreadData {
  readonly port: MessagePort
  /** By `slots`. */
  readonly shared: Int32Array
}

/** Places in the memory that both sides see. */
export const slots = {
  /** Which piece of unbounded work was begun last for the request under way, from 1; 0 before the first. */
  work: 0,
  /** One of `phases`. */
  phase: 1,
} as const

export const phases = {
  /** Nothing is to be done, or a transform is awaited: no deadline runs. */
  waiting: 0,
  /** The thread starts, or compiles mappings. */
  loading: 1,
  resolving: 2,
} as const

/** The part of a configuration that has a say about one endpoint, as plain data. */
export interface SliceContent {
  readonly settings: Configuration['settings']
  readonly endpoints: Configuration['endpoints']
  readonly mappings: readonly SliceEntry[]
  readonly disabled: readonly SliceEntry[]
  readonly catalog: Catalog
}

export type SliceEntry = Pick<MappingEntry, 'id' | 'label' | 'origin' | 'value'>

/** The payload is read again by the thread, from the body. */
export type SentRequest = Omit<HookRequest, 'payload' | 'unwrapped' | 'isForm' | 'onCall'>

/** A call of a transform, without what the main thread has of the request anyway. */
export type SentCall = Omit<TransformCall, 'rawBody' | 'onCall'>

export interface RunOrder {
  readonly type: 'resolve' | 'explain'
  readonly job: number
  readonly slice: number
  readonly request: SentRequest
  /** Pieces of work that a thread was ended in: each fails at once instead. */
  readonly failed: readonly number[]
  /** Of the random numbers that expressions ask for, so that a second attempt gets the same. */
  readonly seed: number
}

export type ToThread =
  | { readonly type: 'load'; readonly slice: number; readonly content: SliceContent }
  | { readonly type: 'forget'; readonly slice: number }
  | RunOrder
  | { readonly type: 'transformed'; readonly call: number; readonly answer: TransformAnswer }
  | { readonly type: 'transform-failed'; readonly call: number; readonly error: SentTransformError }

/** Errors of a class of ours lose it on the way. */
export type SentTransformError = Pick<TransformError, 'code' | 'message' | 'place' | 'refusal' | 'cause'>

export type FromThread =
  | { readonly type: 'done'; readonly job: number; readonly result: Decision | Explanation }
  | {
      readonly type: 'transform'
      readonly job: number
      /** From 0, in the order in which the request makes them. */
      readonly call: number
      readonly mapping: string
      readonly given: SentCall
    }
