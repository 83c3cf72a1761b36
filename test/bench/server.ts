/** Starts the servers under load, each in its own process on loopback, and ends them. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../durability/gateway-process.ts'
import { BenchError, reveille } from './measure.ts'

export interface Server {
  readonly url: string
  readonly pid: number
  /** Milliseconds from the start of the process until it was ready. */
  readonly readyMs: number
  /** The server's own folder: of a gateway, that of its configuration. */
  readonly home: string
  stop(): Promise<void>
}

/** A folder with Reveille's sources. */
export interface Checkout {
  readonly name: string
  readonly root: string
}

export const here: Checkout = { name: reveille, root: pathOf('../..') }

const hookToken = 'bench-hook-token-0123456789abcdef'
const gatewayToken = 'bench-gateway-token-0123456789abc'
export const tokens = { hook: hookToken, gateway: gatewayToken }
export const hookHeaders = { 'content-type': 'application/json', authorization: `Bearer ${hookToken}` }

/** Everything that a gateway stores lies here, on the disk of the checkout, because a folder for temporary files may be in memory. */
export const workFolder = pathOf(`../../build/bench/${process.pid}`)

export interface GatewayOptions {
  readonly checkout?: Checkout
  /** The number of concurrent runs. Default: the gateway's own. */
  readonly concurrency?: number
  /** True if runs stay queued. */
  readonly holdRuns?: boolean
  /** Files of the configuration folder besides `reveille.yaml`. */
  readonly files?: Readonly<Record<string, string>>
  /** The address of PostgreSQL. Default: SQLite, in the gateway's own folder. */
  readonly store?: string
  /** The node's name and role, where there are several. */
  readonly node?: string
  readonly role?: 'all' | 'ingress'
}

/** Starts the gateway as `npm start` does, on an empty data folder. */
export async function startGateway(options: GatewayOptions = {}): Promise<Server> {
  const { checkout = here, holdRuns = false, files = {}, store, node, role } = options
  const concurrency = options.concurrency ?? (holdRuns ? 1 : undefined)
  const defaults = { ...(holdRuns && { runner: 'holding' }), ...(concurrency && { concurrency }) }
  const plugins = holdRuns ? [pathOf('./holding-runner')] : []
  const configuration = (port: number) => `gateway:
  port: ${port}
  auth: { token: ${gatewayToken} }
  log: { level: warn, format: json }
${store ? '  store: "${BENCH_STORE}"\n' : ''}hooks: { enabled: true, token: ${hookToken} }
plugins: ${JSON.stringify(plugins)}
channels: { terminal: {} }
agents: { defaults: ${JSON.stringify(defaults)}, route: { channel: terminal, to: stdout } }
`
  return serve({
    files: (port) => ({ ...files, 'reveille.yaml': configuration(port) }),
    args: (home) => [
      join(checkout.root, 'tools/run.js'),
      'start',
      ...['--config', join(home, 'reveille.yaml')],
      ...(node ? ['--node', node] : []),
      ...(role ? ['--role', role] : []),
    ],
    env: () => ({ ...(store && { BENCH_STORE: store }) }),
  })
}

interface Start {
  /** Written into the server's folder. */
  files(port: number): Readonly<Record<string, string>>
  args(home: string, port: number): readonly string[]
  env(home: string): Readonly<Record<string, string>>
  /** Default: 60 s. */
  readonly maxReadyMs?: number
  /** True if the process is asked to end before it is killed. */
  readonly endsGracefully?: boolean
}

const maxEndMs = 20_000

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a server in a folder of its own, which is removed with it, and resolves once `/readyz` answers. */
export async function serve(start: Start): Promise<Server> {
  const { maxReadyMs = 60_000, endsGracefully = false } = start
  await mkdir(workFolder, { recursive: true })
  const folder = await mkdtemp(join(workFolder, 'server-'))
  const [home, logFile] = [join(folder, 'home'), join(folder, 'log')]
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  for (const [name, content] of Object.entries(start.files(port))) {
    await mkdir(dirname(join(home, name)), { recursive: true })
    await writeFile(join(home, name), content)
  }
  const log = openSync(logFile, 'w')
  const startedAt = performance.now()
  const args = start.args(home, port)
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', log, log],
    env: { ...process.env, ...start.env(home) },
  })
  closeSync(log)
  running.add(child)
  const ended = once(child, 'exit')
  const stop = async () => {
    if (endsGracefully) {
      child.kill('SIGTERM')
      await Promise.race([ended, pause(maxEndMs, undefined, { ref: false })])
    }
    child.kill('SIGKILL')
    await ended
    running.delete(child)
    await rm(folder, { recursive: true, maxRetries: 3 })
  }
  while (child.exitCode === null && performance.now() - startedAt < maxReadyMs) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer?.ok)
      return { url, pid: child.pid as number, home, readyMs: performance.now() - startedAt, stop }
    await pause(5)
  }
  const lines = readFileSync(logFile, 'utf8').slice(-4000)
  await stop()
  throw new BenchError(`${args.join(' ')} did not become ready:\n${lines}`)
}

/** Asks the admin API of a gateway. */
export async function readApi<Answer>({ url }: Server, path: string): Promise<Answer> {
  const answer = await fetch(`${url}/api/${path}`, { headers: { authorization: `Bearer ${gatewayToken}` } })
  return (await answer.json()) as Answer
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url))
}
