/** Finds what is wrong with `verify.hmac`, beyond the shape of its keys. */

import { type Finding, noEffect } from '../file/diagnostic.ts'
import type { HmacPolicy } from '../schema/policy-schema.ts'
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
    yield missing('signed', 'holds `{timestamp}`, and nothing says where it stands', hint)
  }
  if (signed.includes('{id}') && idHeader === undefined)
    yield missing('signed', 'holds `{id}`, and nothing says where it stands', 'Write `idHeader`.')
  if (!/\{(body|form)\}/.test(signed)) {
    const problem =
      'does not contain `{body}`: a person who sees one request could send another body with its signature'
    const hint = 'Write it as the sender describes it; most sign `{body}` or `{timestamp}.{body}`.'
    yield { path: at('signed'), severity: 'warning', code: 'BODY_NOT_SIGNED', problem, hint }
  }
  if (element !== undefined) yield* unused('prefix', '`element` says where the signature stands')
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
