/** Installs in a copy of this repository as after a clone: for a gateway first, and the rest while it runs. */

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..')

test('npm start installs what a gateway needs, and the next job adds the rest while it serves', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'reveille-clone-'))
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const { stdout: tracked } = await run('git', ['ls-files', '-z'], { cwd: root })
  for (const file of tracked.split('\0').filter(Boolean))
    await cp(path.join(root, file), path.join(folder, file))
  const installed = (name: string) => existsSync(path.join(folder, 'node_modules', name))
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env

  const gateway = spawn(process.execPath, ['tools/run.js', 'start', '--port', '0'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => gateway.kill('SIGKILL'))
  let said = ''
  gateway.stderr.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  let url: string | undefined
  for await (const line of createInterface({ input: gateway.stdout })) {
    url = /listens on (http:\S+)/.exec(line)?.[1]
    if (url !== undefined) break
  }
  if (url === undefined && /ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|ENOTCACHED/.test(said))
    return t.skip('npm cannot reach its registry')
  assert.ok(url, said)
  gateway.stdout.resume()
  assert.deepEqual(['fastify', 'ai', 'typescript', 'stripe'].map(installed), [true, true, false, false])

  const wake = async () => {
    const secrets = await readFile(path.join(folder, 'local/.env'), 'utf8')
    const token = /^REVEILLE_HOOK_TOKEN=(.+)$/m.exec(secrets)?.[1]
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = '{"text":"The doorbell rang"}'
    return (await fetch(`${url}/hooks/wake`, { method: 'POST', headers, body })).status
  }
  assert.equal(await wake(), 200)
  await run(process.execPath, ['tools/run.js', 'schemas'], { cwd: folder, env })
  assert.deepEqual(['typescript', 'stripe'].map(installed), [true, true])
  assert.equal(await wake(), 200)
  gateway.kill('SIGTERM')
  assert.deepEqual(await once(gateway, 'exit'), [0, null])
})
