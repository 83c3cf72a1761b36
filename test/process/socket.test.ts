/** Tests a gateway that is handed its listening socket, as systemd does: a restart refuses nobody. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { before, test } from 'node:test'
import { atEnd } from '../at-end.ts'
import { createFolder, hookToken, until } from '../installation.ts'
import { build, limit } from './reveille-process.ts'

before(build)

const posix = process.platform === 'win32' && 'sockets are not passed on Windows'

test('a request that arrives while the gateway restarts is answered by the next one', {
  ...limit,
  skip: posix,
}, async (t) => {
  const { descriptor, port, release } = await openSocket()
  const cwd = await createFolder(t, {
    'reveille.yaml': `gateway: { port: ${port} }\nhooks: { enabled: true, token: ${hookToken} }\n`,
  })
  // Like systemd, the shell keeps the socket, and runs one gateway after the other.
  const script = `while read go; do LISTEN_FDS=1 sh -c 'LISTEN_PID=$$ exec "$@"' - "$@" </dev/null; echo ended; done`
  const command = [process.execPath, await build(), 'start']
  const shell = spawn('sh', ['-c', script, '-', ...command], {
    cwd,
    stdio: ['pipe', 'pipe', 'ignore', descriptor],
    detached: true,
  })
  const [input, output] = shell.stdio as unknown as [NodeJS.WritableStream, NodeJS.ReadableStream]
  release()
  const ended = once(shell, 'close')
  atEnd(t, async () => {
    process.kill(-Number(shell.pid), 'SIGKILL')
    await ended
  })
  const wake = async () => {
    const headers = { authorization: `Bearer ${hookToken}` }
    const body = JSON.stringify({ text: 'The doorbell rang', mode: 'next-heartbeat' })
    return (await fetch(`http://127.0.0.1:${port}/hooks/wake`, { method: 'POST', headers, body })).status
  }

  input.write('go\n')
  assert.equal(await wake(), 200)
  const file = path.join(cwd, 'data/gateway.json')
  const pid = await until(async () => {
    const text = await readFile(file, 'utf8').catch(() => undefined)
    return text && JSON.parse(text).pid
  }, 'the file of the gateway')
  process.kill(pid, 'SIGTERM')
  for await (const line of createInterface({ input: output })) {
    if (line === 'ended') break
  }
  const waiting = wake()
  input.write('go\n')
  assert.equal(await waiting, 200)
})

test('a socket at another address than the configuration names is refused', {
  ...limit,
  skip: posix,
}, async (t) => {
  const { descriptor, port, release } = await openSocket()
  const cwd = await createFolder(t, { 'reveille.yaml': 'gateway: { port: 8787 }\n' })
  const command = [process.execPath, await build(), 'start']
  const gateway = spawn('sh', ['-c', 'LISTEN_PID=$$ exec "$@"', '-', ...command], {
    cwd,
    env: { ...process.env, LISTEN_FDS: '1' },
    stdio: ['ignore', 'ignore', 'pipe', descriptor],
  })
  release()
  let said = ''
  gateway.stdio[2]?.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  atEnd(t, () => void gateway.kill('SIGKILL'))
  assert.deepEqual(await once(gateway, 'close'), [1, null])
  assert.match(
    said,
    new RegExp(`The socket of the supervisor is at http://127.0.0.1:${port}, .* 127.0.0.1:8787.`),
  )
})

/** A socket that this process opens and never reads. `release` closes its own descriptor. */
async function openSocket() {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle
  const { port } = server.address() as { port: number }
  return { descriptor: fd, port, release: () => void server.close() }
}
