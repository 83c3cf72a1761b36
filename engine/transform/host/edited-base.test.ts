import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createServing } from './fixture.ts'

const base = { action: 'agent', message: 'm', name: 'Git' }

test('a transform that edits `base` and returns nothing fails, and any other edit is free', async (t) => {
  const { call } = await createServing(t, {
    'assigns.js': 'export default ({ base }) => { base.name = "Hub" }',
    'cycles.js': 'export default async ({ base }) => { base.self = base }',
    'returns.js': 'export default ({ base }) => { base.name = "Hub"; return base }',
    'sorts.js': 'export default ({ payload }) => { payload.list.sort() }',
    'copies.js': 'export default ({ base }) => { const own = { ...base }; own.name = "Hub" }',
    'nothing.js': 'export default () => {}',
  })
  const asked = { payload: { list: [2, 1] }, base }
  for (const module of ['assigns.js', 'cycles.js'])
    await assert.rejects(call(module, asked as never), /changed `base` and returned nothing/, module)
  for (const module of ['sorts.js', 'copies.js', 'nothing.js'])
    assert.deepEqual(await call(module, asked as never), await call('nothing.js', asked as never), module)
  const { action } = (await call('returns.js', asked as never)) as unknown as { action: { name: unknown } }
  assert.deepEqual(action.name, { value: 'Hub' })
})
