/**
 * Tests that the runner of the kit's page passes the conformance suite, and serves a gateway that is given its
 * folder.
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { atEnd } from './at-end.ts'
import { createFolder, gatewayToken, hookToken, install } from './installation.ts'
import { filesOnPage, installKit, runOwnTests } from './page-plugin.ts'

const readme = await readFile(join(import.meta.dirname, '..', 'plugins/kit/README.md'), 'utf8')
const section = readme.split('### Writing a runner of your own')[1]?.split('\n## ')[0] ?? ''

/** The files that the page shows, in a folder that can import the kit. */
async function writeRunner(t: TestContext): Promise<string> {
  const names = ['package.json', 'config.schema.json', 'index.js', 'index.test.js']
  const folder = await createFolder(t, filesOnPage(section, 'butler', names))
  await installKit(folder)
  return join(folder, 'butler')
}

test('the runner of the page passes the conformance suite', async (t) => {
  const folder = await writeRunner(t)
  const stdout = await runOwnTests(t, folder)
  assert.match(stdout, /ok \d+ - answers a turn\n/)
})

test('a gateway that is given the folder of the runner runs the agent with it', async (t) => {
  const folder = await writeRunner(t)
  const service = createServer(async (request, response) => {
    const { messages } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    const isKnown = request.headers.authorization === 'Bearer butler-token-0123'
    response
      .writeHead(isKnown ? 200 : 401)
      .end(JSON.stringify({ text: `Very good: ${messages.length} so far.` }))
  })
  atEnd(t, async () => {
    service.closeAllConnections()
    await new Promise((resolve) => service.close(resolve))
  })
  await once(service.listen(0, '127.0.0.1'), 'listening')

  const [, shown = ''] = /^```yaml\n(.*?)^```$/ms.exec(section) ?? []
  const address = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const configuration = shown
    .replace('[./butler]', JSON.stringify([folder]))
    .replace('http://127.0.0.1:9000', address)
  const { post, ended } = await install(
    t,
    {
      'reveille.yaml': `${configuration}
gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { format: json } }
hooks: { enabled: true, token: ${hookToken} }
`,
    },
    { env: { BUTLER_TOKEN: 'butler-token-0123' } },
  )
  for (const messages of [1, 3]) {
    const { body } = await post('/hooks/agent', { message: 'Tea?', sessionKey: 'hook:tea', deliver: false })
    const run = await ended(body['runId'])
    assert.deepEqual([run.state, run.reply], ['succeeded', `Very good: ${messages} so far.`])
  }
})
