import assert from 'node:assert/strict'
import test from 'node:test'
import { loadGood, testLoads } from './load-fixture.ts'

testLoads(`
# a transform is called by its module's normalised name, and limits apply to all modules, or to one of them
hooks:⏎  transforms: { timeout: 2s, concurrency: 8, modules: { ./review.ts: { timeout: 1m, memoryMb: 512 } } }⏎  mappings: [{ transform: { module: ./a/../review.ts, export: pull } }] ⇒ { mappings: [{ value: { transform: { module: review.ts, export: pull } } }], settings: { hooks: { transforms: { defaults: { timeoutMs: 2000, memoryMb: 128, concurrency: 8 }, modules: { review.ts: { timeoutMs: 60000, memoryMb: 512 } } } } }, warnings: [] }
hooks: { reload: { requireTests: false, debounce: 1s, rest: 2s, poll: true } } ⇒ { settings: { hooks: { reload: { requireTests: false, debounceMs: 1000, restMs: 2000, poll: true } } } }

# known secrets are the values of keys that are named like secrets, from eight characters on
hooks:⏎  token: literal-hook-token-1⏎  mappings: [{ transform: { module: a.ts, with: { apiKey: literal-key, pin: { password: short, note: harmless text } } } }] ⇒ { secrets: [literal-hook-token-1, literal-key] }

# only transform.with of a mapping may refer to the environment and to files, whose values are secrets; the mapping keeps the references
hooks: { token: "\${HOOK_TOKEN}" } || key.txt: file-key-0123 || mappings/jira.yaml: mappings: [{ id: jira, match: { path: jira }, message: "plain \${JIRA_TOKEN}", transform: { module: jira.ts, with: { token: "\${JIRA_TOKEN}", url: "https://\${JIRA_HOST:-jira.example}/api", key: "\${file:key.txt}", plain: "$\${NOT}", team: platform, labels: [a, 2, { deep: "\${JIRA_TOKEN}" }], retries: 3, strict: true, none: } } }] @ { JIRA_TOKEN: jira-token-0123, HOOK_TOKEN: 4fK29sLq0ZpVx81mWnB7cRtY } ⇒ { secrets: [4fK29sLq0ZpVx81mWnB7cRtY, jira-token-0123, file-key-0123], mappings: [{ parameters: { token: jira-token-0123, url: 'https://jira.example/api', key: file-key-0123, plain: '\${NOT}', team: platform, labels: [a, 2, { deep: jira-token-0123 }], retries: 3, strict: true, none: null }, value: { message: 'plain \${JIRA_TOKEN}', transform: { with: { token: '\${JIRA_TOKEN}' } } } }] }
`)

test('a value of a reference is watched and frozen, part of the digest, and in no source of a generation', async (context) => {
  const files = {
    'reveille.yaml': 'hooks: {}\n',
    key: 'key-0123\n',
    'mappings/a.yaml':
      'mappings: [{ message: x, transform: { module: a.ts, with: { keys: ["${file:key}", "${A}"] } } }]\n',
  }
  const { mappings, sources, watched, digest, folder } = await loadGood(context, files, { A: 'a-0123' })
  assert.ok(Object.isFrozen(mappings[0]?.parameters?.['keys']))
  assert.ok(watched.includes(folder.at('key')))
  assert.ok(!JSON.stringify([...sources]).includes('0123'))
  assert.notEqual((await loadGood(context, files, { A: 'a-4567' })).digest, digest)
})
