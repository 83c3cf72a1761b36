/** Owns what every vendor's fake server can be asked, so that one suite tries all channels. */

import type { FakeServerAnswer } from './faults.ts'
import type { FakeServer } from './server.ts'

/** One message that the vendor has stored: what a person would have in front of them. */
export interface VendorMessage {
  /** The recipient, in the vendor's terms. */
  readonly to: string
  /** What a person reads: markup taken as markup. */
  readonly text: string
  readonly [fact: string]: unknown
}

export interface FakeVendor extends FakeServer {
  /** In the order in which they were stored. */
  readonly messages: readonly VendorMessage[]
  /** Whom the messages called (`@everyone`, a person's name), in the vendor's terms. Absent: nobody can be called there. */
  readonly pings?: readonly string[]
  /** A configuration with which the channel works against this fake server. */
  readonly config: Readonly<Record<string, unknown>>
  /** The credentials in it. */
  readonly secrets: readonly string[]
  /** An address, as in `to`, that takes messages. */
  readonly to: string
  /** An address that is well formed and that nobody has. */
  readonly unknownTo: string
  /** An address where the vendor has threads; absent where it has none. */
  readonly threadTo?: string
  /** The vendor's own words for what goes wrong. */
  readonly refusals: {
    readonly badCredential: FakeServerAnswer
    readonly forbidden: FakeServerAnswer
    /** `seconds`: how long to wait. */
    rateLimited(seconds: number): FakeServerAnswer
    readonly serverError: FakeServerAnswer
    /** Whether the vendor says of that answer that nothing was done. Default: false, it may have been. */
    readonly serverErrorIsSafe?: boolean
    /** Of something between us and the vendor: HTML. */
    readonly badGateway: FakeServerAnswer
  }
}
