/** The protocol between the main thread and a worker: messages over a port of their own. */

import type { Place } from '../../config/file/diagnostic.ts'
import type { Thread } from '../../threads/thread.ts'
import type { TransformAnswer, TransformCall } from '../port.ts'
import type { OpenClawWord } from './openclaw.ts'

/** The thread of a worker. */
export type WorkerThread = Thread<ToWorker, FromWorker>

export type ToWorker = LoadOrder | CallOrder

export interface LoadOrder {
  readonly type: 'load'
  /** Absolute. */
  readonly file: string
  /** True if the thread is for dry runs: connections and other processes are refused from then on. */
  readonly isDry: boolean
}

export interface CallOrder {
  readonly type: 'call'
  readonly call: number
  readonly exportName: string
  readonly requestId: string | undefined
  /** {@link CallData} as JSON, which can always be posted, whatever an expression made of it. */
  readonly data: string
  readonly unwrapped: string | undefined
  readonly body: Uint8Array
  readonly maxAnswerBytes: number
  /** True if connections that the call opens are reported. */
  readonly watchesNetwork: boolean
}

export type CallData = { readonly with: unknown } & Omit<
  TransformCall,
  'requestId' | 'onCall' | 'onStop' | 'rawBody' | 'unwrapped' | 'maxAnswerBytes'
>

export type FromWorker =
  /** `memory`: the bytes that the thread holds. */
  | {
      readonly type: 'loaded'
      readonly exports: ModuleExports
      readonly loadMs: number
      readonly memory: number
    }
  | { readonly type: 'load-failed'; readonly error: ErrorReport }
  /** `memory`: the bytes that the worker holds now, garbage included. */
  | {
      readonly type: 'answered'
      readonly call: number
      readonly answer: TransformAnswer
      readonly memory: number
    }
  | { readonly type: 'failed'; readonly call: number; readonly error: ErrorReport; readonly memory: number }
  /**
   * An uncaught error, an exit and the like. `call`: the call that caused it, which may have ended; undefined where that is not known.
   */
  | {
      readonly type: 'escaped'
      readonly call: number | undefined
      readonly requestId: string | undefined
      readonly error: ErrorReport
    }
  /** A result uses a word of OpenClaw's. */
  | { readonly type: 'advice'; readonly word: OpenClawWord }
  /** The call opens a connection, or was kept from what a dry run does not reach. */
  | {
      readonly type: 'reached'
      readonly call: number
      readonly target: string
      readonly isStopped: boolean
      readonly place?: Place
    }
  | {
      readonly type: 'output'
      readonly level: OutputLevel
      readonly requestId: string | undefined
      readonly text: string
    }
  /** Lines that were printed beyond what is passed on. */
  | { readonly type: 'dropped'; readonly lines: number }

export type OutputLevel = 'debug' | 'info' | 'warn' | 'error'

/** The exports of a module: its functions, and everything else with its type. */
export interface ModuleExports {
  readonly functions: readonly FunctionExport[]
  readonly others: readonly { readonly name: string; readonly type: string }[]
}

/** The call that the running code belongs to, which may be a timer or a promise that outlived it. */
export interface CurrentCall {
  readonly call: number
  readonly requestId: string | undefined
}

export interface FunctionExport {
  readonly name: string
  /** Where the function begins in the bundle, from 0; absent where that is not known. */
  readonly position?: { readonly line: number; readonly column: number }
}

/** The parts of an error that can leave its thread. */
export interface ErrorReport {
  /** The name of the error, such as `TypeError`; absent where something else was thrown. */
  readonly name?: string
  /** One line that says what was thrown, or what follows the module's name in a sentence. */
  readonly text: string
  readonly isSentence?: boolean
  /** The target that a dry run refused, if the module failed because of it. */
  readonly stoppedAt?: string
  /** The status with which the transform refused the request; `text` is then for the sender. */
  readonly refused?: number
  /** The stack, mapped to the author's sources. */
  readonly stack?: string
  readonly place?: Place
}
