/** Carries a request as far as the gateway would before it stores anything, for tests and for `reveille try`. */

import type { Snapshot } from '../compile/snapshot.ts'
import type { Decision, HookRequest, Refusal } from '../resolve/model/decision.ts'
import type { Explanation } from '../resolve/model/trace.ts'
import type { Stop } from '../transform/port.ts'

/** A POST as it comes in, without its token and signature. */
export interface ReceivedRequest {
  readonly endpoint: string
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Uint8Array
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

/** The host's functions for a request that is only tried: to receive one, and to answer. */
export interface TrySurface {
  /** Returns what the gateway would pass to `resolve`, or why it would refuse the request. Never rejects. */
  receive(received: ReceivedRequest, snapshot: Snapshot): Promise<HookRequest | Refusal>
  /** Returns the HTTP status that the gateway would answer. */
  statusOf(decision: Decision): number
}

export interface TryResult {
  readonly decision: Decision
  readonly status: number
  /** Absent where the request was refused before it was resolved. */
  readonly request?: HookRequest
  /** The calls that its transforms were stopped from making, in order. */
  readonly stops: readonly Stop[]
}

/** As in a {@link HookRequest}. */
export type TryOptions = Required<Pick<HookRequest, 'dryRun'>> & Pick<HookRequest, 'onCall' | 'sender'>

export async function tryRequest(
  received: ReceivedRequest,
  snapshot: Snapshot,
  surface: TrySurface,
  options: TryOptions,
): Promise<TryResult> {
  const { admitted, stops } = await receiveDry(received, snapshot, surface, options)
  if ('code' in admitted) return { decision: admitted, status: surface.statusOf(admitted), stops }
  const decision = await snapshot.resolve(admitted)
  return { decision, status: surface.statusOf(decision), request: admitted, stops }
}

/** Does the same with the reasons of the decision. The request is resolved once. */
export async function explainRequest(
  received: ReceivedRequest,
  snapshot: Snapshot,
  surface: TrySurface,
  options: TryOptions,
): Promise<TryResult & { readonly explanation: Explanation }> {
  const { admitted, stops } = await receiveDry(received, snapshot, surface, options)
  if ('code' in admitted) {
    const { endpoint } = received
    const explanation = { endpoint, decision: admitted, candidates: [], actions: [] }
    return { decision: admitted, status: surface.statusOf(admitted), stops, explanation }
  }
  const explanation = await snapshot.explain(admitted)
  const { decision } = explanation
  return { decision, status: surface.statusOf(decision), request: admitted, stops, explanation }
}

/** `stops` grows while the request is resolved. */
async function receiveDry(
  received: ReceivedRequest,
  snapshot: Snapshot,
  surface: TrySurface,
  { dryRun, onCall, sender }: TryOptions,
) {
  const admitted = await surface.receive(received, snapshot)
  const stops: Stop[] = []
  const onStop = (stop: Stop) => void stops.push(stop)
  if ('code' in admitted) return { admitted, stops }
  const optional = { ...(onCall && { onCall }), ...(sender !== undefined && { sender }) }
  return { admitted: { ...admitted, dryRun, onStop, ...optional }, stops }
}
