import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTexts } from '../../payload/exact-numbers.ts'
import { parsePayload } from './context.ts'

test('an empty body is an empty object', () => {
  for (const body of ['', ' \n', '\ufeff']) assert.deepEqual(parsePayload(body), {})
})

test('a byte order mark is not part of the body', () => {
  assert.deepEqual(parsePayload('\ufeff{"a":1}'), { a: 1 })
})

const long = '9007199254740993'
const bodies = [
  long,
  `[${long}, -${long}, 9007199254740991, -9007199254740992]`,
  `{"a": {"b": [${long}]}, "c": "${long}", "d": 1e300, "e": 12345678901234567.5, "f": 1234567890123456789E2}`,
  `{"__proto__": ${long}}`,
  `\ufeff[ ${long} ]`,
]

test('an integer beyond 2^53 becomes a text, as in expressions', () => {
  for (const body of bodies) {
    const expected = parseTexts(body) ?? JSON.parse(body)
    assert.deepEqual(parsePayload(body), expected, body)
  }
  assert.deepEqual(parsePayload(`{"id": ${long}}`), { id: long })
})
