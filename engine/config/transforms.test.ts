import assert from 'node:assert/strict'
import test from 'node:test'
import { createSampleFolder } from './folder-fixture.ts'
import { loadConfiguration } from './load.ts'
import { testLoads } from './load-fixture.ts'

testLoads(`
# a transform is called by its module's normalised name, and limits apply to all modules, or to one of them
hooks:⏎  transforms: { timeout: 2s, concurrency: 8, modules: { ./review.ts: { timeout: 1m, memoryMb: 512 } } }⏎  mappings: [{ transform: { module: ./a/../review.ts, export: pull } }] ⇒ { mappings: [{ value: { transform: { module: review.ts, export: pull } } }], settings: { hooks: { transforms: { defaults: { timeoutMs: 2000, memoryMb: 128, concurrency: 8 }, modules: { review.ts: { timeoutMs: 60000, memoryMb: 512 } } } } }, warnings: [] }
hooks: { reload: { requireTests: false, debounce: 1s, rest: 2s, poll: true } } ⇒ { settings: { hooks: { reload: { requireTests: false, debounceMs: 1000, restMs: 2000, poll: true } } } }

# known secrets are the values of keys that are named like secrets, from eight characters on
hooks:⏎  token: literal-hook-token-1⏎  mappings: [{ transform: { module: a.ts, with: { apiKey: literal-key, pin: { password: short, note: harmless text } } } }] ⇒ { secrets: [literal-hook-token-1, literal-key] }
`)

test('only transform.with of a mapping may refer to the environment and to files', async (context) => {
  const folder = await createSampleFolder(context, {
    'reveille.yaml': 'hooks: { token: "${HOOK_TOKEN}" }',
    'secrets/key': 'file-key-0123\n',
    'mappings/jira.yaml': `mappings:
  - id: jira
    match: { path: jira }
    message: "plain \${JIRA_TOKEN}"
    transform:
      module: jira.ts
      with:
        token: \${JIRA_TOKEN}
        url: https://\${JIRA_HOST:-jira.example}/api
        key: \${file:secrets/key}
        plain: $\${NOT}
        team: platform
        labels: [a, 2, { deep: "\${JIRA_TOKEN}" }]
        retries: 3
        strict: true
        none:
`,
  })
  const env = { JIRA_TOKEN: 'jira-token-0123', HOOK_TOKEN: '4fK29sLq0ZpVx81mWnB7cRtY' }
  const loaded = await loadConfiguration({ file: folder.at('reveille.yaml'), env })
  assert.ok(loaded.ok, JSON.stringify(loaded))
  const { mappings, secrets, sources, watched } = loaded.configuration
  const [jira] = mappings
  assert.deepEqual(JSON.parse(JSON.stringify(jira?.parameters)), {
    token: 'jira-token-0123',
    url: 'https://jira.example/api',
    key: 'file-key-0123',
    plain: '${NOT}',
    team: 'platform',
    labels: ['a', 2, { deep: 'jira-token-0123' }],
    retries: 3,
    strict: true,
    none: null,
  })
  assert.equal(jira?.value.message, 'plain ${JIRA_TOKEN}')
  assert.equal(jira?.value.transform?.with?.['token'], '${JIRA_TOKEN}', 'the mapping keeps the reference')
  assert.ok(Object.isFrozen(jira?.parameters?.['labels']))
  assert.ok(watched.includes(folder.at('secrets/key')), 'a change of the file is seen')
  assert.ok(!JSON.stringify([...sources]).includes('0123'), 'generations keep no value of a reference')
  assert.deepEqual([...secrets].sort(), ['4fK29sLq0ZpVx81mWnB7cRtY', 'file-key-0123', 'jira-token-0123'])
  const rotated = await loadConfiguration({
    file: folder.at('reveille.yaml'),
    env: { ...env, JIRA_TOKEN: 'jira-token-4567' },
  })
  assert.ok(rotated.ok)
  assert.notEqual(rotated.configuration.digest, loaded.configuration.digest)
})
