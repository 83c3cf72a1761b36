/**
 * Verifies OpenID Connect tokens as Google sends them: https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions.
 * They prove who sends, and nothing about the body.
 */

import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import type { VerifyPolicy } from '../../config/schema/policy-schema.ts'
import type { OidcScheme } from '../../providers/scheme.ts'
import {
  type Headers,
  UnavailableError,
  type Unverified,
  unverified,
  type Verifier,
  type VerifyDependencies,
} from '../verifier.ts'

const skewSeconds = 60
/** Google's tokens are valid for an hour. One that is valid for longer than a day was not made for a delivery. */
const maxAge = '1d'

/** A token is three parts with dots between them, of which the last, the signature, may be missing. */
const tokenPattern = /^Bearer +([\w-]+\.[\w-]+\.[\w-]*)$/i

export function createOidcVerifier(
  { name = 'default', keys: address, issuers }: OidcScheme,
  { audience, publicUrl, serviceAccount }: VerifyPolicy,
): Verifier | undefined {
  const expected = audience || publicUrl
  if (!expected || !serviceAccount) return undefined
  let cached: { text: string; keyFor: JWTVerifyGetKey } | undefined

  /** @throws UnavailableError */
  async function keysOf({ download }: VerifyDependencies, fresh: boolean): Promise<JWTVerifyGetKey> {
    const text = await download(address, { fresh })
    if (cached?.text === text) return cached.keyFor
    const { createLocalJWKSet } = await jose()
    try {
      cached = { text, keyFor: createLocalJWKSet(JSON.parse(text)) }
      return cached.keyFor
    } catch (cause) {
      // The server may have sent an error page with a status of success.
      if (!fresh) return keysOf({ download }, true)
      throw new UnavailableError('The key set of the sender cannot be read.', { cause })
    }
  }

  /** @throws UnavailableError, or an error of jose */
  async function claimsOf(token: string, now: number, dependencies: VerifyDependencies): Promise<JWTPayload> {
    const { errors, jwtVerify } = await jose()
    const check = async (fresh: boolean) => {
      const { payload } = await jwtVerify(token, await keysOf(dependencies, fresh), {
        algorithms: ['RS256'],
        issuer: [...issuers],
        audience: expected,
        requiredClaims: ['exp', 'iat'],
        maxTokenAge: maxAge,
        clockTolerance: skewSeconds,
        currentDate: new Date(now),
      })
      return payload
    }
    return check(false).catch((error) => {
      if (error instanceof errors.JWKSNoMatchingKey) return check(true)
      throw error
    })
  }

  return {
    isPresent: (headers) => tokenIn(headers) !== undefined,
    async verify({ headers, now }, dependencies) {
      const token = tokenIn(headers)
      if (token === undefined) return unverified('SIGNATURE_MISSING')
      // jose would try a token that names no key with any key there is.
      if (!(await namesKey(token))) return unverified('SIGNATURE_MALFORMED')
      try {
        const claims = await claimsOf(token, now, dependencies)
        // Anybody with a Google Cloud project can get a token for our address, and only the account identifies the sender.
        if (claims['email'] !== serviceAccount || claims['email_verified'] !== true)
          return unverified('WRONG_SENDER')
        return { ok: true, scheme: name, secret: 0 }
      } catch (error) {
        if (error instanceof UnavailableError) throw error
        return await tokenFailure(error, now)
      }
    },
  }
}

/** The library is loaded at first use, because few gateways have a sender of such tokens. */
function jose() {
  return import('jose')
}

function tokenIn({ authorization }: Headers): string | undefined {
  return typeof authorization === 'string' ? tokenPattern.exec(authorization)?.[1] : undefined
}

async function namesKey(token: string): Promise<boolean> {
  const { decodeProtectedHeader } = await jose()
  try {
    const { alg, kid } = decodeProtectedHeader(token)
    return alg === 'RS256' && typeof kid === 'string' && kid !== ''
  } catch {
    return false
  }
}

/** @throws UnavailableError where the sender's keys are at fault */
async function tokenFailure(error: unknown, now: number): Promise<Unverified> {
  const { errors } = await jose()
  const isOfKeys = error instanceof errors.JWKSInvalid || error instanceof errors.JWKSMultipleMatchingKeys
  if (isOfKeys || !(error instanceof errors.JOSEError))
    throw new UnavailableError('The key set of the sender cannot be used.', { cause: error })
  if (error instanceof errors.JWKSNoMatchingKey) return unverified('KEY_UNKNOWN')
  if (error instanceof errors.JWSSignatureVerificationFailed) return unverified('SIGNATURE_MISMATCH')
  if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason, payload } = error
    if (reason === 'missing' || reason === 'invalid') return unverified('SIGNATURE_MALFORMED')
    if (claim === 'aud') return unverified('WRONG_AUDIENCE')
    if (claim === 'iss') return unverified('WRONG_SENDER')
    return unverified('TOKEN_EXPIRED', skewOf(payload, now))
  }
  return unverified('SIGNATURE_MALFORMED')
}

/** Counts from the end of an expired token, or to the beginning of one that is not valid yet. */
function skewOf({ exp = 0, iat = 0 }: JWTPayload, now: number): { skewSeconds: number } {
  const seconds = Math.floor(now / 1000)
  return { skewSeconds: seconds > exp ? exp - seconds : Math.max(0, iat - seconds) }
}
