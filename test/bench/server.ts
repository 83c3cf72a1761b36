/** Starts the servers under load, each in its own process on loopback, and ends them. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Server {
  readonly url: string
  /** Resident memory now, in millions of bytes. */
  residentMegabytes(): number
  stop(): Promise<void>
}

export const hookToken = 'bench-hook-token-0123456789abcdef'
/** The secret of the endpoint `signed`, which verifies signatures of GitHub. */
export const signingSecret = 'bench-signing-secret-0123456789abcdef'
export const gatewayToken = 'bench-gateway-token-0123456789abc'

const mappings = `endpoints:
  signed: { verify: { provider: github, secret: ${signingSecret} } }
mappings:
${['github', 'signed'].map(mappingOf).join('')}`

function mappingOf(endpoint: string): string {
  return `  - id: ${endpoint}-pr-opened
    match:
      path: ${endpoint}
      headers: { x-github-event: pull_request }
    action: agent
    name: GitHub
    sessionKey: "hook:github:pr:{{pull_request.id}}:{{payload.number}}"
    message: "Review pull request {{number}} of {{repository.full_name}} by {{sender.login}}: {{pull_request.title}}"
    deliver: false
    wakeMode: next-heartbeat
`
}

export async function startEcho(): Promise<Server> {
  const port = await freePort()
  const child = spawn(process.execPath, [pathOf('./echo-server.ts'), String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return serverOf(child, `http://127.0.0.1:${port}`)
}

/**
 * Starts the gateway as `npm start` does, on an empty data folder. `logLevel: info` writes a line per request to a
 * file.
 */
export async function startGateway(options: {
  logLevel: 'info' | 'warn'
  /** The number of concurrent runs. Default: the gateway's own. */
  concurrency?: number
}): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-bench-'))
  const concurrency = options.concurrency ? `defaults: { concurrency: ${options.concurrency} }, ` : ''
  const port = await freePort()
  // The data folder is apart, because without a `.env` any file written beside the configuration wakes the watcher.
  const home = join(folder, 'home')
  await mkdir(join(home, 'mappings'), { recursive: true })
  await writeFile(join(home, 'mappings', 'github.yaml'), mappings)
  await writeFile(
    join(home, 'reveille.yaml'),
    `gateway: { port: ${port}, auth: { token: ${gatewayToken} }, log: { level: ${options.logLevel}, format: json } }
hooks: { enabled: true, token: ${hookToken} }
channels: { terminal: {} }
agents: { ${concurrency}route: { channel: terminal, to: stdout } }
`,
  )
  const log = openSync(join(folder, 'log'), 'w')
  const child = spawn(
    process.execPath,
    [pathOf('../../tools/run.js'), 'start', '--config', join(home, 'reveille.yaml')],
    { stdio: ['ignore', log, log] },
  )
  const server = serverOf(child, `http://127.0.0.1:${port}`, () => rm(folder, { recursive: true }))
  await ready(server, () => readFileSync(join(folder, 'log'), 'utf8'))
  return server
}

function serverOf(child: ChildProcess, url: string, clean?: () => Promise<void>): Server {
  return {
    url,
    residentMegabytes() {
      const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]
      return (Number(kilobytes) * 1024) / 1_000_000
    },
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      await clean?.()
    },
  }
}

async function ready(server: Server, output: () => string): Promise<void> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
    const answer = await fetch(`${server.url}/readyz`).catch(() => undefined)
    if (answer?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`The gateway did not become ready:\n${output()}`)
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  return port
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url))
}
