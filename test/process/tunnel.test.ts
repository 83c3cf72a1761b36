/** Tests a gateway with a tunnel as a process. A script that prints the known output of `cloudflared` replaces it. */

import assert from 'node:assert/strict'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, type TestContext, test } from 'node:test'
import { createFolder, hookToken, until } from '../installation.ts'
import { readLines } from '../text-file.ts'
import {
  bareConfiguration,
  build,
  limit,
  runReveille,
  spawnReveille,
  startReveille,
} from './reveille-process.ts'

const posix = { ...limit, skip: process.platform === 'win32' && 'it needs a shell script' }

/** Counts its starts, and has another address each time, as quick tunnels do. */
const script = `#!/bin/sh
echo "$@ $GUESSED_SECRET" >> starts
echo "$$" >> pids
n=$(wc -l < starts)
echo "2026-11-23T20:00:00Z INF Requesting new quick Tunnel on trycloudflare.com..." >&2
echo "2026-11-23T20:00:01Z ERR failed to request quick Tunnel: Post \\"https://api.trycloudflare.com/tunnel\\": timeout" >&2
echo "2026-11-23T20:00:02Z INF |  https://calm-lamp-$n.trycloudflare.com                |" >&2
exec sleep 600
`

before(build)

async function openFolder(t: TestContext) {
  const folder = await createFolder(t, { 'reveille.yaml': bareConfiguration })
  await mkdir(join(folder, 'bin'))
  const file = join(folder, 'bin', 'cloudflared')
  await writeFile(file, script)
  await chmod(file, 0o755)
  const env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, GUESSED_SECRET: 'never-passed-on' }
  return { folder, env }
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The process id of the newest start of the script. */
const newestPid = async (folder: string) => Number((await readLines(folder, 'pids')).at(-1))

test(
  'start --tunnel has cloudflared lead to hooks alone, starts it again when it ends, and ends it with the gateway',
  posix,
  async (t) => {
    const { folder, env } = await openFolder(t)
    const gateway = await startReveille(t, folder, { env }, '--tunnel', '--init')
    const { address: target } = await gateway.line('tunnel-listening')
    const publicUrl = async () => (await gateway.read<{ publicUrl: string | null }>('/api/status')).publicUrl
    assert.equal((await gateway.line('tunnel-open'))['address'], 'https://calm-lamp-1.trycloudflare.com')
    assert.equal(await publicUrl(), 'https://calm-lamp-1.trycloudflare.com')
    await until(
      () => /tunnel +https:\/\/calm-lamp-1\.trycloudflare\.com\/hooks,/.test(gateway.stdout()) || undefined,
      'the banner',
    )
    const [started] = await readLines(folder, 'starts')
    assert.equal(started?.trim(), `--config /dev/null tunnel --no-autoupdate --url ${target}`)

    for (const path of ['/console', '/api/status', '/metrics', '/healthz'])
      assert.equal((await fetch(target + path)).status, 404, path)
    const taken = await fetch(`${target}/hooks/wake`, {
      method: 'POST',
      headers: { authorization: `Bearer ${hookToken}` },
      body: '{"text":"from afar"}',
    })
    assert.equal(taken.status, 200)

    process.kill(await newestPid(folder), 'SIGKILL')
    assert.match(String((await gateway.line('tunnel-ended'))['reason']), /timeout/)
    await until(
      async () => (await publicUrl()) === 'https://calm-lamp-2.trycloudflare.com' || undefined,
      'another tunnel',
    )

    const pid = await newestPid(folder)
    await gateway.stop()
    assert.equal(isAlive(pid), false)
  },
)

test('cloudflared ends with a gateway that is killed', posix, async (t) => {
  const { folder, env } = await openFolder(t)
  const gateway = await spawnReveille(t, ['start', '--tunnel'], { cwd: folder, env })
  await gateway.line('tunnel-open')
  const pid = await newestPid(folder)
  assert.equal(isAlive(pid), true)
  gateway.send('SIGKILL')
  await gateway.ended
  await until(() => !isAlive(pid) || undefined, 'the end of cloudflared')
})

test(
  'without cloudflared the start says how to install it; another tunnel has a port of its own',
  limit,
  async (t) => {
    const folder = await createFolder(t, { 'reveille.yaml': bareConfiguration })
    const env = { PATH: join(folder, 'nothing') }
    const refused = await runReveille(t, ['start', '--tunnel'], { cwd: folder, env })
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      /cloudflared, which is in no folder of PATH[\s\S]*brew install cloudflared[\s\S]*--tunnel-port 8788/,
    )

    const gateway = await startReveille(t, folder, { env }, '--tunnel-port', '0')
    const { address } = await gateway.line('tunnel-listening')
    assert.equal((await fetch(`${address}/healthz`)).status, 404)
    await gateway.stop()
  },
)
