import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasTooManyFields, maxFields, parseFields } from './form.ts'

test('a name that appears more than once gives a list', () => {
  assert.deepEqual({ ...parseFields('a=1&b=2&a=3&a=') }, { a: ['1', '3', ''], b: '2' })
})

test('plus and escapes are decoded, bad escapes are kept as they are', () => {
  assert.deepEqual({ ...parseFields('a=b+c%20d&e=%zz') }, { a: 'b c d', e: '%zz' })
})

test('pluses are read as the platform reads them, whatever surrounds them', () => {
  for (const text of ['a=+', '+=+', 'a=b+ä+%2B+%C3%A4', '+a+=++b', 'a=++&a=+1', 'ключ+1=а+б']) {
    assert.deepEqual(Object.entries(parseFields(text))[0]?.flat(), [
      ...new URLSearchParams(text).keys().take(1),
      ...new URLSearchParams(text).values(),
    ])
  }
})

test('no name reaches a prototype', () => {
  const fields = parseFields('__proto__=x&__proto__[y]=1&constructor=z')
  assert.equal(Object.getPrototypeOf(fields), null)
  assert.equal(Object.hasOwn(fields, '__proto__'), false)
  assert.equal(fields['constructor'], 'z')
  assert.equal(fields['toString'], undefined)
})

test('the number of fields is bounded', () => {
  assert.equal(hasTooManyFields('&'.repeat(maxFields - 1)), false)
  assert.equal(hasTooManyFields('&'.repeat(maxFields)), true)
})
