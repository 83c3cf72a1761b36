/** Describes what every vendor's fake server offers, so that one conformance suite tests all channels. */

import type { FakeServer, FakeServerAnswer } from './server.ts'

/** One message that the vendor has stored, as a person would see it. */
export interface VendorMessage {
  /** The recipient, in the vendor's terms. */
  readonly to: string
  /** What a person reads once the markup has been applied. */
  readonly text: string
  readonly [fact: string]: unknown
}

export interface FakeVendor extends FakeServer {
  /** The messages in the order in which they were stored. */
  readonly messages: readonly VendorMessage[]
  /** Whom the messages mentioned (`@everyone`, a user's name), in the vendor's terms. Absent if the vendor has no mentions. */
  readonly pings?: readonly string[]
  /** A configuration with which the channel works against this fake server. */
  readonly config: Readonly<Record<string, unknown>>
  /** The credentials in that configuration. */
  readonly secrets: readonly string[]
  /** An address, as `to` names it, that takes messages. */
  readonly to: string
  /** A well-formed address that does not exist. */
  readonly unknownTo: string
  /** The address of a thread; absent if the vendor has no threads. */
  readonly threadTo?: string
  /** The vendor's own answers to what goes wrong. */
  readonly refusals: {
    readonly badCredential: FakeServerAnswer
    readonly forbidden: FakeServerAnswer
    /** Asks the caller to wait for so many seconds. */
    rateLimited(seconds: number): FakeServerAnswer
    readonly serverError: FakeServerAnswer
    /** Whether the vendor documents that nothing was done when it answers so. Default: false. */
    readonly serverErrorIsSafe?: boolean
    /** The HTML of something between the gateway and the vendor. */
    readonly badGateway: FakeServerAnswer
  }
}

/** The answer of a proxy before the vendor that does not reach it. */
export const badGateway: FakeServerAnswer = {
  status: 502,
  headers: { 'content-type': 'text/html' },
  body: '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>',
}

/** The same answer with a `Retry-After` header of so many seconds. */
export function withRetryAfter(answer: FakeServerAnswer, seconds: number): FakeServerAnswer {
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(seconds) } }
}
