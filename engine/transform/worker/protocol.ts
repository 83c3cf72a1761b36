/** Owns what the main thread and a worker say to each other: over a port of their own, and in a few shared numbers. */

import type { MessagePort } from 'node:worker_threads'
import type { Place } from '../../config/diagnostic/diagnostic.ts'
import type { TransformCall } from '../port.ts'
import type { OpenClawWord } from './openclaw.ts'

/** What a worker is started with. It takes both out of the module's reach. */
export interface WorkerData {
  readonly port: MessagePort
  readonly shared: Int32Array
}

/** Positions in the shared numbers. */
export const slots = { phase: 0, droppedLines: 1 } as const

/**
 * Where the newest call stands, by atomic exchange: the worker makes `posted` to `begun`, or the main thread takes the
 * call back. Exactly one of them succeeds, so that a call which is given to another worker has never run.
 */
export const phases = { none: 0, posted: 1, begun: 2, takenBack: 3 } as const

export type ToWorker = LoadOrder | CallOrder

export interface LoadOrder {
  readonly type: 'load'
  /** Absolute. */
  readonly file: string
}

export interface CallOrder {
  readonly type: 'call'
  readonly call: number
  readonly exportName: string
  readonly requestId: string | undefined
  /** {@link CallData} as JSON: it cannot fail to cross, whatever an expression made of it. */
  readonly data: string
  readonly unwrapped: string | undefined
  readonly body: Uint8Array
  readonly maxAnswerBytes: number
  /** Whether connections that the call opens are told. */
  readonly watchesNetwork: boolean
}

export type CallData = { readonly with: unknown } & Pick<
  TransformCall,
  'form' | 'headers' | 'query' | 'path' | 'params' | 'vars' | 'item' | 'index' | 'now' | 'base'
>

export type FromWorker =
  | { readonly type: 'loaded'; readonly exports: ModuleExports; readonly loadMs: number }
  | { readonly type: 'load-failed'; readonly error: ToldError }
  /** `answer` as `writeAnswer` writes it. `memory`: bytes that the worker holds now, garbage included. */
  | { readonly type: 'answered'; readonly call: number; readonly answer: string; readonly memory: number }
  | { readonly type: 'failed'; readonly call: number; readonly error: ToldError; readonly memory: number }
  /** An error that nobody caught, and the like. `call`: the one that caused it, over or not; undefined where that is not known. */
  | {
      readonly type: 'escaped'
      readonly call: number | undefined
      readonly requestId: string | undefined
      readonly error: ToldError
    }
  /** A result says something in OpenClaw's words. */
  | { readonly type: 'advice'; readonly word: OpenClawWord }
  /** It opens a connection. */
  | { readonly type: 'calls'; readonly call: number; readonly target: string }
  /** The module ends the worker, for the named call as above. */
  | { readonly type: 'exiting'; readonly call: number | undefined; readonly error: ToldError }
  | {
      readonly type: 'output'
      readonly level: OutputLevel
      readonly requestId: string | undefined
      readonly text: string
    }

/** Of one worker, and of one module, in one window; what is more is counted. */
export const outputLimits = { mostLines: 200, mostCharacters: 65_536, windowMs: 1_000 } as const

export type OutputLevel = 'debug' | 'info' | 'warn' | 'error'

/** What a module exports: functions, and everything else with its type. */
export interface ModuleExports {
  readonly functions: readonly FunctionExport[]
  readonly others: readonly { readonly name: string; readonly type: string }[]
}

/** Which call the code that runs now belongs to, timers and promises that outlive it included. */
export interface CurrentCall {
  readonly call: number
  readonly requestId: string | undefined
}

export interface FunctionExport {
  readonly name: string
  /** Where it begins in the bundle, from 0; absent where that is not known. */
  readonly position?: { readonly line: number; readonly column: number }
}

/** An error as far as it can leave its thread. */
export interface ToldError {
  /** What kind of error it is: `TypeError`. Absent of what is none. */
  readonly name?: string
  /** One line: what was thrown, or what follows the module's name in a sentence. */
  readonly text: string
  readonly isSentence?: boolean
  /** The transform refused the request, with this status; `text` is for the sender. */
  readonly refused?: number
  /** Through the source map. */
  readonly stack?: string
  readonly place?: Place
}
