import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Snapshot } from '@reveille/engine'
import { createSnapshot } from '../surface-fixture.ts'
import { createEndpointAuthTables } from './endpoint-auth.ts'

const own = { value: ['own-new', 'both', 'own-old'], policy: 'ci/:job' }
const snapshot = createSnapshot({
  hooks: { tokens: ['all-new', 'all-old', 'both'] },
  policies: { ci: { token: own } },
})

test('the tokens of the endpoint are accepted beside those of all hooks, and the place of the token is found', () => {
  const table = createEndpointAuthTables()(snapshot)
  const found = (endpoint: string | undefined, given: string) => table.authFor(endpoint).findToken(given)
  const ofOwn = 'endpoints["ci/:job"].token'
  assert.deepEqual(found('ci', 'own-new'), { list: ofOwn, index: 0 })
  assert.deepEqual(found('ci', 'own-old'), { list: ofOwn, index: 2 })
  assert.deepEqual(found('ci', 'all-new'), { list: 'hooks.token', index: 0 })
  assert.deepEqual(found('ci', 'both'), { list: ofOwn, index: 1 }, 'the place where it is newer')
  assert.equal(found('ci', 'neither'), undefined)
  for (const endpoint of ['other', undefined]) {
    assert.equal(found(endpoint, 'own-new'), undefined)
    assert.deepEqual(found(endpoint, 'all-old'), { list: 'hooks.token', index: 1 })
  }
})

test('token lists are compiled once for a snapshot, however many names a catch-all takes', () => {
  let asked = 0
  const token = {
    policy: ':any',
    get value() {
      asked += 1
      return ['own']
    },
  }
  // Where several policies apply, their values are put together for every request.
  const joined: Snapshot = { ...createSnapshot(), effectivePolicyOf: () => ({ token }) }
  const authTableOf = createEndpointAuthTables()
  assert.equal(authTableOf(joined), authTableOf(joined))
  for (let number = 0; number < 5; number++) {
    assert.ok(authTableOf(joined).authFor(`name-${number}`).findToken('own'))
  }
  assert.equal(asked, 1)
})
