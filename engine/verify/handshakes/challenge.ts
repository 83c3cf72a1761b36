/** Answers the challenge of a sender that has no row in the table, as `verify.challenge` describes it. */

import { createHmac } from 'node:crypto'
import type { ChallengePolicy, VerifyPolicy } from '../../config/schema/policy-schema.ts'
import { readKey, secretsOf } from '../../providers/secrets.ts'
import { unverified, type Verifier } from '../verifier.ts'
import {
  emptyAnswer,
  fieldOf,
  type Handshake,
  type HandshakeRequest,
  type Handshakes,
  isEcho,
  isIssuedSecret,
  jsonAnswer,
  oneText,
  plainAnswer,
} from './handshake.ts'

/**
 * The only texts that an unauthenticated client can have digested with the secret. No meaningful JSON and no meaningful form looks like
 * this, and `withoutChallenges` refuses a body that does; otherwise an unauthenticated client could have a body signed.
 */
const digestible = /^[\w+/.-]{1,256}={0,2}$/
const likeChallenge = /^[\w+/.=-]*$/
const maxChallengeLength = 258

const reason = 'the sender asked for its challenge'
const issuedReason = 'the sender handed out its secret, which is kept for the operator'

/** Returns undefined if the policy lacks the values for the answer. */
export function createChallenge(challenge: ChallengePolicy, policy: VerifyPolicy): Handshakes | undefined {
  const { method, issuesSecret } = challenge
  const hasSecret = secretsOf(policy.secret).length > 0
  if (issuesSecret && hasSecret) return undefined
  const write = challenge.hmac ? createDigest(policy) : (text: string) => text
  if (write === undefined) return undefined
  return {
    methods: method === 'POST' ? [] : [method],
    unsigned: issuesSecret,
    answer(request) {
      if (request.method !== method || (method === 'POST' && !request.isTrusted && !issuesSecret))
        return undefined
      if (fieldNameOf(challenge) === undefined) return emptyAnswer(200, reason)
      const sentChallenge = challengeIn(request, challenge)
      if (!isEcho(sentChallenge) || (issuesSecret && !isIssuedSecret(sentChallenge))) return undefined
      const text = write(sentChallenge)
      if (text === undefined) return undefined
      const answer = answerWith(challenge, text)
      return issuesSecret
        ? { ...answer, reason: issuedReason, issuedSecret: { name: 'webhook-secret', value: sentChallenge } }
        : answer
    },
  }
}

/** Returns the name of the parameter, header or field that the challenge comes in. */
function fieldNameOf({ query, header, body }: ChallengePolicy): string | undefined {
  return query ?? header ?? body
}

function challengeIn(request: HandshakeRequest, { query, header, body }: ChallengePolicy): unknown {
  if (query !== undefined) return oneText(request.query[query])
  if (header !== undefined) return oneText(request.headers[header.toLowerCase()])
  return body === undefined ? undefined : fieldOf(request.payload, body)
}

function answerWith(challenge: ChallengePolicy, text: string): Handshake {
  const { answer, field = fieldNameOf(challenge) ?? '', header = '' } = challenge
  if (answer === 'json') return jsonAnswer({ [field]: text }, reason)
  if (answer === 'header') return { ...emptyAnswer(200, reason), headers: { [header.toLowerCase()]: text } }
  return plainAnswer(text, reason)
}

/** Digests with the newest secret, and writes the digest as the sender's own signatures are written. */
function createDigest({ secret, hmac }: VerifyPolicy): ((text: string) => string | undefined) | undefined {
  const newest = secretsOf(secret)[0]?.text
  const key = hmac && newest !== undefined ? readKey(newest, hmac.key) : undefined
  if (hmac === undefined || key === undefined) return undefined
  const { algorithm, encoding, prefix = '' } = hmac
  return (text) =>
    digestible.test(text) ? prefix + createHmac(algorithm, key).update(text).digest(encoding) : undefined
}

/** Returns a verifier that refuses every body which could have been signed by asking for a challenge. */
export function withoutChallenges(verifier: Verifier): Verifier {
  return {
    isPresent: (headers) => verifier.isPresent(headers),
    verify(request, dependencies) {
      const { rawBody } = request
      if (rawBody.length <= maxChallengeLength && likeChallenge.test(Buffer.from(rawBody).toString('latin1')))
        return unverified('SIGNATURE_MISMATCH', {
          reason: 'the body is one that a challenge could have signed',
        })
      return verifier.verify(request, dependencies)
    },
  }
}
