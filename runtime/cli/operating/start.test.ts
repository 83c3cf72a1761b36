import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { atEnd } from '../../../test/at-end.ts'
import { build } from '../../../test/process/reveille-process.ts'
import { scaffold } from '../../scaffold/scaffold.ts'

before(build)

/** Starts the scaffolded gateway on a free port, as a process that ends with the test. */
async function startGateway(t: TestContext, more: readonly string[] = []) {
  const cwd = await mkdtemp(path.join(tmpdir(), 'reveille-start-'))
  atEnd(t, () => rm(cwd, { recursive: true, force: true }))
  const folder = path.join(cwd, 'local')
  const file = path.join(folder, 'reveille.yaml')
  await scaffold(folder)
  await writeFile(file, (await readFile(file, 'utf8')).replace('port: 8787', 'port: 0'))

  const { REVEILLE_HOOK_TOKEN: _hook, REVEILLE_GATEWAY_TOKEN: _gateway, ...env } = process.env
  const words = ['start', '--init', '--config', 'local/reveille.yaml', ...more]
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  const child = spawn(process.execPath, [await build(), ...words], { cwd, env, stdio: [...stdio] })
  const ended = once(child, 'close')
  // The process writes until it ends, into the folder that is removed next.
  atEnd(t, () => {
    child.kill('SIGKILL')
    return ended
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    out += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    err += chunk
  })
  /** Resolves as soon as standard output holds `expected`. */
  async function shown(expected: RegExp): Promise<string> {
    while (!expected.test(out)) {
      const [reason] = await Promise.race([once(child.stdout, 'data'), ended.then(() => ['ended'])])
      if (reason === 'ended') assert.fail(`It ended without showing ${expected}:\n${out}\n${err}`)
    }
    return out
  }
  return { cwd, folder, shown, output: () => out + err }
}

test('each line that the banner offers works when it is pasted, and its effect is shown', async (t) => {
  const { cwd, folder, shown, output } = await startGateway(t)
  const banner = await shown(/--data @.*\n/)
  const lines = banner.match(/^curl .*(\n {2}.*)*/gm) ?? []
  const answers = []
  for (const line of lines) {
    const { stdout } = await promisify(execFile)('bash', ['-c', line], { cwd })
    answers.push(JSON.parse(stdout))
  }
  const [wake, agent, github] = answers
  assert.deepEqual([wake.ok, agent.ok, github.ok], [true, true, true])
  assert.equal(wake.mode, 'now')
  assert.equal(github.sessionKey, 'hook:github:harbour-lights/signal-box#42')
  await shown(/Retry the lamp after a brown-out/)

  for (const secret of (await readFile(path.join(folder, '.env'), 'utf8')).matchAll(/^\w+=(.+)$/gm)) {
    assert.ok(!output().includes(String(secret[1])), 'no token is printed')
  }
})

test('with --no-watch an edit goes live with a reload, and with --inspect a debugger of this machine can attach', async (t) => {
  const { folder, shown, output } = await startGateway(t, ['--no-watch', '--inspect=0'])
  const banner = await shown(/listens on[\s\S]*edits go live with `.*reveille reload`/)
  assert.match(output(), /^Debugger listening on ws:\/\/127\.0\.0\.1:\d+\//m)
  assert.match(output(), /^Every program of this machine that reaches that port can run code as this user\./m)
  const door = 'mappings: [{ match: { path: door }, action: wake, text: door }]\n'
  await writeFile(path.join(folder, 'mappings', 'door.yaml'), door)
  const token = /^REVEILLE_GATEWAY_TOKEN=(.+)$/m.exec(await readFile(path.join(folder, '.env'), 'utf8'))?.[1]
  const headers = { authorization: `Bearer ${token}` }
  const address = `${/listens on (\S+)/.exec(banner)?.[1]}/api/reload`
  const answer = await fetch(address, { method: 'POST', headers })
  const { outcome, generation } = (await answer.json()) as Record<string, unknown>
  assert.deepEqual([outcome, generation], ['live', 2])
})

test('without a command an empty folder gets a configuration, on a chosen port, and commands find the gateway there', async (t) => {
  const cwd = await mkdtemp(path.join(tmpdir(), 'reveille-port-'))
  atEnd(t, () => rm(cwd, { recursive: true, force: true }))
  const { REVEILLE_HOOK_TOKEN: _hook, REVEILLE_GATEWAY_TOKEN: _gateway, ...env } = process.env
  const child = spawn(process.execPath, [await build()], {
    cwd,
    env: { ...env, REVEILLE_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  atEnd(t, () => {
    child.kill('SIGKILL')
    return ended
  })
  let out = ''
  child.stdout.setEncoding('utf8')
  for await (const text of child.stdout) {
    out += text
    if (/runs\n/.test(out)) break
  }
  assert.match(out, /^Wrote a first configuration to this folder:\n\.env, /)
  assert.match(out, /^# See what became of them:\nnpx reveille runs$/m)
  const address = /listens on (\S+)/.exec(out)?.[1]
  assert.doesNotMatch(address ?? '', /:8787$/)
  const status = await promisify(execFile)(process.execPath, [await build(), 'status'], { cwd, env })
  assert.match(status.stdout, new RegExp(`^address +${address}$`, 'm'))
  assert.equal(status.stderr, '')
})
