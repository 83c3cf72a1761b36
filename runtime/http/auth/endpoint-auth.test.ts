import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Snapshot } from '@reveille/engine'
import { createSnapshot } from '../surface-fixture.ts'
import { createEndpointAuthTables } from './endpoint-auth.ts'

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
