/** Carries a request as far as the gateway would before it stores anything, for tests and for `reveille try`. */

import type { Snapshot } from '../compile/snapshot.ts'
import type { Decision, HookRequest, Refusal } from '../resolve/decision.ts'

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

/** What a host provides for a request that is only tried: how it receives one, and how it answers. */
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
}

/** `onCall` is that of a {@link HookRequest}. */
export async function tryRequest(
  received: ReceivedRequest,
  snapshot: Snapshot,
  surface: TrySurface,
  onCall?: HookRequest['onCall'],
): Promise<TryResult> {
  const admitted = await surface.receive(received, snapshot)
  if ('code' in admitted) return { decision: admitted, status: surface.statusOf(admitted) }
  const request = onCall === undefined ? admitted : { ...admitted, onCall }
  const decision = await snapshot.resolve(request)
  return { decision, status: surface.statusOf(decision), request }
}
