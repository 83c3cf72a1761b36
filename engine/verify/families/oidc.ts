/**
 * Owns tokens of OpenID Connect as Google sends them: https://cloud.google.com/pubsub/docs/authenticate-push-subscriptions.
 * They say who sends, and nothing of the body.
 */

import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import type { VerifyPolicy } from '../../config/configuration.ts'
import type { OidcScheme } from '../scheme.ts'
import {
  type Headers,
  UnavailableError,
  type Unverified,
  unverified,
  type VerifyMeans,
} from '../signed-request.ts'
import type { SchemeVerifier } from './scheme-verifier.ts'

const skewSeconds = 60
/** Google's live for an hour; whatever lives longer than a day was not made for a delivery. */
const longestAge = '1d'

/** Three parts with dots between them, of which the last, the signature, may be missing. */
const tokenPattern = /^Bearer +([\w-]+\.[\w-]+\.[\w-]*)$/i

export function createOidcVerifier(
  { name = 'default', keys: address, issuers }: OidcScheme,
  { audience, publicUrl, serviceAccount }: VerifyPolicy,
): SchemeVerifier | undefined {
  const expected = audience || publicUrl
  if (!expected || !serviceAccount) return undefined
  let known: { text: string; keyFor: JWTVerifyGetKey } | undefined

  /** @throws UnavailableError */
  async function keysOf({ download }: VerifyMeans, fresh: boolean): Promise<JWTVerifyGetKey> {
    const text = await download(address, { fresh })
    if (known?.text === text) return known.keyFor
    const { createLocalJWKSet } = await jose()
    try {
      known = { text, keyFor: createLocalJWKSet(JSON.parse(text)) }
      return known.keyFor
    } catch (cause) {
      // A page of errors, perhaps, that its server called a success.
      if (!fresh) return keysOf({ download }, true)
      throw new UnavailableError('The key set of the sender cannot be read.', { cause })
    }
  }

  /** Rejects with an error of jose's, or UnavailableError. */
  async function claimsOf(token: string, now: number, means: VerifyMeans): Promise<JWTPayload> {
    const { errors, jwtVerify } = await jose()
    const check = async (fresh: boolean) => {
      const { payload } = await jwtVerify(token, await keysOf(means, fresh), {
        algorithms: ['RS256'],
        issuer: [...issuers],
        audience: expected,
        requiredClaims: ['exp', 'iat'],
        maxTokenAge: longestAge,
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
    async verify({ headers, now }, means) {
      const token = tokenIn(headers)
      if (token === undefined) return unverified('SIGNATURE_MISSING')
      // A token that names no key would be tried with whichever there is, and one of another algorithm with none.
      if (!(await namesKey(token))) return unverified('SIGNATURE_MALFORMED')
      try {
        const claims = await claimsOf(token, now, means)
        // Anybody with a project of Google's gets a token for our address; only this tells whose it is.
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

/** Loaded when it is first needed: most gateways have nobody that sends such tokens. */
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

/** @throws UnavailableError for what is wrong with the sender's keys */
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

/** Behind its end, or before its beginning. */
function skewOf({ exp = 0, iat = 0 }: JWTPayload, now: number): { skewSeconds: number } {
  const seconds = Math.floor(now / 1000)
  return { skewSeconds: seconds > exp ? exp - seconds : Math.max(0, iat - seconds) }
}
