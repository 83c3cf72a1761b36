/** Owns how the schemes of one provider stand beside each other: which of them decides, and that none stands in for another. */

import type { VerifyPolicy } from '../../config/configuration.ts'
import { firstHeaderOf } from '../header.ts'
import type { Verifier } from '../provider.ts'
import type { Scheme } from '../scheme.ts'
import { type Unverified, unverified, type Verdict } from '../signed-request.ts'
import { createSchemeVerifier } from './index.ts'
import type { SchemeVerifier } from './scheme-verifier.ts'

/**
 * The first scheme whose signature is there decides: where it is wrong, no later one is asked. Undefined where the policy
 * has a secret or key for none of them.
 */
export function createVerifier(schemes: readonly Scheme[], policy: VerifyPolicy): Verifier | undefined {
  const active = schemes.flatMap((scheme) => {
    const verifier = createSchemeVerifier(scheme, policy)
    return verifier === undefined ? [] : [{ scheme, verifier }]
  })
  if (active.length === 0) return undefined
  const places = Map.groupBy(active, ({ scheme }) => placeOf(scheme) ?? scheme)
  const verifiers = [...places.values()].map((sharing) =>
    joinSharing(sharing.map(({ verifier }) => verifier)),
  )
  const weaker = active.flatMap(({ scheme }) => (scheme.family === 'hmac' ? (scheme.weaker ?? []) : []))

  return {
    isPresent(headers) {
      return verifiers.some((each) => each.isPresent(headers)) || firstHeaderOf(headers, weaker) !== undefined
    },
    verify(request, means) {
      const first = verifiers.find((each) => each.isPresent(request.headers))
      if (first !== undefined) return first.verify(request, means)
      const isWeaker = firstHeaderOf(request.headers, weaker) !== undefined
      return unverified(isWeaker ? 'SIGNATURE_WEAKER' : 'SIGNATURE_MISSING')
    },
  }
}

/** Schemes with the same place differ in the version that stands before each signature. */
function placeOf(scheme: Scheme): string | undefined {
  return 'signature' in scheme && 'headers' in scheme.signature ? scheme.signature.headers.join() : undefined
}

/** In one place there may be signatures of several versions: as with several of one version, one that fits is enough. */
function joinSharing(sharing: readonly SchemeVerifier[]): SchemeVerifier {
  const [first] = sharing
  if (first !== undefined && sharing.length === 1) return first
  return {
    isPresent: (headers) => sharing.some((each) => each.isPresent(headers)),
    async verify(request, means) {
      let failure: Unverified | undefined
      for (const each of sharing) {
        const verdict: Verdict = await each.verify(request, means)
        if (verdict.ok) return verdict
        if (failure === undefined || failure.code === 'SIGNATURE_MALFORMED') failure = verdict
      }
      return failure ?? unverified('SIGNATURE_MISSING')
    },
  }
}
