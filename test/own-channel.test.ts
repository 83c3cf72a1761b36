/**
 * Tests that the channel of its page passes the conformance suite, and delivers for a gateway that is given its
 * folder.
 */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { FakeVendor } from '../plugins/kit/fake-server/index.ts'
import { createCommandLine } from '../runtime/cli/io-fixture.ts'
import { atEnd } from './at-end.ts'
import { createFolder, gatewayToken, hookToken, install, until } from './installation.ts'
import { filesOnPage, installKit, runOwnTests } from './page-plugin.ts'

const root = join(import.meta.dirname, '..')
const page = await readFile(join(root, 'docs/writing-a-channel.md'), 'utf8')

/** The files that the page shows, and no others. */
async function writeChannel(t: TestContext): Promise<string> {
  const names = ['package.json', 'config.schema.json', 'index.js', 'fake-server.js', 'index.test.js']
  return join(await createFolder(t, filesOnPage(page, 'crier', names)), 'crier')
}

/** Starts the page's own service, in a copy beside the kit, with the configuration that the page shows. */
async function openCrier(t: TestContext, folder: string) {
  const copy = await writeChannel(t)
  await installKit(copy)
  const { openVendor } = await import(pathToFileURL(join(copy, 'fake-server.js')).href)
  const crier: FakeVendor = await openVendor()
  atEnd(t, () => crier.close())
  const [, shown = ''] = /^```yaml\n(.*?)^```$/ms.exec(page) ?? []
  const configuration = shown
    .replace('[./crier]', JSON.stringify([folder]))
    .replace('{ token:', `{ baseUrl: "${crier.url}", token:`)
  return { crier, configuration, env: { CRIER_TOKEN: crier.secrets[0] ?? '' } }
}

test('the channel of the page passes the conformance suite', async (t) => {
  const folder = await writeChannel(t)
  await installKit(folder)
  const stdout = await runOwnTests(t, folder)
  const skipped = [...stdout.matchAll(/- (.*) # SKIP/g)].map(([, name]) => name)
  assert.deepEqual(skipped, ['writes into the thread of the address'])
})

test('a gateway delivers through the channel, given its folder alone and no kit', async (t) => {
  const folder = await writeChannel(t)
  const { crier, configuration, env } = await openCrier(t, folder)
  const { post, ended, read } = await install(
    t,
    {
      'reveille.yaml': `${configuration}
gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { format: json } }
hooks: { enabled: true, token: ${hookToken} }
`,
    },
    { env },
  )
  const { body } = await post('/hooks/agent', { message: 'Tea for @mayor!', channel: 'crier' })
  await ended(body['runId'])
  const [message, ...others] = crier.messages
  assert.equal(message?.to, 'market')
  assert.ok(message?.text.replaceAll('\u2060', '').includes('Tea for @mayor!'))
  assert.deepEqual([others, crier.pings], [[], []])

  // A refused message is reported, and waits until the cause is fixed.
  crier.always({ kind: 'answer', answer: crier.refusals.forbidden })
  const refused = await post('/hooks/agent', { message: 'Tea!', channel: 'crier', to: '#harbour' })
  const parked = await until(async () => {
    const { items } = await read<{ items: readonly Record<string, unknown>[] }>('/api/deliveries')
    return items.find(({ runId, state }) => runId === refused.body['runId'] && state === 'parked')
  }, 'a parked delivery')
  assert.match(JSON.stringify(parked), /The crier answered with 403 \(gagged\)\./)
})

test('`reveille check` accepts its configuration, and names the mistakes in another', async (t) => {
  const folder = await writeChannel(t)
  const { configuration, env } = await openCrier(t, folder)
  const { run, write } = await createCommandLine(
    t,
    { 'reveille.yaml': `${configuration}\nhooks: { enabled: true, token: hook-token }\n` },
    { env },
  )
  const good = await run('check')
  assert.equal(good.code, 0, good.err)
  await write('reveille.yaml', configuration.replace('#market', 'the market'))
  const bad = await run('check')
  assert.equal(bad.code, 1)
  assert.match(bad.out + bad.err, /channels\.crier\.defaultTo is no address\./)
})
