/** Performs one agent turn: asks a runner once, under the run's deadline, and validates its answer. */

import {
  type Progress,
  permanentError,
  type Runner,
  type Turn,
  type TurnResult,
  type Usage,
} from '@reveille/kit'
import { cut } from '../cut.ts'
import type { RunUsage } from '../store/port.ts'
import { boundedCall, type CallBounds } from './bounded-call.ts'
import { type Failure, failureOf } from './failure.ts'
import { readUsage } from './usage.ts'

/** Maximum length of a state that a runner may store, in characters. A longer one is not stored, because a part of an id is useless. */
export const maxStateLength = 4096
/** Maximum length of a reply in characters. It goes into records, histories and messages, each of which is read whole. */
export const maxReplyLength = 1_048_576
/** Maximum length of a model name in characters. */
const maxModelLength = 200
const maxWarnings = 20
/** Maximum length of a warning in characters. */
const maxWarningLength = 500
/** Maximum length of `handedOver`, in characters. */
const maxHandedOverLength = 1000

export type TurnOutcome = {
  /** True if the runner was called. Only then did the turn cost something. */
  readonly asked: boolean
  /** The cost as far as it is known, including that of an answer that came too late. */
  readonly usage?: RunUsage
} & (
  | ({ readonly kind: 'answered' } & Answer)
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'interrupted' }
)

export interface Answer {
  readonly reply: string
  readonly model?: string
  /** The state that the runner stores with the session. */
  readonly runnerState?: string
  readonly warnings?: readonly string[]
  readonly handedOver?: string
}

/** Asks the runner. Never rejects. `onProgress` is called until the turn is over, and what it throws is ignored. */
export async function performTurn(
  find: (name: string) => Runner | undefined,
  name: string,
  turn: Turn,
  bounds: CallBounds,
  onProgress?: (progress: Progress) => void,
): Promise<TurnOutcome> {
  const runner = find(name)
  if (!runner) return { kind: 'failed', asked: false, failure: unknownRunner(name) }
  let wasCalled = false
  let isOver = false
  const report = (progress: Progress) => {
    if (isOver) return
    try {
      onProgress?.(progress)
    } catch {
      // Progress is only shown to users, so a failure to show it must not fail the turn.
    }
  }
  const call = (signal: AbortSignal) => {
    wasCalled = true
    return runner.run(Object.freeze(turn), { signal, onProgress: report })
  }
  const outcome = await boundedCall(call, bounds)
  isOver = true
  if (outcome.kind === 'answered') return { asked: wasCalled, ...readAnswer(outcome.answer) }
  if (outcome.kind === 'threw') {
    return { kind: 'failed', asked: wasCalled, failure: failureOf(outcome.error, 'RUNNER_FAILED') }
  }
  return { kind: outcome.kind, asked: wasCalled, ...usageOf(outcome.late) }
}

/** A runner's answer may be anything, including a value that throws when it is read. */
function readAnswer(result: TurnResult | undefined) {
  try {
    return readResult(result)
  } catch (error) {
    return { kind: 'failed', failure: failureOf(error, 'RUNNER_FAILED') } as const
  }
}

function readResult(result: TurnResult | undefined) {
  const usage = usageOf(result)
  if (typeof result?.reply !== 'string') {
    const failure = failureOf('the runner answered without a reply', 'RUNNER_FAILED')
    return { kind: 'failed', failure, ...usage } as const
  }
  const { reply, model, state, handedOver } = result
  const isKept = typeof state === 'string' && state.length <= maxStateLength
  const ours = [
    ...(typeof state === 'string' && !isKept ? [stateTooLong] : []),
    ...(reply.length > maxReplyLength ? [replyTooLong] : []),
  ]
  const warnings = [...ours, ...readWarnings(result.warnings)].slice(0, maxWarnings)
  return {
    kind: 'answered',
    reply: cut(reply, maxReplyLength),
    ...usage,
    ...(isText(model) ? { model: cut(model, maxModelLength) } : {}),
    ...(isKept ? { runnerState: state } : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
    ...(typeof handedOver === 'string' ? { handedOver: readHandedOver(handedOver) } : {}),
  } as const
}

/** Reads the usage, also of an answer that came too late and may be anything. */
function usageOf(result: TurnResult | undefined): { usage?: Usage } {
  try {
    const usage = readUsage(result?.usage)
    return usage ? { usage } : {}
  } catch {
    return {}
  }
}

const stateTooLong = `what the runner wanted to keep with the session was longer than ${maxStateLength} characters and was not kept`

const replyTooLong = `the reply was longer than ${maxReplyLength} characters and was cut`

function readWarnings(warnings: unknown): string[] {
  if (!Array.isArray(warnings)) return []
  return warnings
    .slice(0, maxWarnings)
    .filter(isText)
    .map((warning) => cut(warning, maxWarningLength))
}

/** A turn that was handed over has a text, even if its runner names no place. */
function readHandedOver(text: string): string {
  return cut(text.trim(), maxHandedOverLength) || 'another system'
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

function unknownRunner(name: string): Failure {
  const code = 'UNKNOWN_RUNNER'
  return failureOf(permanentError(code, `no runner named ${name} is configured`), code)
}
