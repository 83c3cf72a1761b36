import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Diagnostic } from './file/diagnostic.ts'
import { loadConfiguration } from './load.ts'
import { createSampleFolder } from './sample-folder.ts'

/** Returns errors and warnings. */
async function diagnostics(context: TestContext, rate: string): Promise<readonly Diagnostic[]> {
  const text = `hooks: { endpoints: { gh: { rate: ${rate} } } }\n`
  const folder = await createSampleFolder(context, { 'reveille.yaml': text })
  const loaded = await loadConfiguration({ file: folder.at('reveille.yaml'), env: {} })
  return loaded.ok ? loaded.configuration.warnings : loaded.diagnostics
}

test('a rate is a number of requests and a period of at most a day', async (context) => {
  for (const good of ['1/1s', '600/1m', '999999999/24h', '5/1d', '7/86400s']) {
    assert.deepEqual(await diagnostics(context, `{ endpoint: ${good} }`), [], good)
    assert.deepEqual(await diagnostics(context, `{ client: ${good} }`), [], good)
  }
  for (const bad of [
    '600',
    '0/1m',
    '600/0m',
    '600/m',
    '600/1w',
    '600/250ms',
    '-1/1m',
    '1.5/1m',
    '1e3/1m',
    '{}',
  ]) {
    const [found, ...others] = await diagnostics(context, `{ client: ${bad} }`)
    assert.equal(others.length, 0, bad)
    assert.equal(found?.code, 'INVALID_VALUE', bad)
    assert.match(found?.message ?? '', /`hooks\.endpoints\.gh\.rate\.client` must be .*600\/1m/, bad)
  }
  for (const long of ['600/2d', '600/25h', '600/86401s', '1/999999999d']) {
    const [found, ...others] = await diagnostics(context, `{ endpoint: ${long} }`)
    assert.equal(others.length, 0, long)
    assert.deepEqual(
      [found?.severity, found?.code, found?.place?.column],
      ['error', 'INVALID_VALUE', 47],
      long,
    )
    assert.match(found?.message ?? '', /rate\.endpoint` counts for longer than a day/, long)
  }
})

test('a rate for each client that the rate for all makes pointless is a warning', async (context) => {
  const pointless = ['100/1m, 100/1m', '100/1m, 200/1m', '100/1m, 100/1s', '10/1s, 600/1m', '10/7s, 100/1m']
  const sensible = ['100/1m, 99/1m', '100/1m, 1000/1h', '100/1m, 10/1s', '10/7s, 89/1m']
  for (const pair of [...pointless, ...sensible]) {
    const [endpoint, client] = pair.split(', ')
    const found = await diagnostics(context, `{ endpoint: ${endpoint}, client: ${client} }`)
    const codes = found.map(({ severity, code, message }) => [severity, code, message.split('`')[1]])
    const expected = [['warning', 'UNUSED_FIELD', 'hooks.endpoints.gh.rate.client']]
    assert.deepEqual(codes, pointless.includes(pair) ? expected : [], pair)
  }
})
