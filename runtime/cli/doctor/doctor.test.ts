import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLine } from '../io-fixture.ts'

test('a configuration that is well passes, and the report says of what', async (t) => {
  const { run } = await createCommandLine(t, { 'reveille.yaml': '{}\n' })
  const { code, out, err } = await run('doctor')
  assert.deepEqual({ code, err }, { code: 0, err: '' })
  assert.match(out, /✓ it loads: 0 mappings/)
})

test('without a configuration it is bad usage', async (t) => {
  const { run } = await createCommandLine(t, {})
  const { code, err } = await run('doctor')
  assert.equal(code, 2)
  assert.match(err, /^There is no reveille\.yaml in this folder/)
})
