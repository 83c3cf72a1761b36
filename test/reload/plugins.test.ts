/** Tests that an edited plugin of a folder goes live without a restart, with all of its modules. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configuration, install } from '../installation.ts'

const manifest = JSON.stringify({
  name: 'parrot',
  type: 'module',
  exports: './index.ts',
  reveille: { kit: 1, runners: ['parrot'], configSchema: './config.schema.json' },
})
const index = `import { definePlugin } from '@reveille/kit'
import { word } from './word.ts'
export default definePlugin({
  name: 'parrot',
  setup: () => ({ runners: [{ id: 'parrot', run: async () => ({ reply: word as string }) }] }),
})
`

test('an edited plugin is read again, a broken one changes nothing, and a repaired one goes live', async (t) => {
  const { gateway, post, ended, write, board } = await install(t, {
    'reveille.yaml': configuration
      .replace('plugins: [', 'plugins: [./parrot, ')
      .replace('agents: {', 'agents: { defaults: { runner: parrot },'),
    'parrot/package.json': manifest,
    'parrot/config.schema.json': '{ "type": "object" }',
    'parrot/index.ts': index,
    'parrot/word.ts': 'export const word = "Hello"\n',
  })
  const said = async () => {
    const { body } = await post('/hooks/agent', { message: 'Say', deliver: true })
    await ended(body['runId'])
    return (await board()).at(-1)?.text
  }
  assert.equal(await said(), 'Hello')
  assert.equal((await gateway.reload()).outcome, 'unchanged')

  await write('parrot/word.ts', 'export const word = "Ahoy"\n')
  assert.equal((await gateway.reload()).outcome, 'live')
  assert.equal(await said(), 'Ahoy')

  await write('parrot/word.ts', 'throw new Error("no word")\nexport const word = ""\n')
  const refused = await gateway.reload()
  assert.equal(refused.outcome, 'rejected')
  assert.match(refused.diagnostics[0]?.message ?? '', /cannot be imported: .*parrot\/word\.ts:1:7: no word$/)
  assert.equal(await said(), 'Ahoy')

  await write('parrot/word.ts', 'export const word = "Land"\n')
  assert.equal((await gateway.reload()).outcome, 'live')
  assert.equal(await said(), 'Land')
})
