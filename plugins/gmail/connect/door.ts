/** Owns what setup asks of the room of Google, which is entered when there is somebody to ask for. */

import type { AuthorizationRequest, ExchangeRequest, Grant } from '../google/consent.ts'
import type { Google, GoogleOptions } from '../google/index.ts'

export interface Door {
  newVerifier(): Promise<{ readonly verifier: string; readonly challenge: string }>
  authorizationUrl(request: AuthorizationRequest): string
  exchange(request: ExchangeRequest): Promise<Grant>
  openGoogle(options: GoogleOptions): Promise<Google>
}

/** Loads Google's libraries. */
export async function openDoor(): Promise<Door> {
  const [{ newVerifier, authorizationUrl, exchange }, { openGoogle }] = await Promise.all([
    import('../google/consent.ts'),
    import('../google/index.ts'),
  ])
  return { newVerifier, authorizationUrl, exchange, openGoogle }
}
