import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parserInPlace } from './parser.ts'
import { withoutSecrets } from './without-secrets.ts'

const shown = (text: string, kind: 'configuration' | 'mappings' = 'configuration') =>
  withoutSecrets({ kind, file: '/etc/reveille/reveille.yaml', text }, parserInPlace)

test('secrets of a configuration are hidden, and every other character stays where it was', async () => {
  const text = `# token: this is a comment
gateway: { port: 8787, auth: { token: "gateway-secret-1234" } }
hooks:
  token: \${REVEILLE_HOOK_TOKEN}
channels:
  slack:
    token: >-
      xoxb-first
      xoxb-second
    to: "#dev"
store: postgres://admin:hunter22@db/reveille
`
  const masked = text
    .replace('{ token: "gateway-secret-1234" }', '…')
    .replace('>-\n      xoxb-first\n      xoxb-second', '…\n      …\n      …')
    .replace('admin:hunter22', '…')
  assert.equal(await shown(text), masked)
})

test('in a mapping file only policies and what transforms are given hold secrets', async () => {
  const text = `endpoints:
  github: { verify: { provider: github, secret: "whsec-0123456789" } }
mappings:
  - id: a
    message: "The token: {{token}}"
    dedupe: { key: "{{id}}" }
    transform: { module: a.ts, with: { apiKey: "sk-0123456789", url: "\${URL}", password: "\${PW:-fallback-1}" } }
`
  const masked = await shown(text, 'mappings')
  for (const secret of ['whsec-0123456789', 'sk-0123456789', 'fallback-1'])
    assert.ok(!masked.includes(secret), masked)
  for (const kept of ['The token: {{token}}', 'key: "{{id}}"', 'url: "${URL}"', '${PW:-…}'])
    assert.ok(masked.includes(kept), masked)
  assert.equal(masked.split('\n').length, text.split('\n').length)
})

test('of a text that cannot be parsed, each line is searched by itself', async () =>
  assert.equal(await shown('token: abcdefgh\n{ [\n'), 'token: …\n{ [\n'))
