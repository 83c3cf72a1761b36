/** Runs a gateway in its own process, which a test may kill or pause at any moment and start again on the same data. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { until } from '../installation.ts'

export interface GatewayProcess {
  readonly url: string
  /** Resolves when the gateway is ready. */
  start(): Promise<void>
  /** Resolves when the process is gone, at once after a signal that pauses it or lets it go on. */
  kill(signal: NodeJS.Signals): Promise<{ code: number | null }>
  pid(): number | undefined
  /** Resolves when the process has ended by itself. */
  died(): Promise<void>
  output(): string
}

export async function createGatewayProcess(options: {
  /** The arguments after `node`, which a start may ask for. */
  command: readonly string[] | (() => readonly string[])
  port: number
  env?: Readonly<Record<string, string | undefined>>
  /** Default: the environment of this process. */
  cwd?: string
}): Promise<GatewayProcess> {
  const url = `http://127.0.0.1:${options.port}`
  const { command: given } = options
  const command = typeof given === 'function' ? given : () => given
  let child: ChildProcess | undefined
  let output = ''

  return {
    url,
    async start() {
      const started = spawn(process.execPath, command(), {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...options.env },
        cwd: options.cwd,
      })
      child = started
      const keep = (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-20_000)
      }
      started.stdout.on('data', keep)
      started.stderr.on('data', keep)
      const ended = once(started, 'exit').then(() => {
        throw new Error(`The gateway ended before it was ready:\n${output}`)
      })
      ended.catch(() => {})
      await Promise.race([ready(url, started), ended])
    },
    async kill(signal) {
      if (child === undefined || isOver(child)) return { code: child?.exitCode ?? null }
      const exit = signal === 'SIGSTOP' || signal === 'SIGCONT' ? undefined : once(child, 'exit')
      child.kill(signal)
      await exit
      return { code: child.exitCode }
    },
    pid: () => child?.pid,
    async died() {
      if (child && !isOver(child)) await once(child, 'exit')
    },
    output: () => output,
  }
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Asks no longer once the process has ended, which its caller hears of by itself. */
async function ready(url: string, child: ChildProcess): Promise<void> {
  const isReady = async () =>
    (await fetch(`${url}/readyz`).catch(() => undefined))?.ok || isOver(child) || undefined
  await until(isReady, `the gateway at ${url} to be ready`)
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, 'close')
  return port
}
