import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { secretFaults, tokenFaults } from './token-rules.ts'

const codes = (faults: ReturnType<typeof tokenFaults>) => faults.map(({ code }) => code)

test('secrets that were typed by hand are recognised as guessable, however long they are', () => {
  const typed = ['changeme', 'secret', 'Change-Me-Please', 'a'.repeat(40), 'abab'.repeat(9)]
  const long = ['my-secret-webhook-token-1234', 'your_hook_token_here_0000', '123456789012345678901234']
  for (const secret of [...typed.slice(0, 2), ...typed.slice(3), ...long, 'abcdefghijklmnopqrstuvwxyz'])
    assert.deepEqual(codes(secretFaults(secret)), ['SECRET_WEAK'], secret)
})

test('random secrets are accepted in any encoding', () => {
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    for (let round = 0; round < 200; round++) {
      const secret = randomBytes(18).toString(encoding)
      assert.deepEqual(tokenFaults(secret), [], secret)
    }
  }
})

test('a short secret is reported as short, and a word in a longer one is accepted', () => {
  assert.deepEqual(codes(tokenFaults('k3v9-pq2x-77-k3v9')), ['TOKEN_SHORT'])
  assert.deepEqual(secretFaults('k3v9-pq2x-77-k3v9'), [])
  assert.deepEqual(tokenFaults('token-4fK29sLq0ZpVx81mWnB7'), [])
})

test('a hostile text takes no longer than any other', () => {
  assert.deepEqual(tokenFaults('tokentok'.repeat(100_000)), [])
})
