/** Defines the messages between the main thread and an evaluator thread. */

import type { Found } from '../compile/match/decision-index.ts'
import type { Catalog } from '../compile/snapshot.ts'
import type { Configuration, MappingEntry } from '../config/configuration.ts'
import type { Covering, ExplainOptions } from '../resolve/explain.ts'
import type { Decision, HookRequest } from '../resolve/model/decision.ts'
import type { Explanation } from '../resolve/model/trace.ts'
import type { TransformAnswer, TransformCall, TransformError } from '../transform/port.ts'

/** The positions of the integers that both sides see. */
export const slots = {
  /** Counts the unbounded pieces of work that requests have begun. */
  work: 0,
  /** One of `phases`. */
  phase: 1,
  /** The number of the mapping that the current request tries; 0 before the first. */
  mapping: 2,
} as const

export const phases = {
  /** The thread is starting, compiling mappings, or about to go on with a request. */
  loading: 0,
  /** The thread has nothing to do, or awaits a transform, so no deadline runs. */
  waiting: 1,
  resolving: 2,
} as const

/** The part of a configuration that concerns every request, as plain data. */
export interface SettingsContent extends Pick<Configuration, 'settings' | 'endpoints'> {
  readonly catalog: Catalog
  /** The numbers of the generation's mappings, in matching order. */
  readonly numbers: Int32Array
}

/** A mapping as it is written. */
export interface SentMapping extends Pick<MappingEntry, 'id' | 'label' | 'value'> {
  /** Number of its program on the main thread. */
  readonly number: number
}

/** Lacks the payload, which the thread reads from the body again. */
export type SentRequest = Omit<HookRequest, 'payload' | 'unwrapped' | 'isForm' | 'onCall' | 'onStop'>

/** Lacks the parts of a transform's call that the main thread has anyway. */
export type SentCall = Omit<TransformCall, 'rawBody' | 'onCall' | 'onStop'>

export interface ExplainOrder extends Pick<ExplainOptions, 'decided' | 'maxCandidates'> {
  /** The disabled mappings that cover the endpoint, each with its position among all that do. */
  readonly disabled: readonly (readonly [position: number, mapping: Covering])[]
}

export interface RunOrder {
  readonly type: 'run'
  readonly job: number
  /** The generation whose settings apply. */
  readonly generation: number
  /** True if content sent before is no longer used. */
  readonly forgets: boolean
  /** Absent: they were sent before. */
  readonly settings?: SettingsContent
  /** Those that were not sent before. */
  readonly mappings: readonly SentMapping[]
  readonly found: readonly Found[]
  /** Number of mappings that cover the endpoint. */
  readonly covering: number
  readonly request: SentRequest
  /** Absent: the request is resolved. */
  readonly explain?: ExplainOrder
}

export type ToThread =
  | RunOrder
  | TransformReply<'transformed', { readonly answer: TransformAnswer }>
  | TransformReply<'transform-failed', { readonly error: SentTransformError }>

/** Posted when the thread runs no other request. */
type TransformReply<Type extends string, Content> = Content & {
  readonly type: Type
  readonly job: number
}

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
