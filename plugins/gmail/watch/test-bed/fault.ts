/** Injects faults into the calls of a source, from its start to its end or its sudden death. */

import { PluginError, type SourceClock } from '@reveille/kit'

/** The fault of one call, before or after its effect. */
export interface Fault {
  readonly before?: Error | (() => void)
  readonly after?: Error | (() => void)
  /** Milliseconds that the call takes. */
  readonly ms?: number
}

export interface Lifetime {
  readonly controller: AbortController
  /** True once the process is dead, as after SIGKILL: nothing is answered or takes effect any more. */
  isDead: boolean
}

export interface FaultSource {
  /** Undefined if the call succeeds at once. */
  next(operation: string): Fault | undefined
}

/** Performs a call with its fault. Effects happen in an order that depends on how long each call takes. */
export async function withFault<Result>(
  { next }: FaultSource,
  life: Lifetime,
  clock: SourceClock,
  operation: string,
  signal: AbortSignal,
  effect: () => Result | Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted()
  await orDeath(life)
  const fault = next(operation)
  await meet(fault?.before)
  await orDeath(life)
  if (fault?.ms) await clock.sleep(fault.ms, signal)
  await orDeath(life)
  const result = await effect()
  await meet(fault?.after)
  await orDeath(life)
  signal.throwIfAborted()
  return result
}

async function meet(what: Fault['before']): Promise<void> {
  if (typeof what === 'function') what()
  else if (what) throw what
}

async function orDeath({ isDead }: Lifetime): Promise<void> {
  if (isDead) await new Promise<never>(() => {})
}

export interface FailureFacts {
  /** Default: true. */
  readonly retryable?: boolean
  readonly retryAfter?: number
}

/** Makes an error as the port of Google throws it. */
export function failure(code: string, facts: FailureFacts = {}): PluginError {
  const { retryable = true, retryAfter } = facts
  return new PluginError(`It failed with ${code}.`, { code, retryable, retryAfter })
}
