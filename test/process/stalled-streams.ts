/**
 * Loads a gateway whose log or standard output is not read, asks once a second for its health, and checks after a
 * restart that everything acknowledged is there.
 */

import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
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

export interface StalledGateway {
  readonly url: string
  readonly folder: string
  readonly child: ChildProcess
  /** Asks the gateway, which has to answer within five seconds even on a busy machine. */
  ask(path: string): Promise<Response>
  post(path: string, body: object): Promise<Response>
  /** Sends SIGTERM. Resolves with the exit code and how long the end took, in milliseconds. */
  stop(): Promise<{ readonly code: number | null; readonly ms: number }>
}

const answerMs = 5000

/**
 * Starts a gateway. `stalled` lists the streams that take nothing; the others are read. Resolves when it is ready.
 */
export async function startStalled(
  t: TestContext,
  stalled: { readonly stdout?: Taker; readonly stderr?: Taker },
  format: 'json' | 'pretty' = 'json',
): Promise<StalledGateway> {
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

/** Resolves when the gateway is ready. `signal` is the process that gets signals. Default: the child. */
export async function watchGateway(
  t: TestContext,
  {
    child,
    port,
    folder,
    signal = () => void child.kill('SIGTERM'),
  }: { child: ChildProcess; port: number; folder: string; signal?: () => void },
): Promise<StalledGateway> {
  // The streams stay open until they are read to their end, so `close` may never come.
  const ended = once(child, 'exit')
  atEnd(t, async () => {
    child.kill('SIGKILL')
    await ended
  })
  const url = `http://127.0.0.1:${port}`
  const call = (path: string, options: RequestInit = {}) =>
    fetch(url + path, { ...options, signal: AbortSignal.timeout(answerMs) })
  await until(
    async () => {
      assert.equal(child.exitCode, null, 'the gateway ended before it was ready')
      return (await call('/readyz').catch(() => undefined))?.ok || undefined
    },
    'the gateway',
    20_000,
  )
  return {
    url,
    folder,
    child,
    ask: (path) => call(path, { headers: { authorization: `Bearer ${gatewayToken}` } }),
    post: (path, body) =>
      call(path, {
        method: 'POST',
        headers: { authorization: `Bearer ${hookToken}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    async stop() {
      const asked = performance.now()
      signal()
      const [code] = await ended
      return { code, ms: performance.now() - asked }
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

export interface LoadReport {
  readonly acknowledged: number
  readonly broken: number
  /** The times of the health checks, one each second. Milliseconds. */
  readonly answersMs: readonly number[]
  readonly droppedLines: number
  readonly residentMb: readonly number[]
  readonly stopMs: number
}

/** Posts until this many posts are acknowledged. After a restart `looks` of them are looked up. */
export async function loadStalled(
  t: TestContext,
  gateway: StalledGateway,
  { posts, looks }: { readonly posts: number; readonly looks: number },
): Promise<LoadReport> {
  let count = 0
  const next = () => ({ path: '/hooks/wake', body: { text: `${++count}`, mode: 'next-heartbeat' } })
  const sender = createSender({ url: gateway.url, token: hookToken, connections: 8, next })
  atEnd(t, () => sender.stop())
  const answersMs: number[] = []
  const residentMb: number[] = []
  async function look(): Promise<void> {
    const asked = performance.now()
    assert.equal((await gateway.ask('/healthz')).status, 200)
    answersMs.push(performance.now() - asked)
    residentMb.push(await residentOf(gateway.child))
  }
  for (let looked = 0; sender.acknowledged.length < posts; ) {
    await sender.answered()
    if (performance.now() - looked < 1000) continue
    looked = performance.now()
    await look()
  }
  await look()
  const { log } = (await (await gateway.ask('/api/status')).json()) as { log: { droppedLines: number } }
  await sender.stop()
  assert.deepEqual(sender.unexpected, [])
  const { code, ms } = await gateway.stop()
  assert.equal(code, 0, 'SIGTERM ends it as ever')

  await writeFile(join(gateway.folder, 'reveille.yaml'), configurationOf(0, 'json'))
  const after = await startReveille(t, gateway.folder)
  const step = Math.max(1, Math.floor(sender.acknowledged.length / looks))
  for (let at = 0; at < sender.acknowledged.length; at += step) {
    const { eventId } = sender.acknowledged[at] ?? {}
    const headers = { authorization: `Bearer ${gatewayToken}` }
    const answer = await fetch(`${after.address}/api/events/${eventId}`, { headers })
    assert.equal(answer.status, 200, `event ${eventId} was acknowledged`)
    await answer.body?.cancel()
  }
  const [acknowledged, broken] = [sender.acknowledged.length, sender.broken()]
  return { acknowledged, broken, answersMs, droppedLines: log.droppedLines, residentMb, stopMs: ms }
}

/** Returns the memory of the process, or 0 if the system does not say. */
async function residentOf({ pid }: ChildProcess): Promise<number> {
  const text = await readFile(join('/proc', String(pid), 'status'), 'utf8').catch(() => '')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024)
}
