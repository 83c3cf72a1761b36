import assert from 'node:assert/strict'
import { createHmac, createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { createKeyedDigest } from './keyed-digest.ts'

type Part = string | Uint8Array

const names = ['sha1', 'sha256', 'sha384', 'sha512'] as const
const key = fc.uint8Array({ minLength: 1, maxLength: 300 })
const text = fc.string({ unit: 'binary', maxLength: 40 })
const message = fc.array(fc.oneof(text, fc.uint8Array({ maxLength: 200 })), { maxLength: 5 })

function byNode(name: string, bytes: Uint8Array, parts: readonly Part[]): string {
  const hmac = createHmac(name, bytes)
  for (const part of parts) hmac.update(part)
  return hmac.digest('hex')
}

function ours(name: (typeof names)[number], bytes: Uint8Array, parts: readonly Part[]): string {
  const digest = createKeyedDigest(name, createSecretKey(bytes))
  return digest((take) => parts.forEach(take)).toString('hex')
}

test('a keyed digest is that of Node.js, for every hash, key and message, in however many parts', () => {
  fc.assert(
    fc.property(fc.constantFrom(...names), key, message, (name, bytes, parts) => {
      assert.equal(ours(name, bytes, parts), byNode(name, bytes, parts))
    }),
    { seed: 7, numRuns: 300 },
  )
})

test('so it is around the length from which on Node.js itself is asked, and where a text might be too long and is not', () => {
  const bytes = Buffer.from('a key of some length')
  for (const name of names) {
    for (const length of [65_535, 65_536, 65_537, 65_600, 65_664, 65_665, 200_000]) {
      const body = Buffer.alloc(length, 'reveille')
      assert.equal(ours(name, bytes, [body]), byNode(name, bytes, [body]), `${name} of ${length}`)
      assert.equal(ours(name, bytes, ['t.', body, '.é']), byNode(name, bytes, ['t.', body, '.é']))
    }
    const wide = '\u{1f6a8}'.repeat(15_000)
    assert.equal(ours(name, bytes, [wide]), byNode(name, bytes, [wide]))
  }
})

test('digests that are made in turn leave nothing of one another', () => {
  const [one, other] = ['one key', 'another key, and a longer one']
  const digests = [one, other].map((secret) =>
    createKeyedDigest('sha256', createSecretKey(Buffer.from(secret))),
  )
  for (const body of ['a long message that comes first', 'short', '', 'a message of middle length']) {
    const made = digests.map((digest) => digest((take) => take(body)).toString('hex'))
    assert.deepEqual(made, [
      byNode('sha256', Buffer.from(one), [body]),
      byNode('sha256', Buffer.from(other), [body]),
    ])
  }
})
