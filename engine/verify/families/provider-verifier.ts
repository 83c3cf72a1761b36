/** Joins the schemes of one provider into one verifier, which decides which scheme applies. No scheme replaces another. */

import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import type { Scheme } from '../../providers/scheme.ts'
import { firstHeaderOf } from '../header.ts'
import { type Unverified, unverified, type Verifier, type VerifyResult } from '../verifier.ts'
import { createOidcVerifier } from './oidc.ts'
import { createSignatureVerifier } from './signature.ts'
import { createSnsVerifier } from './sns.ts'
import { createTokenVerifier } from './token.ts'

/**
 * The first scheme whose signature is present decides: if it is wrong, no later one is tried. Returns undefined if the
 * policy has a secret or key for none of them.
 */
export function createVerifier(schemes: readonly Scheme[], policy: VerifyPolicy): Verifier | undefined {
  const active = schemes.flatMap((scheme) => {
    const verifier = createSchemeVerifier(scheme, policy)
    return verifier === undefined ? [] : [{ scheme, verifier }]
  })
  if (active.length === 0) return undefined
  const places = Map.groupBy(active, ({ scheme }) => placeOf(scheme) ?? scheme)
  const verifiers = [...places.values()].map((sharing) =>
    joinVersions(sharing.map(({ verifier }) => verifier)),
  )
  const weaker = active.flatMap(({ scheme }) => (scheme.family === 'hmac' ? (scheme.weaker ?? []) : []))

  return {
    isPresent(headers) {
      return verifiers.some((each) => each.isPresent(headers)) || firstHeaderOf(headers, weaker) !== undefined
    },
    verify(request, dependencies) {
      const first = verifiers.find((each) => each.isPresent(request.headers))
      if (first !== undefined) return first.verify(request, dependencies)
      const isWeaker = firstHeaderOf(request.headers, weaker) !== undefined
      return unverified(isWeaker ? 'SIGNATURE_WEAKER' : 'SIGNATURE_MISSING')
    },
  }
}

/** Returns undefined where the policy has no secret or key for the scheme. */
function createSchemeVerifier(scheme: Scheme, policy: VerifyPolicy): Verifier | undefined {
  switch (scheme.family) {
    case 'token':
      return createTokenVerifier(scheme, policy)
    case 'oidc':
      return createOidcVerifier(scheme, policy)
    case 'sns':
      return createSnsVerifier(scheme, policy)
    default:
      return createSignatureVerifier(scheme, policy)
  }
}

/** Schemes in the same headers differ in the version that precedes each signature. */
function placeOf(scheme: Scheme): string | undefined {
  return 'signature' in scheme && 'headers' in scheme.signature ? scheme.signature.headers.join() : undefined
}

/** One header may hold signatures of several versions; as with several of one version, one that matches is enough. */
function joinVersions(versions: readonly Verifier[]): Verifier {
  const [first] = versions
  if (first !== undefined && versions.length === 1) return first
  return {
    isPresent: (headers) => versions.some((each) => each.isPresent(headers)),
    async verify(request, dependencies) {
      let failure: Unverified | undefined
      for (const each of versions) {
        const result: VerifyResult = await each.verify(request, dependencies)
        if (result.ok) return result
        if (failure === undefined || failure.code === 'SIGNATURE_MALFORMED') failure = result
      }
      return failure ?? unverified('SIGNATURE_MISSING')
    },
  }
}
