/** Owns what setup asks of the room of Google, which is entered when there is somebody to ask for. */

import type { SourceClock } from '@reveille/kit'
import type { BaseUrls } from '../configuration.ts'
import type { Google, GoogleOptions } from '../google/index.ts'

export interface Door {
  newVerifier(): Promise<{ readonly verifier: string; readonly challenge: string }>
  authorizationUrl(request: AuthorizationRequest): string | Promise<string>
  /** @throws PluginError `bad-code`, `bad-client` or what may pass by itself */
  exchange(request: ExchangeRequest): Promise<Grant>
  openGoogle(options: GoogleOptions): Promise<Google>
}

export interface AuthorizationRequest {
  readonly clientId: string
  readonly baseUrls: BaseUrls
  readonly redirectUri: string
  readonly state: string
  /** S256 of the verifier. https://www.rfc-editor.org/rfc/rfc7636 */
  readonly challenge: string
  /** The account that Google is to propose. */
  readonly loginHint?: string
}

export interface ExchangeRequest {
  readonly client: { readonly id: string; readonly secret?: string }
  readonly code: string
  readonly verifier: string
  readonly redirectUri: string
  readonly baseUrls: BaseUrls
  readonly fetch: typeof fetch
  readonly clock: SourceClock
  readonly signal: AbortSignal
}

export interface Grant {
  readonly refreshToken: string
  readonly accessToken: string
  /** Milliseconds since the Unix epoch. */
  readonly accessTokenEnds: number
  readonly scopes: readonly string[]
}

/** Loads Google's libraries. */
export async function openDoor(): Promise<Door> {
  throw new Error('not there yet')
}
