/** Tests which `catchUp` is refused, and that a delivery is remembered for as long as it may be caught up. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { countingRandomness } from '../compile/fixture.ts'
import { compileSnapshot } from '../index.ts'
import { createSampleFolder } from './folder-fixture.ts'
import { loadConfiguration } from './load.ts'

const secret = 'uG3jQ9dT5hE1oS6xAaVzP8yM'
const token = 'github_pat_11AAAA0000000000000000'

/** Returns code, line and message of each finding about this endpoint, and the snapshot if there is one. */
async function compile(context: TestContext, endpoint: string, mapping = '{ message: x }') {
  const folder = await createSampleFolder(context, {
    'reveille.yaml': `hooks:
  enabled: true
  token: p0Yt7RcB1WmX8vZq4LsK2fNd
  mappings: [${mapping}]
  endpoints:
    forge: ${endpoint}
`,
  })
  const loaded = await loadConfiguration({ file: folder.at('reveille.yaml'), env: {} })
  if (!loaded.ok) return { diagnostics: findingsOf(loaded.diagnostics) }
  const catalog = { channels: [], runners: ['echo'], relays: [] }
  const compiled = compileSnapshot(loaded.configuration, catalog, countingRandomness())
  if (!compiled.ok) return { diagnostics: findingsOf(compiled.diagnostics) }
  return { diagnostics: findingsOf(compiled.warnings), snapshot: compiled.snapshot }
}

function findingsOf(diagnostics: readonly { severity: string; code: string; message: string }[]) {
  assert.ok(!JSON.stringify(diagnostics).includes(token), 'the token is shown')
  return diagnostics.map(({ severity, code, message }) => `${severity} ${code} ${message}`)
}

const stripe = (catchUp: string) =>
  `{ verify: { provider: stripe, secret: ${secret} }, catchUp: { ${catchUp} } }`

test('a mapping that forgets sooner than is caught up is refused, and one that says nothing remembers for long enough', async (context) => {
  const endpoint = stripe(`hookId: we_1, token: ${token}, lookBack: 30d`)
  const problemOf = async (mapping: string) =>
    (await compile(context, endpoint, mapping)).diagnostics.join('\n')
  assert.match(
    await problemOf('{ id: m, message: x, dedupe: { window: 3d } }'),
    /^error DEDUPE_TOO_SHORT `dedupe\.window` of mapping "m": is shorter than 30d/,
  )
  assert.match(
    await problemOf('{ id: m, match: { path: forge }, message: x, dedupe: { enabled: false } }'),
    /^error DEDUPE_TOO_SHORT `dedupe\.enabled` of mapping "m": is false/,
  )
  assert.equal(await problemOf('{ message: x, dedupe: { key: "{{id}}", window: 30d } }'), '')
  assert.equal(
    await problemOf(
      '{ match: { path: other }, message: x, dedupe: { window: 1h } }, { match: { path: forge }, message: x }',
    ),
    '',
  )
  const { snapshot } = await compile(context, endpoint)
  assert.equal(snapshot?.effectivePolicyOf('forge')?.catchUp?.value, 30 * 86_400_000)
})
