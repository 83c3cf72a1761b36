/** Tests what `try` and `explain` show of the key by which a request counts once. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLine } from '../../io-fixture.ts'

const files = {
  'reveille.yaml': `hooks:
  enabled: true
  token: of-the-hooks
  endpoints: { github: { verify: { provider: github } } }
  mappings:
    - { id: pushed, match: { path: github }, message: "{{ref}}" }
    - { id: mail, match: { path: mail }, action: wake, text: "x", dedupe: { key: "id & '/' & token", window: 2h } }
`,
  'body.json': '{"ref": "main", "id": "m1", "token": "of-the-sender"}',
}
const delivered = ['github', '--payload', 'body.json', '--header', 'X-GitHub-Delivery: 72d3162e']

test('try shows the key, how long it is remembered, and whether the sender chose it', async (t) => {
  const { run } = await createCommandLine(t, files)
  const { out } = await run('try', ...delivered)
  assert.match(out, /^dedupe\n {2}key +72d3162e\n {2}window +3d\n(?! )/m)
  const given = ['--payload', 'agent.json', '--header', 'Idempotency-Key: "k1"']
  const { run: runGiven } = await createCommandLine(t, { ...files, 'agent.json': '{"message": "x"}' })
  const { out: output } = await runGiven('try', 'agent', ...given)
  assert.match(output, /^dedupe\n {2}key +k1\n {2}window +24h\n {2}chosen +by the sender\n/m)
})

test('explain says where the key comes from, or that there is none, and shows no secret', async (t) => {
  const { run } = await createCommandLine(t, files)
  const ofPolicy = /^ {2}dedupe\.key +default +72d3162e {2}← endpoints\.github\.verify$/m
  assert.match((await run('explain', ...delivered)).out, ofPolicy)
  const without = await run('explain', 'github', '--payload', 'body.json')
  assert.match(without.out, /^ {2}dedupe\.key +default +nothing, so every request counts$/m)
  assert.match(
    (await run('explain', 'mail', '--payload', 'body.json')).out,
    /^ {2}dedupe\.key +expression +m1\/…$/m,
  )
})
