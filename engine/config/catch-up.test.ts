/** Tests which `catchUp` is refused, and that a delivery is remembered for as long as it may be caught up. */

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { countingRandomness } from '../compile/fixture.ts'
import { compileSnapshot } from '../index.ts'
import { loadConfiguration } from './load.ts'
import { createSampleFolder } from './sample-folder.ts'

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

const github = (catchUp: string) =>
  `{ verify: { provider: github, secret: ${secret} }, catchUp: { ${catchUp} } }`
const stripe = (catchUp: string) =>
  `{ verify: { provider: stripe, secret: ${secret} }, catchUp: { ${catchUp} } }`
const ofRepo = `repo: octo-org/harbour, hookId: 12345678, token: ${token}`

test('a webhook of a repository, of an organisation and of Stripe can be caught up', async (context) => {
  for (const endpoint of [
    github(ofRepo),
    github(`org: octo-org, hookId: "12345678", token: ${token}, every: 1m, lookBack: 1d`),
    github(`${ofRepo}, api: "https://github.example.com/api/v3"`),
    stripe(`hookId: we_1Qx2, token: ${token}, lookBack: 30d`),
  ])
    assert.deepEqual((await compile(context, endpoint)).diagnostics, [], endpoint)
})

test('a catch-up that cannot work is refused with the key and the rule', async (context) => {
  const cases: [string, RegExp][] = [
    [github(`${ofRepo}, lookBack: 4d`), /INVALID_VALUE `.*catchUp\.lookBack` is longer than 3d/],
    [stripe(`hookId: we_1, token: ${token}, lookBack: 31d`), /catchUp\.lookBack` is longer than 30d/],
    [github(`${ofRepo}, every: 10s`), /catchUp\.every` is shorter than 1m/],
    [github(`${ofRepo}, lookBack: 5m`), /catchUp\.lookBack` is not longer than `every` \(10m\)/],
    [github(`hookId: 1, token: ${token}`), /MISSING_KEY `.*catchUp\.repo` is missing/],
    [github(`${ofRepo}, org: octo-org`), /DUPLICATE_FIELD `.*catchUp\.org` stands beside `repo`/],
    [github(`repo: harbour, hookId: 1, token: ${token}`), /repo` must be a repository such as/],
    [github(`repo: a/b, hookId: we_1, token: ${token}`), /hookId` is not the id of a webhook of GitHub/],
    [stripe(`hookId: 1, token: ${token}`), /hookId` is not the id of a webhook endpoint of Stripe/],
    [stripe(`${ofRepo.replace('12345678', 'we_1')}`), /^warning UNUSED_FIELD .*repo` has no effect/],
    [github(`${ofRepo}, api: "http://github.example.com"`), /catchUp\.api` must be an https:/],
    [
      `{ verify: { provider: slack, secret: ${secret} }, catchUp: { ${ofRepo} } }`,
      /CATCH_UP_UNSUPPORTED .*must be `github` or `stripe`/,
    ],
    [`{ catchUp: { ${ofRepo} } }`, /CATCH_UP_UNSUPPORTED/],
  ]
  for (const [endpoint, expected] of cases) {
    const { diagnostics } = await compile(context, endpoint)
    assert.match(diagnostics[0] ?? 'nothing', expected)
    assert.equal(diagnostics.length, 1, diagnostics.join('\n'))
  }
})

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
