/** Makes random patterns and payloads, of so few names and values that they often match. */

import fc from 'fast-check'
import type { HeaderPattern } from '../../config/schema/mapping-schema.ts'

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

const name = fc.constantFrom('a', 'b', 'source', '__proto__', 'exists', 'toString')
export const scalar = fc.constantFrom<Json>('x', 'xy', 'yx', '', 'X', 0, 1, 2.5, true, false, null, '1')
export const text = fc.constantFrom('x', 'y', 'xy')
const bounds = fc.oneof(
  fc.tuple(fc.constantFrom('=', '!=', '<', '<=', '>', '>='), fc.constantFrom(0, 1, 2)),
  fc.constant(['>', 0, '<=', 2]),
  fc.constant(['>=', 1, '!=', 2.5]),
)
export const operators = fc
  .oneof(
    fc.record({ exists: fc.boolean() }),
    fc.record(
      {
        exists: fc.constant(true),
        prefix: text,
        suffix: text,
        'anything-but': fc.oneof(scalar, fc.array(scalar, { minLength: 1, maxLength: 3 })),
        numeric: bounds,
        pattern: fc.constantFrom('^x', 'y$', '^[xy]+$', '^$'),
      },
      { requiredKeys: [] },
    ),
  )
  .filter((test) => Object.keys(test).length > 0)

export const { pattern } = fc.letrec<{ pattern: unknown }>((tie) => ({
  pattern: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: scalar },
    { weight: 3, arbitrary: operators },
    { weight: 2, arbitrary: fc.array(scalar, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(tie('pattern'), { minLength: 1, maxLength: 3 }) },
    {
      weight: 3,
      arbitrary: objectOf(tie('pattern')).filter((keys) => Object.keys(keys).some((key) => key !== 'exists')),
    },
  ),
}))
export const { payload } = fc.letrec<{ payload: Json }>((tie) => ({
  payload: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    { weight: 3, arbitrary: scalar },
    { weight: 2, arbitrary: fc.array(tie('payload'), { maxLength: 4 }) },
    { weight: 4, arbitrary: objectOf(tie('payload')) },
  ),
}))

/** Makes objects with own keys, including keys that an assignment would not create. */
export function objectOf<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Record<string, Value>> {
  return fc.array(fc.tuple(name, value), { maxLength: 4 }).map((entries) => Object.fromEntries(entries))
}

export const headerPattern = fc.oneof<fc.Arbitrary<HeaderPattern>[]>(
  text,
  fc.array(text, { minLength: 1, maxLength: 2 }),
  fc.record({ exists: fc.boolean() }),
  fc.record({ exists: fc.constant(true), pattern: fc.constantFrom('^x', 'y$') }),
)
