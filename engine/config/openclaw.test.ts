import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { loadGood as load, testLoads } from './load-fixture.ts'

/** Loads a configuration where one preset is shipped. */
const loadGood = (context: TestContext, text: string) =>
  load(context, { 'reveille.yaml': text, 'shipped/gmail.yaml': gmail })

const gmail =
  'mappings:\n  - id: gmail-message\n    match: { path: gmail }\n    message: "{{messages[0].subject}}"\n'

testLoads(`
# keys of OpenClaw that ask for the default behaviour load without a warning, and have no effect
hooks: { defaultSessionKey: " hook:ingress ", allowRequestSessionKey: true, allowedSessionKeyPrefixes: ["hook:"], allowedAgentIds: ["*", main] } ⇒ { warnings: [], settings: { hooks: { defaultSessionKey: 'hook:ingress', allowRequestSessionKey: true, allowedAgentIds: ['*', main] } } }
hooks: { mappings: [{ message: x, agentId: Main, sessionMode: persistent, sessionKey: "hook:x" }] } ⇒ { warnings: [], mappings: [{ value: { agentId: null, sessionMode: null, sessionKey: 'hook:x' } }] }
hooks: { defaultSessionKey: a, mappings: [{ message: x, sessionMode: isolated }, { message: x, busy: reject }] } ⇒ { warnings: [], mappings: [{ value: { sessionMode: null } }, { value: { busy: reject } }] }
`)

test('comments of JSON5 are recognised between brackets and around them, also in lists of texts', async (context) => {
  const text = `// ~/.openclaw/openclaw.json
{
  hooks: {
    // about the path
    path: "/hooks", // with a slash
    token: [
      // newest first
      "new-9f2c77b1e04d4a6c8e35", "old-9f2c77b1e04d4a6c8e35" ],
    allowedSessionKeyPrefixes: [
      // ours
      "hook:" ],
    presets: [ // mail
      "gmail" ],
    mappings: [ /* one */ { match: { headers: { x-a: [ // any
      "b", "c" ] } }, message: "see // this" } ],
  },
  agents: { defaults: { models: [ // cheap
    "openai/gpt-5-mini" ] } }
}
/* the end */
`
  const { settings, mappings, warnings } = await loadGood(context, text)
  assert.deepEqual(warnings, [])
  const { tokens, allowedSessionKeyPrefixes } = settings.hooks
  assert.deepEqual(tokens, ['new-9f2c77b1e04d4a6c8e35', 'old-9f2c77b1e04d4a6c8e35'])
  assert.deepEqual(allowedSessionKeyPrefixes, ['hook:'])
  assert.deepEqual(settings.agents.defaults.models?.allowed, ['openai/gpt-5-mini'])
  assert.deepEqual(
    mappings.map(({ id, value: { match, message } }) => [
      id,
      match?.headers?.['x-a'] ?? match?.path,
      message,
    ]),
    [
      ['reveille.yaml#1', ['b', 'c'], 'see // this'],
      ['gmail-message', 'gmail', '{{messages[0].subject}}'],
    ],
  )
})
