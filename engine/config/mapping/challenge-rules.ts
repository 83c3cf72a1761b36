/** Finds what is wrong with `verify.challenge`, beyond the shape of its keys. */

import { secretsOf } from '../../providers/secrets.ts'
import type { KeyFault } from '../diagnostic/key-fault.ts'
import type { ChallengePolicy, VerifyPolicy } from '../schema/policy-schema.ts'

const places = ['query', 'header', 'body'] as const

export function challengeRules(challenge: ChallengePolicy, verify: VerifyPolicy): KeyFault[] {
  const [first, second] = places.filter((place) => challenge[place] !== undefined)
  const { method, answer, field, hmac, issuesSecret } = challenge
  const faults: KeyFault[] = []
  const add = (key: keyof ChallengePolicy, problem: string, hint: string, code = 'INVALID_VALUE') =>
    faults.push({ keys: ['verify', 'challenge', key], code, problem, hint })

  if (first === undefined && (method === 'POST' || answer !== 'text' || hmac))
    faults.push({
      keys: ['verify', 'challenge'],
      code: 'MISSING_KEY',
      problem: 'does not say where the text to echo stands',
      hint: 'Write `query`, `header` or `body`.',
    })
  if (second !== undefined) add(second, `stands beside \`${first}\``, 'Keep one of the two.')
  if (first === 'body' && method !== 'POST')
    add('body', `is always absent: a ${method} has no body`, 'Write `method: POST` too.')
  if (method === 'HEAD' && first !== undefined && answer !== 'header')
    add(first, 'cannot be echoed: an answer to HEAD has no body', 'Remove it, or write `answer: header`.')
  if (answer === 'header' && first !== undefined && first !== 'header')
    add('answer', 'echoes a header, and none is named', 'Write `header` with its name.')
  if (field !== undefined && answer !== 'json')
    faults.push({
      keys: ['verify', 'challenge', 'field'],
      severity: 'warning',
      code: 'UNUSED_FIELD',
      problem: 'has no effect: only JSON has fields',
      hint: 'Write `answer: json`, or remove it.',
    })
  if (hmac) faults.push(...checkDigest(challenge, verify))
  if (issuesSecret && (method !== 'POST' || verify.hmac === undefined))
    add(
      'issuesSecret',
      'is for a sender that hands out its secret by POST and signs with it',
      'Write `method: POST`, and `provider: hmac` with its `hmac`.',
    )
  return faults
}

function* checkDigest({ issuesSecret }: ChallengePolicy, verify: VerifyPolicy): Iterable<KeyFault> {
  const { provider, hmac } = verify
  const keys = ['verify', 'challenge', 'hmac']
  if (provider !== 'hmac' || hmac === undefined)
    yield {
      keys,
      code: 'MISSING_KEY',
      problem: 'answers with a digest, and nothing says how it is made',
      hint: 'Write `provider: hmac`, its `hmac` and the `secret`.',
    }
  // `{form}` does not suffice: it is signed without its dividers, so that a challenge could imitate one.
  else if (!hmac.signed.includes('{body}'))
    yield {
      keys,
      code: 'INVALID_VALUE',
      problem: 'would sign anything that a stranger asks for, as `hmac.signed` does not hold `{body}`',
      hint: 'Remove it, or write what the sender signs into `hmac.signed`.',
    }
  else if (issuesSecret)
    yield {
      keys,
      code: 'INVALID_VALUE',
      problem: 'stands beside `issuesSecret`',
      hint: 'Keep one of the two.',
    }
  else if (secretsOf(verify.secret).length === 0)
    yield {
      keys,
      severity: 'warning',
      code: 'VERIFY_NOT_YET',
      problem: 'is answered once there is a secret: until then the sender is answered 405',
      hint: 'Set `verify.secret`.',
    }
}
