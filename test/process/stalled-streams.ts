/**
 * Loads a gateway whose log or standard output is not read, asks once a second for its health, and checks after a
 * restart that everything acknowledged is there.
 */

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { atEnd } from '../at-end.ts'
import { freePort } from '../durability/gateway-process.ts'
import { createSender } from '../durability/sender.ts'
import { createFolder, gatewayToken, hookToken, until } from '../installation.ts'
import { build, startReveille } from './reveille-process.ts'

/** A stream that takes nothing: an unread pipe, or a file on a full disk, which Linux has. */
export type Taker = 'unread' | '/dev/full'

export const withoutPipe = process.platform === 'win32' && 'Windows has no named pipes in folders'
export const withoutFull = !existsSync('/dev/full') && 'this system has no /dev/full'

export type StalledGateway = Awaited<ReturnType<typeof watchGateway>>

/** The gateway has to answer within this time even on a busy machine. Milliseconds. */
const answerMs = 5000

/**
 * Starts a gateway. `stalled` lists the streams that take nothing; the others are read. Resolves when it is ready.
 */
export async function startStalled(
  t: TestContext,
  stalled: { readonly stdout?: Taker; readonly stderr?: Taker },
  format: 'json' | 'pretty' = 'json',
) {
  const port = await freePort()
  const folder = await createFolder(t, { 'reveille.yaml': configurationOf(port, format) })
  const stdioOf = (taker: Taker | undefined) => (taker === undefined ? 'pipe' : openTaker(t, taker, folder))
  const child = spawn(process.execPath, [await build(), 'start'], {
    cwd: folder,
    stdio: ['ignore', stdioOf(stalled.stdout), stdioOf(stalled.stderr)],
  })
  for (const name of ['stdout', 'stderr'] as const) child[name]?.resume()
  return watchGateway(t, { child, port, folder })
}

/**
 * Opens a file descriptor until the test ends. A pipe of Node.js would buffer three times as much as one of the
 * system.
 */
export function openTaker(t: TestContext, taker: Taker, folder: string): number {
  const path = taker === 'unread' ? join(folder, 'unread') : taker
  if (taker === 'unread') execFileSync('mkfifo', [path])
  // A pipe that is opened for reading too always has a reader.
  const fd = openSync(path, constants.O_RDWR)
  atEnd(t, () => closeSync(fd))
  return fd
}

/** Resolves when the gateway is ready. */
export async function watchGateway(
  t: TestContext,
  { child, port, folder }: { readonly child: ChildProcess; readonly port: number; readonly folder: string },
) {
  // The streams stay open until they are read to their end, so `close` may never come.
  const ended = once(child, 'exit')
  atEnd(t, async () => {
    child.kill('SIGKILL')
    await ended
  })
  const url = `http://127.0.0.1:${port}`
  const call = (path: string, token: string, options: RequestInit = {}) =>
    fetch(url + path, {
      ...options,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(answerMs),
    })
  const isReady = async () => {
    assert.equal(child.exitCode, null, 'the gateway ended before it was ready')
    return (await call('/readyz', '').catch(() => undefined))?.ok || undefined
  }
  await until(isReady, 'the gateway', 20_000)
  return {
    url,
    folder,
    child,
    ask: (path: string) => call(path, gatewayToken),
    post: (path: string, body: object) =>
      call(path, hookToken, { method: 'POST', body: JSON.stringify(body) }),
    /** Sends SIGTERM. Resolves with the exit code. */
    async stop(): Promise<number | null> {
      child.kill('SIGTERM')
      return (await ended)[0]
    },
  }
}

export function configurationOf(port: number, format: 'json' | 'pretty'): string {
  return `gateway: { port: ${port}, auth: { token: ${gatewayToken} }, log: { format: ${format} } }
hooks: { enabled: true, token: ${hookToken} }
channels: { terminal: {} }
agents: { route: { channel: terminal, to: stdout } }
`
}

/** Posts until this many posts are acknowledged, and asserts that each is answered. After a restart `looks` of them are looked up. */
export async function loadStalled(
  t: TestContext,
  gateway: StalledGateway,
  { posts, looks }: { readonly posts: number; readonly looks: number },
): Promise<{ readonly droppedLines: number; readonly longestMs: number }> {
  let count = 0
  const next = () => ({ path: '/hooks/wake', body: { text: `${++count}`, mode: 'next-heartbeat' } })
  const sender = createSender({ url: gateway.url, token: hookToken, connections: 8, next })
  atEnd(t, () => sender.stop())
  let longestMs = 0
  for (let lookedAt = 0; sender.acknowledged.length < posts; ) {
    await sender.answered()
    const asked = performance.now()
    if (asked - lookedAt < 1000) continue
    lookedAt = asked
    assert.equal((await gateway.ask('/healthz')).status, 200)
    longestMs = Math.max(longestMs, performance.now() - asked)
  }
  const { log } = (await (await gateway.ask('/api/status')).json()) as { log: { droppedLines: number } }
  await sender.stop()
  assert.deepEqual([sender.unexpected, sender.broken()], [[], 0])
  assert.equal(await gateway.stop(), 0, 'SIGTERM ends it as ever')

  await writeFile(join(gateway.folder, 'reveille.yaml'), configurationOf(0, 'json'))
  const after = await startReveille(t, gateway.folder)
  const step = Math.max(1, Math.floor(sender.acknowledged.length / looks))
  for (let at = 0; at < sender.acknowledged.length; at += step)
    await after.read(`/api/events/${sender.acknowledged[at]?.eventId}`)
  return { droppedLines: log.droppedLines, longestMs }
}
