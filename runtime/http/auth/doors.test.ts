import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Snapshot, Terms } from '@reveille/engine'
import { createSnapshot } from '../surface-fixture.ts'
import { createDoors } from './doors.ts'
import { createProvider } from './provider-fixture.ts'

const own = { value: ['own-new', 'both', 'own-old'], policy: 'ci/:job' }
const snapshot = createSnapshot({
  hooks: { tokens: ['all-new', 'all-old', 'both'] },
  terms: { ci: { token: own } },
})

test('a token opens by its place: those of the endpoint beside those of all hooks', () => {
  const door = createDoors()(snapshot)
  const found = (endpoint: string | undefined, given: string) => door.entranceOf(endpoint).findToken(given)
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

test('a signature is asked for where there is something to verify it with, unless the policy says otherwise', () => {
  const verify = (secrets: string[]) => ({ value: createProvider({ secrets }), policy: 'x' })
  const auth = (value: NonNullable<Terms['auth']>['value']) => ({ value, policy: 'x' })
  const terms: Record<string, Terms> = {
    ready: { verify: verify(['s']) },
    waiting: { verify: verify([]) },
    both: { verify: verify(['s']), auth: auth('both') },
    token: { verify: verify(['s']), auth: auth('token') },
    strict: { verify: verify([]), auth: auth('signature') },
  }
  const door = createDoors()(createSnapshot({ terms }))
  assert.deepEqual(
    ['ready', 'waiting', 'both', 'token', 'strict', 'other'].map((name) => door.entranceOf(name).auth),
    ['signature', 'token', 'both', 'token', 'signature', 'token'],
  )
})

test('what is derived is made once for a snapshot, however many names a catch-all takes', () => {
  let asked = 0
  const term = {
    policy: ':any',
    get value() {
      asked += 1
      return ['own']
    },
  }
  // Where several policies speak, terms are put together for every request anew.
  const joined: Snapshot = { ...createSnapshot(), termsOf: () => ({ token: term }) }
  const doorOf = createDoors()
  assert.equal(doorOf(joined), doorOf(joined))
  for (let number = 0; number < 5; number++) {
    assert.ok(doorOf(joined).entranceOf(`name-${number}`).findToken('own'))
  }
  assert.equal(asked, 1)
})
