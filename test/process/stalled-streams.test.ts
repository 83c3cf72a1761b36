/**
 * Tests that a gateway whose log or standard output stalls or fails still answers and obeys signals, and loses log
 * lines at worst.
 */

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { atEnd } from '../at-end.ts'
import { freePort } from '../durability/gateway-process.ts'
import { createFolder, until } from '../installation.ts'
import { build } from './reveille-process.ts'
import {
  configurationOf,
  loadStalled,
  openTaker,
  type StalledGateway,
  startStalled,
  watchGateway,
  withoutFull,
  withoutPipe,
} from './stalled-streams.ts'

/** For `test`: two starts and a thousand posts, on a machine that may be busy. */
const limit = { timeout: 60_000 }

before(build)

/** The log of this many posts is more than the 64 KB that a pipe holds. */
const posts = { json: 500, pretty: 1200 }

for (const [what, stderr, format, skip] of [
  ['a JSON log that nobody reads', 'unread', 'json', withoutPipe],
  ['a pretty log that nobody reads', 'unread', 'pretty', withoutPipe],
  ['a JSON log on a full disk', '/dev/full', 'json', withoutFull],
] as const) {
  test(`${what} delays no request, and nothing that was acknowledged is lost`, {
    ...limit,
    skip,
  }, async (t) => {
    const gateway = await startStalled(t, { stderr }, format)
    await loadStalled(t, gateway, { posts: posts[format], looks: 20 })
  })
}

interface Delivery {
  readonly state: string
  readonly attempts: number
  readonly reason?: string
}

async function firstDelivery(gateway: StalledGateway): Promise<Delivery | undefined> {
  const { items } = (await (await gateway.ask('/api/deliveries')).json()) as { items: Delivery[] }
  return items[0]
}

test('a full standard output fails that one reply, which is tried again', {
  ...limit,
  skip: withoutFull,
}, async (t) => {
  const gateway = await startStalled(t, { stdout: '/dev/full' })
  assert.equal((await gateway.post('/hooks/wake', { text: 'Ring', mode: 'now' })).status, 200)
  const delivery = await until(async () => {
    const found = await firstDelivery(gateway)
    return found && found.attempts > 0 ? found : undefined
  }, 'the first attempt')
  assert.equal(delivery.state, 'pending')
  assert.match(delivery.reason ?? '', /Writing to stdout failed: ENOSPC/)
  assert.equal((await gateway.ask('/healthz')).status, 200)
  assert.equal(await gateway.stop(), 0)
})

test('a command whose output cannot be written exits with 1 and says why', {
  ...limit,
  skip: withoutFull,
}, async () => {
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [await build(), '--version'], { stdio: ['ignore', full, 'pipe'] })
  closeSync(full)
  let err = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk) => {
    err += chunk
  })
  const [code] = await once(child, 'close')
  assert.equal(code, 1)
  assert.match(err, /^Standard output could not be written: ENOSPC.*\n$/)
})

test('an unread standard output delays a stop by the grace period at most, and a second signal ends it', {
  ...limit,
  skip: withoutPipe,
}, async (t) => {
  const gateway = await startStalled(t, { stdout: 'unread' })
  const text = 'A long story. '.repeat(10_000)
  assert.equal((await gateway.post('/hooks/wake', { text, mode: 'now' })).status, 200)
  await until(async () => (await firstDelivery(gateway)) !== undefined || undefined, 'the delivery')
  // Equal signals within a second count as one.
  const insisting = setInterval(() => gateway.child.kill('SIGTERM'), 1100)
  assert.equal(await gateway.stop().finally(() => clearInterval(insisting)), 143)
})

/** The command of util-linux; those of BSD and macOS have other options. */
function whyNoTerminal(): string | false {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux')
      ? false
      : 'another `script`'
  } catch {
    return 'no `script` makes a terminal here'
  }
}

test('an unread terminal delays nothing', { ...limit, skip: whyNoTerminal() }, async (t) => {
  const port = await freePort()
  const folder = await createFolder(t, { 'reveille.yaml': configurationOf(port, 'pretty') })
  const command = `echo $$ > pid; exec '${process.execPath}' '${await build()}' start`
  // It copies the terminal to its own output, which is not read, and then reads the terminal no more.
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd: folder,
    stdio: ['ignore', openTaker(t, 'unread', folder), 'ignore'],
  })
  const gateway = await watchGateway(t, { child, port, folder })
  const post = () => gateway.post('/hooks/wake', { text: 'Ring', mode: 'next-heartbeat' })
  for (let round = 0; round < 150; round++) {
    const answers = await Promise.all(Array.from({ length: 8 }, post))
    for (const { status } of answers) assert.equal(status, 200)
  }
  const pid = Number(await readFile(join(folder, 'pid'), 'utf8'))
  atEnd(t, async () => (await isAlive(pid)) && process.kill(pid, 'SIGKILL'))
  process.kill(pid, 'SIGTERM')
  await until(async () => !(await isAlive(pid)) || undefined, 'the end of the gateway')
})

/**
 * Works on Linux. An ended process stays in the list until its parent asks for its exit code, and `script` is stuck.
 */
async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return stat !== undefined && !/\) Z /.test(stat)
}
