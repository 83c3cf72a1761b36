/** Finds what is wrong with `verify.challenge`, beyond the shape of its keys. */

import { secretsOf } from '../../providers/secrets.ts'
import type { Finding } from '../diagnostic/diagnostic.ts'
import type { ChallengePolicy, VerifyPolicy } from '../schema/policy-schema.ts'
import type { PolicyRules, WrittenKey } from './endpoint-policies.ts'

const places = ['query', 'header', 'body'] as const

export function* challengeRules(challenge: ChallengePolicy, verify: VerifyPolicy): PolicyRules {
  const of = (key?: keyof ChallengePolicy) => ['verify', 'challenge', ...(key === undefined ? [] : [key])]
  const [first, second] = places.filter((place) => challenge[place] !== undefined)
  const { method, answer, field, hmac, issuesSecret } = challenge

  if (first === undefined && (method === 'POST' || answer !== 'text' || hmac))
    yield [
      of(),
      finding('MISSING_KEY', 'says no place of what is to be echoed', 'Write `query`, `header` or `body`.'),
    ]
  if (second !== undefined)
    yield [of(second), finding('INVALID_VALUE', `stands beside \`${first}\``, 'Keep one of the two.')]
  if (first === 'body' && method !== 'POST')
    yield [
      of('body'),
      finding('INVALID_VALUE', `is never there: with ${method} comes no body`, 'Write `method: POST` too.'),
    ]
  if (method === 'HEAD' && first !== undefined && answer !== 'header')
    yield [
      of(first),
      finding(
        'INVALID_VALUE',
        'cannot be echoed: an answer to HEAD has no body',
        'Remove it, or write `answer: header`.',
      ),
    ]
  if (answer === 'header' && first !== undefined && first !== 'header')
    yield [
      of('answer'),
      finding('INVALID_VALUE', 'echoes a header, and none is named', 'Write `header` with its name.'),
    ]
  if (field !== undefined && answer !== 'json')
    yield [
      of('field'),
      finding(
        'UNUSED_FIELD',
        'has no effect: only JSON has fields',
        'Write `answer: json`, or remove it.',
        'warning',
      ),
    ]
  if (hmac) yield [of('hmac'), (at) => checkDigest(at, challenge, verify)]
  if (issuesSecret && (method !== 'POST' || verify.hmac === undefined))
    yield [
      of('issuesSecret'),
      finding(
        'INVALID_VALUE',
        'is for a sender that hands out its secret by POST and signs with it',
        'Write `method: POST`, and `provider: hmac` with its `hmac`.',
      ),
    ]
}

function* checkDigest(
  at: WrittenKey,
  { issuesSecret }: ChallengePolicy,
  verify: VerifyPolicy,
): Iterable<Finding> {
  const { provider, hmac } = verify
  if (provider !== 'hmac' || hmac === undefined)
    yield* finding(
      'MISSING_KEY',
      'answers with a digest, and nothing says how it is made',
      'Write `provider: hmac`, its `hmac` and the `secret`.',
    )(at)
  // Not `{form}` either: it is signed without its dividers, so that a challenge can spell one.
  else if (!hmac.signed.includes('{body}'))
    yield* finding(
      'INVALID_VALUE',
      'would sign anything that a stranger asks for, as `hmac.signed` does not hold `{body}`',
      'Remove it, or write what the sender signs into `hmac.signed`.',
    )(at)
  else if (issuesSecret)
    yield* finding('INVALID_VALUE', 'stands beside `issuesSecret`', 'Keep one of the two.')(at)
  else if (secretsOf(verify.secret).length === 0)
    yield* finding(
      'VERIFY_NOT_YET',
      'is answered once there is a secret: until then the sender is answered 405',
      'Set `verify.secret`.',
      'warning',
    )(at)
}

function finding(
  code: Finding['code'],
  problem: string,
  hint: string,
  severity?: 'warning',
): (at: WrittenKey) => Iterable<Finding> {
  return function* ({ path, name }) {
    yield { ...(severity && { severity }), path, code, message: `${name} ${problem}`, hint }
  }
}
