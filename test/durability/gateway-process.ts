/** Runs a gateway in its own process, which a test may kill at any moment and start again on the same data. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

export interface GatewayProcess {
  readonly url: string
  /** Resolves when the gateway is ready. */
  start(): Promise<void>
  /** Resolves when the process is gone. */
  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT'): Promise<{ code: number | null }>
  /** Resolves when the process has ended by itself. */
  died(): Promise<void>
  output(): string
}

export async function createGatewayProcess(options: {
  /** The arguments after `node`. */
  command: readonly string[]
  port: number
  env?: Record<string, string>
  /** Default: the environment of this process. */
  cwd?: string
}): Promise<GatewayProcess> {
  const url = `http://127.0.0.1:${options.port}`
  let child: ChildProcess | undefined
  let output = ''

  return {
    url,
    async start() {
      const started = spawn(process.execPath, options.command, {
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
      await Promise.race([ready(url), ended])
    },
    async kill(signal) {
      if (!child) throw new Error('The gateway was never started.')
      const exit = isOver(child) ? undefined : once(child, 'exit')
      child.kill(signal)
      await exit
      return { code: child.exitCode }
    },
    async died() {
      if (child && !isOver(child)) await once(child, 'exit')
    },
    output: () => output,
  }
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

async function ready(url: string): Promise<void> {
  for (const deadline = Date.now() + 15_000; Date.now() < deadline; ) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined)
    if (answer?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('The gateway did not become ready within 15 s.')
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, 'close')
  return port
}
