/** Tests `~/` in the paths of a configuration and of mapping files. */

import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createSampleFolder } from './folder-fixture.ts'
import { loadConfiguration } from './load.ts'

const files = {
  'etc/reveille.yaml': `gateway: { dataDir: ~/data }
hooks:
  token: "\${file:~/secrets/token}"
  mappingsDir: ~/mappings
  transformsDir: "~/.openclaw/hooks/transforms"
plugins: ["~/plugins/pager", "~nobody/pager"]
`,
  'home/secrets/token': 'hook-4fK29sLq0ZpVx81mWnB7cRtY\n',
  'home/bodies/order.json': '{"id": 7}',
  'home/bodies/order.schema.json': '{"type": "object"}',
  'home/mappings/orders.yaml': `mappings:
  - { id: order, match: { path: orders }, schema: ~/bodies/order.schema.json, message: "{{id}}" }
tests:
  - request: { endpoint: orders, bodyFile: ~/bodies/order.json }
    expect: { action: agent }
`,
} as const

async function load(context: TestContext, env: (home: string) => Record<string, string>) {
  const folder = await createSampleFolder(context, files)
  const file = folder.at('etc/reveille.yaml')
  return { folder, loaded: await loadConfiguration({ file, env: env(folder.at('home')) }) }
}

test("a path that begins with ~/ is relative to the user's home folder", async (context) => {
  const { folder, loaded } = await load(context, (HOME) => ({ HOME }))
  assert.ok(loaded.ok, JSON.stringify(loaded))
  const { settings, mappings, tests, watched } = loaded.configuration
  assert.deepEqual(
    [settings.gateway.dataDir, settings.hooks.transformsDir, settings.hooks.mappingsDir],
    [folder.at('home/data'), folder.at('home/.openclaw/hooks/transforms'), folder.at('home/mappings')],
  )
  assert.deepEqual(settings.hooks.tokens, ['hook-4fK29sLq0ZpVx81mWnB7cRtY'])
  assert.deepEqual(settings.plugins, [folder.at('home/plugins/pager'), '~nobody/pager'])
  assert.deepEqual(mappings[0]?.value.schema, { type: 'object' })
  assert.equal(tests[0]?.value.request.bodyText, '{"id": 7}')
  for (const file of ['secrets/token', 'bodies/order.json', 'mappings'])
    assert.ok(watched.includes(folder.at(`home/${file}`)), file)
})

test('without HOME the home folder is the one that the system knows', async (context) => {
  const { loaded } = await load(context, () => ({}))
  assert.ok(!loaded.ok)
  assert.ok(loaded.watched.includes(join(homedir(), 'secrets/token')))
})
