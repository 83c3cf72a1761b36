/** Finds what is wrong with `verify.hmac`, beyond the shape of its keys. */

import type { Finding } from '../diagnostic/diagnostic.ts'
import { nearestName } from '../nearest.ts'
import type { HmacPolicy } from '../schema/policy-schema.ts'
import type { PolicyRules, WrittenKey } from './endpoint-policies.ts'

const slots = ['body', 'timestamp', 'id', 'url', 'method', 'form']

export function* hmacRules(hmac: HmacPolicy): PolicyRules {
  const of = (key: keyof HmacPolicy) => ['verify', 'hmac', key]
  const signs = (slot: string) => hmac.signed.includes(`{${slot}}`)
  yield [of('signed'), (at) => checkSigned(at, hmac, signs)]
  const unused = (key: keyof HmacPolicy, why: string): PolicyRules =>
    hmac[key] === undefined ? [] : [[of(key), (at) => hasNoEffect(at, why)]]
  if (hmac.element !== undefined) yield* unused('prefix', '`element` says where the signature stands')
  if (hmac.timestampHeader !== undefined) yield* unused('timestampElement', '`timestampHeader` comes first')
  else if (hmac.timestampElement !== undefined && hmac.element === undefined)
    yield [of('timestampElement'), needsElement]
  if (signs('timestamp')) return
  const why = '`signed` does not hold `{timestamp}`, so that anybody could choose the time'
  yield* unused('timestampHeader', why)
  if (hmac.timestampHeader === undefined) yield* unused('timestampElement', why)
}

function* checkSigned(
  { path, name }: WrittenKey,
  hmac: HmacPolicy,
  signs: (slot: string) => boolean,
): Iterable<Finding> {
  const at = { path, at: 'value' as const }
  for (const [, slot = ''] of hmac.signed.matchAll(/\{([A-Za-z]+)\}/g)) {
    if (slots.includes(slot)) continue
    const nearest = nearestName(slot, slots)
    yield {
      ...at,
      code: 'INVALID_VALUE',
      message: `${name} holds a name in braces that stands for nothing`,
      hint: nearest
        ? `Did you mean \`{${nearest}}\`?`
        : `There are ${slots.map((one) => `{${one}}`).join(', ')}.`,
    }
  }
  if (signs('timestamp') && hmac.timestampHeader === undefined && hmac.timestampElement === undefined)
    yield {
      ...at,
      code: 'MISSING_KEY',
      message: `${name} holds \`{timestamp}\`, and nothing says where it stands`,
      hint: 'Write `timestampHeader`, or `timestampElement` for an element of the header of the signature.',
    }
  if (signs('id') && hmac.idHeader === undefined)
    yield {
      ...at,
      code: 'MISSING_KEY',
      message: `${name} holds \`{id}\`, and nothing says where it stands`,
      hint: 'Write `idHeader`.',
    }
  if (!signs('body') && !signs('form'))
    yield {
      ...at,
      severity: 'warning',
      code: 'BODY_NOT_SIGNED',
      message: `${name} does not hold \`{body}\`: whoever sees one request can send another body with its signature`,
      hint: 'Write it as the sender describes it; most sign `{body}` or `{timestamp}.{body}`.',
    }
}

function* hasNoEffect({ path, name }: WrittenKey, why: string): Iterable<Finding> {
  const message = `${name} has no effect: ${why}`
  yield { severity: 'warning', path, at: 'key', code: 'UNUSED_FIELD', message, hint: 'Remove it.' }
}

function* needsElement({ path, name }: WrittenKey): Iterable<Finding> {
  yield {
    path,
    at: 'key',
    code: 'MISSING_KEY',
    message: `${name} is an element of a list, and nothing says which element is the signature`,
    hint: 'Write `element` too, or `timestampHeader` where the time has a header of its own.',
  }
}
