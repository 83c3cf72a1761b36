/** Tests that mistakes in `catchUp`, which the plugins of the providers find, are reported by `check` where they are written. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'

const secret = 'uG3jQ9dT5hE1oS6xAaVzP8yM'
const token = 'github_pat_11AAAA0000000000000000'
const github = `verify: { provider: github, secret: ${secret} }`
const stripe = `verify: { provider: stripe, secret: ${secret} }`
const line = '    forge: { '

/** `§` is where the finding is, and what follows `=>` is in its message. */
const table = `
ok                ${github}, catchUp: { repo: octo-org/harbour, hookId: 12345678, token: ${token} }
ok                ${github}, catchUp: { org: octo-org, hookId: "12345678", token: ${token}, every: 1m, lookBack: 1d }
ok                ${github}, catchUp: { repo: a/b, hookId: 1, token: ${token}, api: "https://github.example.com/api/v3" }
ok                ${stripe}, catchUp: { hookId: we_1Qx2, token: ${token}, lookBack: 30d }
PLUGIN_CONFIG     ${github}, catchUp: { repo: a/b, hookId: 1, token: ${token}, lookBack: §4d } => lookBack is longer than 3d
PLUGIN_CONFIG     ${stripe}, catchUp: { hookId: we_1, token: ${token}, lookBack: §31d } => lookBack is longer than 30d
PLUGIN_CONFIG     ${github}, catchUp: { repo: §harbour, hookId: 1, token: ${token} } => must be a repository such as
PLUGIN_CONFIG     ${github}, catchUp: { repo: a/b, hookId: §we_1, token: ${token} } => must be the id of a webhook of GitHub
PLUGIN_CONFIG     ${stripe}, catchUp: { hookId: §1, token: ${token} } => must be
PLUGIN_CONFIG     ${stripe}, catchUp: { repo: §a/b, hookId: we_1, token: ${token} } => repo is not a known key
PLUGIN_CONFIG     ${github}, catchUp: { repo: a/b, hookId: 1, token: ${token}, api: §"http://github.example.com" } => must be an https:
PLUGIN_CONFIG     ${github}, catchUp: §{ repo: a/b, hookId: 1 } => token is required
PLUGIN_SETUP      ${github}, catchUp: §{ hookId: 1, token: ${token} } => Write \`repo: OWNER/NAME\`
PLUGIN_SETUP      ${github}, catchUp: { repo: a/b, org: §octo-org, hookId: 1, token: ${token} } => is given beside \`repo\`
PLUGIN_MISSING    verify: { provider: slack, secret: ${secret} }, catchUp: §{ repo: a/b, hookId: 1, token: ${token} } => no list of what was sent
`

for (const row of table.trim().split('\n')) {
  const [, expected = '', rest = ''] = /^(\S+) +(.*)$/.exec(row) ?? []
  const [marked = '', message = ''] = rest.split(' => ')
  test(`${expected}: ${rest}`, async (t) => {
    const { run } = await createCommandLine(t, {
      'reveille.yaml': `hooks:
  enabled: true
  token: p0Yt7RcB1WmX8vZq4LsK2fNd
  mappings: [{ message: x }]
  endpoints:
${line}${marked.replace('§', '')} }
`,
    })
    const { out } = await run('check', '--json')
    assert.ok(!out.includes(token), 'the token is shown')
    const { diagnostics } = JSON.parse(out)
    const found = diagnostics.filter(({ severity }: { severity: string }) => severity === 'error')
    if (expected === 'ok') return assert.deepEqual(found, [])
    const [{ code, place, message: text }] = found
    assert.deepEqual(
      [found.length, code, place.line, place.column],
      [1, expected, 6, line.length + marked.indexOf('§') + 1],
      out,
    )
    assert.ok(text.includes(message), text)
  })
}
