/** Answers the challenge of a sender that no row knows, as `verify.challenge` describes it. */

import { createHmac } from 'node:crypto'
import type { ChallengePolicy, VerifyPolicy } from '../../config/configuration.ts'
import { readKey, secretsOf } from '../../providers/secrets.ts'
import type { Handshakes, Verifier } from '../provider.ts'
import { unverified } from '../signed-request.ts'
import { emptyAnswer, fieldOf, isEcho, jsonAnswer, oneText, plainAnswer } from './answers.ts'
import type { Handshake, HandshakeRequest } from './handshake.ts'

/**
 * What the secret is put to for strangers: an answer is a digest over such a text and nothing else. No JSON and no form
 * that says anything looks so, and `withoutChallenges` refuses a body that does: else whoever asks could have one signed.
 */
const digestible = /^[\w+/.-]{1,256}={0,2}$/
const likeChallenge = /^[\w+/.=-]*$/
const longestChallenge = 258

/** A secret that is handed out: it goes into a header and into a file. */
const shape = /^[\x21-\x7e]{8,256}$/

const reason = 'the sender asked for its challenge'

/** Undefined where the policy lacks what the answer is made with. */
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
      if (sourceOf(challenge) === undefined) return emptyAnswer(200, reason)
      const asked = askedIn(challenge, request)
      if (!isEcho(asked) || (issuesSecret && !shape.test(asked))) return undefined
      const text = write(asked)
      if (text === undefined) return undefined
      const answer = answerWith(challenge, text)
      return issuesSecret
        ? { ...answer, reason: issued, entrusted: { name: 'webhook-secret', value: asked } }
        : answer
    },
  }
}

const issued = 'the sender handed out its secret, which is kept for the operator'

/** The key of the policy that says where the challenge stands. */
function sourceOf({ query, header, body }: ChallengePolicy): string | undefined {
  return query ?? header ?? body
}

function askedIn({ query, header, body }: ChallengePolicy, request: HandshakeRequest): unknown {
  if (query !== undefined) return oneText(request.query[query])
  if (header !== undefined) return oneText(request.headers[header.toLowerCase()])
  return body === undefined ? undefined : fieldOf(request.payload, body)
}

function answerWith(challenge: ChallengePolicy, text: string): Handshake {
  const { answer, field = sourceOf(challenge) ?? '', header = '' } = challenge
  if (answer === 'json') return jsonAnswer({ [field]: text }, reason)
  if (answer === 'header') return { ...emptyAnswer(200, reason), headers: { [header.toLowerCase()]: text } }
  return plainAnswer(text, reason)
}

/** As the sender's own signatures are written, with the newest secret. */
function createDigest({ secret, hmac }: VerifyPolicy): ((text: string) => string | undefined) | undefined {
  const newest = secretsOf(secret)[0]?.text
  const key = hmac && newest !== undefined ? readKey(newest, hmac.key) : undefined
  if (hmac === undefined || key === undefined) return undefined
  const { algorithm, encoding, prefix = '' } = hmac
  return (text) =>
    digestible.test(text) ? prefix + createHmac(algorithm, key).update(text).digest(encoding) : undefined
}

/** A verifier that takes no body which could have been signed by asking for a challenge. */
export function withoutChallenges(verifier: Verifier): Verifier {
  return {
    isPresent: (headers) => verifier.isPresent(headers),
    verify(request, means) {
      const { rawBody } = request
      if (rawBody.length <= longestChallenge && likeChallenge.test(Buffer.from(rawBody).toString('latin1')))
        return unverified('SIGNATURE_MISMATCH', {
          told: 'the body is one that a challenge could have signed',
        })
      return verifier.verify(request, means)
    },
  }
}
