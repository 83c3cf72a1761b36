/** Tests `~/` in the paths of a configuration and of mapping files. */

import assert from 'node:assert/strict'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
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

test("a path that begins with ~/ is relative to the user's home folder", async (context) => {
  const folder = await createSampleFolder(context, files)
  const file = folder.at('etc/reveille.yaml')
  const loaded = await loadConfiguration({ file, env: { HOME: folder.at('home') } })
  assert.ok(loaded.ok, JSON.stringify(loaded))
  const { settings, mappings, tests, watched } = loaded.configuration
  const { gateway, hooks, plugins } = settings
  const folders = [gateway.dataDir, hooks.mappingsDir, hooks.transformsDir]
  const names = ['home/data', 'home/mappings', 'home/.openclaw/hooks/transforms']
  assert.deepEqual(folders, names.map(folder.at))
  assert.deepEqual(hooks.tokens, ['hook-4fK29sLq0ZpVx81mWnB7cRtY'])
  assert.deepEqual(plugins, [folder.at('home/plugins/pager'), '~nobody/pager'])
  assert.deepEqual(mappings[0]?.value.schema, { type: 'object' })
  assert.equal(tests[0]?.value.request.bodyText, '{"id": 7}')
  for (const file of ['secrets/token', 'bodies/order.json', 'mappings'])
    assert.ok(watched.includes(folder.at(`home/${file}`)), file)
  // Without HOME the home folder is the one that the system knows.
  const without = await loadConfiguration({ file, env: {} })
  assert.ok(!without.ok && without.watched.includes(join(homedir(), 'secrets/token')))
})
