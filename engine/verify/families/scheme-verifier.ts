/** Owns what the verifier of one scheme is asked. A family has a file that makes one, and a provider joins its schemes. */

import type { Headers, SignedRequest, Verdict, VerifyMeans } from '../signed-request.ts'

/**
 * A family's file exports `createHmacVerifier(scheme, policy)` and the like: a verifier with its keys read once, or
 * undefined where the policy has no secret or key for this scheme. It does not throw for a key that cannot be read, which
 * is a finding when the configuration is loaded; such a key fits nothing.
 */
export interface SchemeVerifier {
  /** Whether the request carries what this scheme's signature stands in, as far as its headers tell; weaker ones aside. */
  isPresent(headers: Headers): boolean
  /**
   * Asked only where it is present. Never throws for what a request holds. A right signature at the wrong time is
   * `TIMESTAMP_OUTSIDE` and nothing else is, so that whoever does not mind the time can tell the two apart.
   * @throws UnavailableError, or rejects with it
   */
  verify(request: SignedRequest, means: VerifyMeans): Verdict | Promise<Verdict>
}
