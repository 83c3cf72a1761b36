/** Starts the servers under load, each in its own process on loopback, and ends them. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { BenchError } from './bench-error.ts'
import { reveille } from './measure.ts'

export interface Server {
  readonly url: string
  readonly pid: number
  /** Milliseconds from the start of the process until it was ready. */
  readonly readyMs: number
  /** The folder of the gateway's configuration. */
  readonly home?: string
  stop(): Promise<void>
}

/** A folder with Reveille's sources. */
export interface Checkout {
  readonly name: string
  readonly root: string
}

export const here: Checkout = { name: reveille, root: pathOf('../..') }

export const hookToken = 'bench-hook-token-0123456789abcdef'
/** The secret of the endpoint `signed`, which verifies signatures of GitHub. */
export const signingSecret = 'bench-signing-secret-0123456789abcdef'
export const gatewayToken = 'bench-gateway-token-0123456789abc'

/** Everything that a gateway stores lies here, on the disk of the checkout, because a folder for temporary files may be in memory. */
export const workFolder = pathOf(`../../build/bench/${process.pid}`)

export interface GatewayOptions {
  readonly checkout?: Checkout
  /** `info` writes a line for each request to a file. */
  readonly logLevel?: 'info' | 'warn'
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
  /** A plugin whose runner performs the runs. Default: the runner `echo`. */
  readonly runner?: { readonly folder: string; readonly name: string }
  readonly env?: Readonly<Record<string, string>>
}

const holdingRunner = { folder: pathOf('./holding-runner'), name: 'holding' }

export async function startEcho(): Promise<Server> {
  const port = await freePort()
  return serve({ args: [pathOf('./echo-server.ts'), String(port)], port, probe: '/echo' })
}

/** Starts the gateway as `npm start` does, on an empty data folder. */
export async function startGateway(options: GatewayOptions = {}): Promise<Server> {
  const { checkout = here, logLevel = 'warn', holdRuns = false, files = {}, store, node, role } = options
  const { concurrency = holdRuns ? 1 : undefined, runner = holdRuns ? holdingRunner : undefined } = options
  await mkdir(workFolder, { recursive: true })
  const folder = await mkdtemp(join(workFolder, 'gateway-'))
  const port = await freePort()
  const defaults = [
    ...(runner ? [`runner: ${runner.name}`] : []),
    ...(concurrency ? [`concurrency: ${concurrency}`] : []),
  ]
  const home = join(folder, 'home')
  await writeAll(home, {
    ...files,
    'reveille.yaml': `gateway: { port: ${port}${store ? ', store: "${BENCH_STORE}"' : ''}, auth: { token: ${gatewayToken} }, log: { level: ${logLevel}, format: json } }
hooks: { enabled: true, token: ${hookToken} }
plugins: [${runner ? JSON.stringify(runner.folder) : ''}]
channels: { terminal: {} }
agents: { defaults: { ${defaults.join(', ')} }, route: { channel: terminal, to: stdout } }
`,
  })
  const server = await serve({
    args: [
      join(checkout.root, 'tools/run.js'),
      'start',
      ...['--config', join(home, 'reveille.yaml')],
      ...(node ? ['--node', node] : []),
      ...(role ? ['--role', role] : []),
    ],
    port,
    probe: '/readyz',
    folder,
    env: { ...process.env, ...options.env, ...(store && { BENCH_STORE: store }) },
  })
  return { ...server, home }
}

interface Start {
  readonly args: readonly string[]
  readonly port: number
  /** A path that answers as soon as the server is ready. */
  readonly probe: string
  /** Holds the log, and is removed with the server. */
  readonly folder?: string
  readonly env?: NodeJS.ProcessEnv
  readonly deadlineMs?: number
  /** True if the process is asked to end before it is killed. */
  readonly endsGracefully?: boolean
}

const endMs = 20_000

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export async function serve(start: Start): Promise<Server> {
  const { args, port, probe, folder, env, deadlineMs = 60_000, endsGracefully = false } = start
  const logFile = folder && join(folder, 'log')
  const output = logFile ? openSync(logFile, 'w') : 'inherit'
  const url = `http://127.0.0.1:${port}`
  const startedAt = performance.now()
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', output, output],
    env: env ?? process.env,
  })
  if (typeof output === 'number') closeSync(output)
  running.add(child)
  const ended = once(child, 'exit')
  const stop = async () => {
    if (endsGracefully) {
      child.kill('SIGTERM')
      await Promise.race([ended, pause(endMs, undefined, { ref: false })])
    }
    child.kill('SIGKILL')
    await ended
    running.delete(child)
    if (folder) await rm(folder, { recursive: true, maxRetries: 3 })
  }
  while (child.exitCode === null && performance.now() - startedAt < deadlineMs) {
    const answer = await fetch(url + probe).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer && answer.status < 500)
      return { url, pid: child.pid as number, readyMs: performance.now() - startedAt, stop }
    await pause(5)
  }
  const log = logFile ? readFileSync(logFile, 'utf8').slice(-4000) : ''
  await stop()
  throw new BenchError(`${args.join(' ')} did not become ready:\n${log}`)
}

async function writeAll(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  return port
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url))
}
