/** Finds what is wrong with `verify.hmac`, beyond the shape of its keys. */

import { type KeyFault, noEffect } from '../file/key-fault.ts'
import type { HmacPolicy } from '../schema/policy-schema.ts'
import { didYouMean } from '../values/nearest.ts'

const slots = ['{body}', '{timestamp}', '{id}', '{url}', '{method}', '{form}']

export function* hmacRules(hmac: HmacPolicy): Iterable<KeyFault> {
  const of = (key: keyof HmacPolicy) => ['verify', 'hmac', key]
  const signs = (slot: string) => hmac.signed.includes(`{${slot}}`)
  yield* checkSigned(of('signed'), hmac, signs)
  const unused = (key: keyof HmacPolicy, why: string) =>
    hmac[key] === undefined ? [] : [noEffect(of(key), why)]
  if (hmac.element !== undefined) yield* unused('prefix', '`element` says where the signature stands')
  if (hmac.timestampHeader !== undefined) yield* unused('timestampElement', '`timestampHeader` comes first')
  else if (hmac.timestampElement !== undefined && hmac.element === undefined)
    yield {
      keys: of('timestampElement'),
      at: 'key',
      code: 'MISSING_KEY',
      problem: 'is an element of a list, and nothing says which element is the signature',
      hint: 'Write `element` too, or `timestampHeader` where the time has a header of its own.',
    }
  if (signs('timestamp')) return
  const why = '`signed` does not hold `{timestamp}`, so that anybody could choose the time'
  yield* unused('timestampHeader', why)
  if (hmac.timestampHeader === undefined) yield* unused('timestampElement', why)
}

function* checkSigned(
  keys: KeyFault['keys'],
  hmac: HmacPolicy,
  signs: (slot: string) => boolean,
): Iterable<KeyFault> {
  for (const [, slot = ''] of hmac.signed.matchAll(/\{([A-Za-z]+)\}/g)) {
    if (slots.includes(`{${slot}}`)) continue
    const hint = didYouMean(`{${slot}}`, slots, `There are ${slots.join(', ')}.`)
    yield { keys, code: 'INVALID_VALUE', problem: 'holds a name in braces that stands for nothing', hint }
  }
  if (signs('timestamp') && hmac.timestampHeader === undefined && hmac.timestampElement === undefined)
    yield {
      keys,
      code: 'MISSING_KEY',
      problem: 'holds `{timestamp}`, and nothing says where it stands',
      hint: 'Write `timestampHeader`, or `timestampElement` for an element of the header of the signature.',
    }
  if (signs('id') && hmac.idHeader === undefined) {
    const problem = 'holds `{id}`, and nothing says where it stands'
    yield { keys, code: 'MISSING_KEY', problem, hint: 'Write `idHeader`.' }
  }
  if (!signs('body') && !signs('form'))
    yield {
      keys,
      severity: 'warning',
      code: 'BODY_NOT_SIGNED',
      problem:
        'does not contain `{body}`: a person who sees one request could send another body with its signature',
      hint: 'Write it as the sender describes it; most sign `{body}` or `{timestamp}.{body}`.',
    }
}
