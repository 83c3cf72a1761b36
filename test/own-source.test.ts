/**
 * Tests that the source of the kit's page passes the conformance suite, and feeds a gateway that is given its folder.
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { RunRecord } from '../runtime/store/port.ts'
import { atEnd } from './at-end.ts'
import { createFolder, gatewayToken, hookToken, install, until } from './installation.ts'
import { filesOnPage, installKit, runOwnTests } from './page-plugin.ts'

const readme = await readFile(join(import.meta.dirname, '..', 'plugins/kit/README.md'), 'utf8')
const section = readme.split('### Writing a source of your own')[1]?.split('\n## ')[0] ?? ''

/** The files that the page shows, in a folder that can import the kit. */
async function writeSource(t: TestContext): Promise<string> {
  const names = ['package.json', 'config.schema.json', 'index.js', 'index.test.js']
  const folder = await createFolder(t, filesOnPage(section, 'tides', names))
  await installKit(folder)
  return join(folder, 'tides')
}

/** A service that gives warnings to callers with the token. */
async function openTides(t: TestContext) {
  const warnings: { number: number; text: string }[] = []
  const service = createServer((request, response) => {
    const after = Number(new URL(request.url ?? '', 'http://tides').searchParams.get('after'))
    const isKnown = request.headers.authorization === 'Bearer tides-token-0123'
    response
      .writeHead(isKnown ? 200 : 401)
      .end(JSON.stringify(warnings.filter(({ number }) => number > after)))
  })
  atEnd(t, async () => {
    service.closeAllConnections()
    await new Promise((resolve) => service.close(resolve))
  })
  await once(service.listen(0, '127.0.0.1'), 'listening')
  return { warnings, url: `http://127.0.0.1:${(service.address() as AddressInfo).port}/warnings` }
}

test('the source of the page passes the conformance suite', async (t) => {
  const folder = await writeSource(t)
  const stdout = await runOwnTests(t, folder)
  assert.match(stdout, /ok \d+ - reports that it works, and posts events\n/)
})

test('a gateway that is given the folder of the source runs it, and each event causes one run', async (t) => {
  const folder = await writeSource(t)
  const { warnings, url } = await openTides(t)
  warnings.push({ number: 1, text: 'High water at noon' }, { number: 2, text: 'Storm surge' })

  const [, shown = ''] = /^```yaml\n(.*?)^```$/ms.exec(section) ?? []
  const configuration = shown
    .replace('[./tides]', JSON.stringify([folder]))
    .replace('http://127.0.0.1:9000/warnings', url)
    .replace('}" } }', '}", everySeconds: 1 } }')
    .replace('hooks:\n', `hooks:\n  enabled: true\n  token: ${hookToken}\n`)
  const installed = await install(
    t,
    {
      'reveille.yaml': `${configuration}
gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { format: json } }
`,
    },
    { env: { TIDES_TOKEN: 'tides-token-0123' } },
  )
  const arrived = (count: number) =>
    until(async () => {
      const { items } = await installed.read<{ items: { id: string }[] }>('/api/runs')
      const runs = await Promise.all(items.map(({ id }) => installed.read<RunRecord>(`/api/runs/${id}`)))
      const replies = runs.flatMap(({ kind, state, reply }) =>
        kind === 'run' && state === 'succeeded' ? [String(reply)] : [],
      )
      return replies.length >= count ? replies : undefined
    }, `the replies of ${count} runs`)
  assert.equal((await arrived(2)).length, 2)
  await installed.line('source-working')
  warnings.push({ number: 3, text: 'Low water at six' })
  const all = await arrived(3)
  for (const text of ['High water at noon', 'Storm surge', 'Low water at six'])
    assert.equal(all.filter((reply) => reply.includes(text)).length, 1, text)
  assert.equal(all.length, 3)
  assert.doesNotMatch(installed.log(), /tides-token-0123/)
})
