/** Owns a gateway on a folder of its own: written, started in this process, and gone without a trace. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { createGateway, type Gateway } from '../runtime/index.ts'

export const hookToken = 'test-hook-token-0123456789abcdef'
export const gatewayToken = 'test-gateway-token-0123456789abc'

export interface Installation {
  readonly folder: string
  readonly gateway: Gateway
  /** Everything that was logged, as JSON lines. */
  log(): string
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Reads the admin surface. */
  read<Item>(path: string): Promise<Item>
}

export interface Answer {
  readonly status: number
  readonly body: Record<string, unknown>
}

export const configuration = `gateway: { port: 0, auth: { token: ${gatewayToken} }, log: { level: debug, format: json } }
hooks: { enabled: true, token: ${hookToken} }
channels: { terminal: {} }
agents: { route: { channel: terminal, to: stderr } }
`

/** `files`: path in the folder -> content; `reveille.yaml` defaults to `configuration`. */
export async function install(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  options: { watch?: boolean } = {},
): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries({ 'reveille.yaml': configuration, ...files })) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
  }
  let lines = ''
  const gateway = await createGateway({
    configFile: join(folder, 'reveille.yaml'),
    env: {},
    watch: options.watch ?? false,
    logStream: {
      write(line: string) {
        lines += line
      },
    },
  })
  t.after(() => gateway.close({ graceMs: 0 }))

  return {
    folder,
    gateway,
    log: () => lines,
    async post(path, body, headers = {}) {
      const response = await gateway.inject({
        method: 'POST',
        url: path,
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${hookToken}`,
          ...headers,
        },
        payload: typeof body === 'string' ? body : JSON.stringify(body),
      })
      return { status: response.statusCode, body: response.json() }
    },
    async read(path) {
      const response = await gateway.inject({
        url: path,
        headers: { authorization: `Bearer ${gatewayToken}` },
      })
      return response.json()
    },
  }
}

/** Asks until the answer is good; the state is awaited, the clock only bounds the wait. */
export async function until<Value>(ask: () => Promise<Value | undefined>, what: string): Promise<Value> {
  for (const deadline = Date.now() + 5000; Date.now() < deadline; ) {
    const value = await ask()
    if (value !== undefined) return value
    await new Promise((resolve) => setImmediate(resolve))
  }
  throw new Error(`Waited 5 s in vain for ${what}.`)
}
