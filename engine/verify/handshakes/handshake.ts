/** Owns handshakes: requests by which a provider asks whether somebody is there, each with the answer that it wants. */

import type { Headers } from '../signed-request.ts'

export interface HandshakeRequest {
  readonly method: string
  /** Names in lower case. */
  readonly headers: Headers
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The parsed body; undefined where there is none, or it is no JSON. */
  readonly payload: unknown
  /** Whether a signature or a token was found good. */
  readonly isTrusted: boolean
}

export interface Handshake {
  readonly status: number
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
  /** For the log and the record: one sentence that quotes nothing. */
  readonly reason: string
  /** An address that has to be fetched once, after the answer. */
  readonly confirm?: string
  /** What only the operator may see, and where it belongs. */
  readonly entrusted?: { readonly name: string; readonly value: string }
}
