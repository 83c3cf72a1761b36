import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { secretFaults, tokenFaults } from './token-rules.ts'

const codes = (faults: ReturnType<typeof tokenFaults>) => faults.map(({ code }) => code)

test('secrets that were typed by hand are recognised as guessable, however long they are', () => {
  const typed =
    `changeme secret my-secret-webhook-token-1234 your_hook_token_here_0000 123456789012345678901234
    abcdefghijklmnopqrstuvwxyz`.split(/\s+/)
  for (const secret of [...typed, 'a'.repeat(40), 'abab'.repeat(9)])
    assert.deepEqual(codes(secretFaults(secret)), ['SECRET_WEAK'], secret)
})

test('random secrets are accepted in any encoding', () => {
  for (const encoding of ['hex', 'base64', 'base64url'] as const)
    for (const secret of Array.from({ length: 200 }, () => randomBytes(18).toString(encoding)))
      assert.deepEqual(tokenFaults(secret), [], secret)
})

test('a short secret is reported as short, and a word in a longer one is accepted', () => {
  assert.deepEqual(codes(tokenFaults('k3v9-pq2x-77-k3v9')), ['TOKEN_SHORT'])
  assert.deepEqual(secretFaults('k3v9-pq2x-77-k3v9'), [])
  // Neither is a hostile text slow.
  for (const token of ['token-4fK29sLq0ZpVx81mWnB7', 'tokentok'.repeat(100_000)])
    assert.deepEqual(tokenFaults(token), [])
})
