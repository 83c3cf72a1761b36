/** Tests the key of an action whose mapping sets none: the id that the provider gives its delivery. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { answering, dayMs, dedupesOf, deduping, keysOf } from '../../compile/dedupe-fixture.ts'
import { type Fixture, type Mapping, requestOf, snapshotOf } from '../../compile/fixture.ts'
import type { Decision } from '../model/decision.ts'

const github: Fixture = { endpoints: { test: { verify: { provider: 'github' } } } }
const delivery = { headers: { 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958' } }
const guid = delivery.headers['x-github-delivery']

async function ofGithub(mapping: Mapping, more: Fixture = {}, request = delivery): Promise<Decision> {
  const snapshot = snapshotOf([mapping], { ...github, ...more })
  return snapshot.resolve(requestOf({ items: ['a', 'b'], id: 'own' }, request))
}

test('without a key, the delivery id counts for as long as its provider may send the delivery again', async () => {
  const [dedupe] = dedupesOf(await ofGithub({ message: 'x' }))
  assert.equal(dedupe?.key, guid)
  assert.ok(dedupe && dedupe.windowMs >= dayMs)
  const own = await ofGithub(deduping('id'))
  assert.deepEqual(dedupesOf(own), [{ ...dedupe, key: 'own' }])
  const short = { enabled: true, windowMs: 5 }
  assert.deepEqual(dedupesOf(await ofGithub({ message: 'x', dedupe: short })), [{ ...dedupe, windowMs: 5 }])
  assert.deepEqual(keysOf(await ofGithub({ message: 'x', dedupe: { enabled: false } })), [undefined])
  assert.deepEqual(keysOf(await ofGithub({ message: 'x' }, {}, { headers: {} as never })), [undefined])
})

test('what may be caught up is remembered for as long as that', async () => {
  const catchUp = { repo: 'a/b', hookId: 1, token: 't', every: '10m', lookBack: '3d' }
  const endpoints = { test: { verify: { provider: 'github' }, catchUp } }
  const [dedupe] = dedupesOf(await ofGithub({ message: 'x' }, { endpoints }))
  assert.equal(dedupe?.windowMs, 3 * dayMs)
})

test('actions of one delivery have different keys by their positions', async () => {
  assert.deepEqual(keysOf(await ofGithub({ message: 'x', forEach: 'items' })), [
    `["${guid}",0]`,
    `["${guid}",1]`,
  ])
  const transforms = answering({}, {})
  const made = await ofGithub(
    { message: 'x', transform: { module: 'a.ts' }, forEach: 'items' },
    { transforms },
  )
  assert.equal(new Set(keysOf(made)).size, 4)
  const one = await ofGithub({ message: 'x', transform: { module: 'a.ts' } }, { transforms })
  assert.deepEqual(keysOf(one), [guid, `["${guid}",1]`])
})

test('explain names the policy that the delivery id comes from, and says if there is none', async () => {
  const explain = async (headers: Record<string, string>) => {
    const { actions } = await snapshotOf([{ message: 'x' }], github).explain(requestOf({}, { headers }))
    return actions[0]?.fields.find(({ field }) => field === 'dedupe.key')
  }
  const value = guid
  const sources = [{ path: 'endpoints.test.verify', value: `"${guid}"` }]
  assert.deepEqual(await explain(delivery.headers), { field: 'dedupe.key', value, from: 'default', sources })
  assert.equal((await explain({}))?.value, 'nothing, so every request counts')
})
