/** Finds what is wrong with `verify.challenge`, beyond the shape of its keys. */

import { secretsOf } from '../../providers/secrets.ts'
import { type KeyFault, noEffect } from '../file/key-fault.ts'
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
      ...noEffect(
        ['verify', 'challenge', 'field'],
        'only JSON has fields',
        'Write `answer: json`, or remove it.',
      ),
      at: 'value',
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

function checkDigest({ issuesSecret }: ChallengePolicy, verify: VerifyPolicy): KeyFault[] {
  const { provider, hmac } = verify
  const fault = (code: string, problem: string, hint: string): KeyFault[] => {
    return [{ keys: ['verify', 'challenge', 'hmac'], code, problem, hint }]
  }
  if (provider !== 'hmac' || hmac === undefined) {
    const hint = 'Write `provider: hmac`, its `hmac` and the `secret`.'
    return fault('MISSING_KEY', 'answers with a digest, and nothing says how it is made', hint)
  }
  // `{form}` does not suffice: it is signed without its dividers, so that a challenge could imitate one.
  if (!hmac.signed.includes('{body}')) {
    const problem = 'would sign anything that a stranger asks for, as `hmac.signed` does not hold `{body}`'
    return fault('INVALID_VALUE', problem, 'Remove it, or write what the sender signs into `hmac.signed`.')
  }
  if (issuesSecret) return fault('INVALID_VALUE', 'stands beside `issuesSecret`', 'Keep one of the two.')
  if (secretsOf(verify.secret).length > 0) return []
  const problem = 'is answered once there is a secret: until then the sender is answered 405'
  return fault('VERIFY_NOT_YET', problem, 'Set `verify.secret`.').map((one) => ({
    ...one,
    severity: 'warning',
  }))
}
