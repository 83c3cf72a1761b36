/** Owns one agent turn: a runner asked once, under the run's deadline, and its answer taken with care. */

import type { Runner, Turn, TurnResult, Usage } from '@reveille/kit'
import { boundedCall, type CallBounds } from './bounded-call.ts'
import { type Failure, failureOf } from './failure.ts'

export type TurnOutcome =
  | { readonly kind: 'answered'; readonly reply: string; readonly usage?: Usage; readonly model?: string }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'interrupted' }

/** Never rejects. */
export async function performTurn(
  find: (name: string) => Runner | undefined,
  name: string,
  turn: Turn,
  bounds: CallBounds,
): Promise<TurnOutcome> {
  const runner = find(name)
  if (!runner) return { kind: 'failed', failure: unknownRunner(name) }
  const outcome = await boundedCall((signal) => runner.run(Object.freeze(turn), { signal }), bounds)
  if (outcome.kind === 'answered') return readResult(outcome.answer)
  if (outcome.kind === 'threw') return { kind: 'failed', failure: failureOf(outcome.error, 'RUNNER_FAILED') }
  return { kind: outcome.kind }
}

function readResult(result: TurnResult | undefined): TurnOutcome {
  if (typeof result?.reply !== 'string') {
    return { kind: 'failed', failure: failureOf('the runner answered without a reply', 'RUNNER_FAILED') }
  }
  const { reply, model } = result
  const usage = readUsage(result.usage)
  return {
    kind: 'answered',
    reply,
    ...(usage ? { usage } : {}),
    ...(typeof model === 'string' && model !== '' ? { model } : {}),
  }
}

/** A plugin's types are a promise; what the store could not keep would cost the whole answer. */
function readUsage(usage: Usage | undefined): Usage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined
  const { inputTokens, outputTokens } = usage
  return {
    ...(Number.isFinite(inputTokens) ? { inputTokens } : {}),
    ...(Number.isFinite(outputTokens) ? { outputTokens } : {}),
  }
}

function unknownRunner(name: string): Failure {
  const message = `no runner named ${name} is configured`
  return { code: 'UNKNOWN_RUNNER', message, reason: message, retryable: false, maybeDelivered: false }
}
