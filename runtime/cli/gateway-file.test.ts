/** Tests how a command finds the gateway that runs on a data folder, even if the files name another address by now. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, chown, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { configuration, gatewayToken, install } from '../../test/installation.ts'
import { createCommandLine } from './io-fixture.ts'

const limit = { timeout: 20_000 }

async function createBench(t: TestContext) {
  const installed = await install(t, {})
  const url = await installed.gateway.listen()
  const { run } = await createCommandLine(t, {}, { cwd: installed.folder, fetch, now: Date.now })
  const file = path.join(installed.folder, 'data', 'gateway.json')
  const read = async () => JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>
  return { ...installed, url, run, file, read }
}

/** A server that notes the tokens that it was sent. */
async function createForeignServer(t: TestContext) {
  const shown: (string | undefined)[] = []
  const server = createServer((request, response) => {
    shown.push(request.headers.authorization)
    response.writeHead(500).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return { shown, address: `http://127.0.0.1:${(server.address() as { port: number }).port}` }
}

test(
  'a gateway writes its address into a file for its user, and removes the file when it closes',
  limit,
  async (t) => {
    const { gateway, url, file, read } = await createBench(t)
    const { address, pid, startedAt, configured, ...rest } = await read()
    assert.deepEqual([address, pid, configured, rest], [url, process.pid, '127.0.0.1:0', {}])
    assert.ok(Number(startedAt) > Date.now() - 60_000)
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    await gateway.close({ graceMs: 0 })
    await assert.rejects(stat(file))
  },
)

test(
  'after `gateway.port` was changed, commands reach the running gateway and say that a restart is due',
  limit,
  async (t) => {
    const { run, write, url, folder } = await createBench(t)
    await write('reveille.yaml', configuration.replace('port: 0', 'port: 1').replaceAll('{folder}', folder))
    const due = `The gateway runs at ${url}, and reveille.yaml says http://127.0.0.1:1: a restart is due`
    const status = await run('status')
    assert.deepEqual([status.code, status.err], [0, `${due}.\n`])
    assert.match(status.out, new RegExp(`^address +${url}$`, 'm'))
    const reload = await run('reload')
    assert.deepEqual([reload.code, reload.err], [0, `${due}.\n`])
    assert.match(reload.out, /restart needed for gateway\.port/)
    const doctor = await run('doctor')
    assert.match(doctor.out, new RegExp(`! answers +${due} \\[RESTART_DUE\\]\n +→ Restart it`))
    assert.match(doctor.out, new RegExp(`✓ answers +at ${url}\n`))
  },
)

test('the file that a killed gateway left behind is recognised as stale', limit, async (t) => {
  const { run, file, gateway, read, write } = await createBench(t)
  const left = await read()
  await gateway.close({ graceMs: 0 })
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  await write('reveille.yaml', configuration.replace('port: 0', 'port: 1'))
  await writeFile(file, JSON.stringify({ ...left, pid }), { mode: 0o600 })
  const message = 'No gateway answers at http://127.0.0.1:1. Is it running?'
  assert.deepEqual(await run('status'), { code: 1, out: '', err: `${message}\n` })
  // The number of its process may be given again, but not before the machine was started.
  await writeFile(file, JSON.stringify({ ...left, startedAt: 1 }))
  assert.equal((await run('status')).err, `${message}\n`)
})

test(
  'the token is not sent where a file leads that another user may have written, or to another machine',
  limit,
  async (t) => {
    const { run, file, gateway, read } = await createBench(t)
    const outsider = await createForeignServer(t)
    const left = await read()
    await gateway.close({ graceMs: 0 })
    const status = async (facts: object) => {
      await writeFile(file, JSON.stringify({ ...left, ...facts }), { mode: 0o600 })
      return (await run('status')).err.replaceAll('\n', ' ')
    }
    await writeFile(file, '{}')
    await chmod(file, 0o644)
    assert.match(
      await status({ address: outsider.address }),
      /data\/gateway\.json is not trusted: it is open to other users\./,
    )
    await chmod(file, 0o600)
    if (process.getuid?.() === 0) {
      await chown(file, 4321, 4321)
      assert.match(
        await status({ address: outsider.address }),
        /it belongs to another user than the data folder\./,
      )
      await chown(file, 0, 0)
    }
    assert.match(
      await status({ address: 'http://192.0.2.1:80' }),
      /it leads to another machine than `gateway\.host` names\./,
    )
    assert.equal(outsider.shown.length, 0)
    await status({ address: outsider.address })
    assert.ok(
      outsider.shown.includes(`Bearer ${gatewayToken}`),
      'the same file, owner and mode as they should be',
    )

    await rm(file)
    if (spawnSync('mkfifo', ['-m', '600', file]).status !== 0) return t.diagnostic('there is no mkfifo here')
    assert.equal((await run('status')).code, 1, 'it does not wait for a pipe in the place of the file')
  },
)

test('a token that the gateway has not read yet is refused with what to do about it', limit, async (t) => {
  const { run, write, url, folder } = await createBench(t)
  const text = configuration.replaceAll('{folder}', folder)
  await write('reveille.yaml', text.replace(gatewayToken, `${gatewayToken}-new`))
  const { code, err } = await run('reload')
  assert.equal(code, 1)
  assert.equal(
    err,
    `The gateway at ${url} refused the token from gateway.auth.token of ${path.join(folder, 'reveille.yaml')}. ` +
      `If the token was changed since the gateway read its files, \`kill -HUP ${process.pid}\` has it read them; or show it the old one: ` +
      `\`REVEILLE_URL=${url} REVEILLE_GATEWAY_TOKEN=OLD reveille reload\`.\n`,
  )
  assert.match((await run('doctor')).out, new RegExp(`\\[ADMIN_TOKEN_REFUSED\\]\n.*kill -HUP ${process.pid}`))
})
