/** Owns what a host lends for a request that is only tried: how it receives one, and how it answers. */

import type { Snapshot } from '../compile/snapshot.ts'
import type { Decision, HookRequest, Refusal } from '../resolve/decision.ts'

/** A POST as it comes in, its token and signature aside. */
export interface ReceivedRequest {
  readonly endpoint: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Uint8Array
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

export interface TrialSurface {
  /** What the gateway would hand to `resolve`, or why it would refuse before. Never rejects. */
  receive(received: ReceivedRequest, snapshot: Snapshot): Promise<HookRequest | Refusal>
  /** The HTTP status that the gateway would answer. */
  statusOf(decision: Decision): number
}

export interface Trial {
  readonly decision: Decision
  readonly status: number
  /** Absent where the request was refused before it was resolved. */
  readonly request?: HookRequest
}

/** Carries a request as far as the gateway would before it stores anything. `onCall` as of a {@link HookRequest}. */
export async function tryRequest(
  received: ReceivedRequest,
  snapshot: Snapshot,
  surface: TrialSurface,
  onCall?: HookRequest['onCall'],
): Promise<Trial> {
  const admitted = await surface.receive(received, snapshot)
  if ('code' in admitted) return { decision: admitted, status: surface.statusOf(admitted) }
  const request = onCall === undefined ? admitted : { ...admitted, onCall }
  const decision = await snapshot.resolve(request)
  return { decision, status: surface.statusOf(decision), request }
}
