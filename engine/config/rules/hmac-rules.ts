/** Finds what is wrong with `verify.hmac`, beyond the shape of its keys. */

import { secretsOf } from '../../providers/secrets.ts'
import { type Finding, noEffect } from '../file/diagnostic.ts'
import type { ChallengePolicy, HmacPolicy, VerifyPolicy } from '../schema/policy-schema.ts'
import { didYouMean } from '../values/nearest.ts'

const slots = ['{body}', '{timestamp}', '{id}', '{url}', '{method}', '{form}']

export function* hmacRules(hmac: HmacPolicy): Iterable<Finding> {
  const { signed, element, timestampHeader, timestampElement, idHeader } = hmac
  const at = (key: keyof HmacPolicy) => ['verify', 'hmac', key]
  const missing = (key: keyof HmacPolicy, problem: string, hint: string): Finding => {
    return { path: at(key), code: 'MISSING_KEY', problem, hint }
  }
  const unused = (key: keyof HmacPolicy, why: string) =>
    hmac[key] === undefined ? [] : [noEffect(at(key), why)]
  for (const [slot] of signed.matchAll(/\{[A-Za-z]+\}/g)) {
    const hint = didYouMean(slot, slots, `There are ${slots.join(', ')}.`)
    const problem = 'holds a name in braces that stands for nothing'
    if (!slots.includes(slot)) yield { path: at('signed'), code: 'INVALID_VALUE', problem, hint }
  }
  const signsTime = signed.includes('{timestamp}')
  if (signsTime && timestampHeader === undefined && timestampElement === undefined) {
    const hint =
      'Write `timestampHeader`, or `timestampElement` for an element of the header of the signature.'
    yield missing('signed', 'holds `{timestamp}`, and no setting says where to find it', hint)
  }
  if (signed.includes('{id}') && idHeader === undefined)
    yield missing('signed', 'holds `{id}`, and no setting says where to find it', 'Write `idHeader`.')
  if (!/\{(body|form)\}/.test(signed)) {
    const problem =
      'does not contain `{body}`: a person who sees one request could send another body with its signature'
    const hint = 'Write it as the sender describes it; most sign `{body}` or `{timestamp}.{body}`.'
    yield { path: at('signed'), severity: 'warning', code: 'BODY_NOT_SIGNED', problem, hint }
  }
  if (element !== undefined) yield* unused('prefix', '`element` already locates the signature')
  if (timestampHeader !== undefined) yield* unused('timestampElement', '`timestampHeader` comes first')
  else if (timestampElement !== undefined && element === undefined) {
    const problem = 'is an element of a list, and nothing says which element is the signature'
    const hint = 'Write `element` too, or `timestampHeader` where the time has a header of its own.'
    yield { ...missing('timestampElement', problem, hint), at: 'key' }
  }
  if (signsTime) return
  const why = '`signed` does not hold `{timestamp}`, so that anybody could choose the time'
  yield* unused(timestampHeader === undefined ? 'timestampElement' : 'timestampHeader', why)
}

const places = ['query', 'header', 'body'] as const
const above = ['verify', 'challenge']

function fault(key: keyof ChallengePolicy, problem: string, hint: string, code = 'INVALID_VALUE'): Finding {
  return { path: [...above, key], code, problem, hint }
}

export function* challengeRules(challenge: ChallengePolicy, verify: VerifyPolicy): Iterable<Finding> {
  const [first, second] = places.filter((place) => challenge[place] !== undefined)
  const { method, answer, field, hmac, issuesSecret } = challenge
  if (first === undefined && (method === 'POST' || answer !== 'text' || hmac)) {
    const problem = 'does not say where the text to echo is'
    yield { path: above, code: 'MISSING_KEY', problem, hint: 'Write `query`, `header` or `body`.' }
  }
  if (second !== undefined)
    yield fault(second, `cannot be combined with \`${first}\``, 'Keep one of the two.')
  if (first === 'body' && method !== 'POST')
    yield fault('body', `is always absent: a ${method} has no body`, 'Write `method: POST` too.')
  if (method === 'HEAD' && first !== undefined && answer !== 'header') {
    const hint = 'Remove it, or write `answer: header`.'
    yield fault(first, 'cannot be echoed: an answer to HEAD has no body', hint)
  }
  if (answer === 'header' && first !== undefined && first !== 'header')
    yield fault('answer', 'echoes a header, and none is named', 'Write `header` with its name.')
  if (field !== undefined && answer !== 'json') {
    const hint = 'Write `answer: json`, or remove it.'
    yield { ...noEffect([...above, 'field'], 'only JSON has fields', hint), at: 'value' }
  }
  if (hmac) yield* checkDigest(challenge, verify)
  if (issuesSecret && (method !== 'POST' || verify.hmac === undefined)) {
    const hint = 'Write `method: POST`, and `provider: hmac` with its `hmac`.'
    yield fault('issuesSecret', 'is for a sender that hands out its secret by POST and signs with it', hint)
  }
}

function* checkDigest({ issuesSecret }: ChallengePolicy, verify: VerifyPolicy): Iterable<Finding> {
  const { provider, hmac } = verify
  if (provider !== 'hmac' || hmac === undefined) {
    const hint = 'Write `provider: hmac`, its `hmac` and the `secret`.'
    yield fault('hmac', 'answers with a digest, and nothing says how it is made', hint, 'MISSING_KEY')
  } else if (!hmac.signed.includes('{body}')) {
    // `{form}` does not suffice: it is signed without its dividers, so that a challenge could imitate one.
    const problem =
      'would sign anything that an unauthenticated client asks for, as `hmac.signed` does not hold `{body}`'
    yield fault('hmac', problem, 'Remove it, or write what the sender signs into `hmac.signed`.')
  } else if (issuesSecret)
    yield fault('hmac', 'cannot be combined with `issuesSecret`', 'Keep one of the two.')
  else if (secretsOf(verify.secret).length === 0) {
    const problem = 'is answered once there is a secret: until then the sender is answered 405'
    yield { ...fault('hmac', problem, 'Set `verify.secret`.', 'VERIFY_NOT_YET'), severity: 'warning' }
  }
}
