import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileRedaction, oneLine } from './quoting.ts'

test('a secret is redacted in each of its forms, even as part of another one', () => {
  const redact = compileRedaction(['key', 's3cret/key', 's3cret/key-2', 'a"quote'])
  assert.equal(
    redact('s3cret/key, s3cret%2Fkey, s3cret/key-2, {"token":"a\\"quote"}'),
    '[redacted], [redacted], [redacted], {"token":"[redacted]"}',
  )
})

test('a text too short to be a secret stays', () => {
  assert.equal(compileRedaction(['no', ''])('no key'), 'no key')
})

test('a quotation is one line, cut between characters', () => {
  assert.equal(oneLine(' not\n\tso \u001b fast ', 20), 'not so fast')
  assert.equal(oneLine('abcdef', 6), 'abcdef')
  assert.equal(oneLine('abcdefg', 6), 'abcde…')
  assert.equal(oneLine('abcd😀fg', 6), 'abcd…')
})
