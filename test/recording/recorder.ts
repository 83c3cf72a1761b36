/** Shared parts of all recordings: a fact, the checkout that is recorded, its commands, and a running gateway of it. */

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

export interface Fact {
  readonly key: string
  readonly value: unknown
}

export interface Recorder {
  /** The folder of the checkout that is recorded. */
  readonly checkout: string
  /** True if the fact of this key is recorded in this run. */
  wants(key: string): boolean
  /** Returns what is kept of a value that is too large, or not ours, to be kept whole. */
  brief(value: unknown): unknown
}

/**
 * True if the short run records a fact: all of what one gateway says anyway and of mistakes, whose texts no other test has; an eighth of
 * what takes a request each or calls a transform, and less of what takes a process.
 */
export function isInPart(key: string): boolean {
  if (/^(help$|lint|scene|vendor|log|metric|mistake (?!transform )|route)/.test(key)) return true
  // The help of a command names those below it.
  const unit = key.startsWith('help ') ? key.split(' ', 2).join(' ') : key
  const takesProcess = /^(help|command)/.test(key)
  return (createHash('sha256').update(unit).digest()[0] as number) % (takesProcess ? 16 : 8) === 0
}

export const hookToken = 'hook-4fK29sLq0ZpVx81mWnB7'
export const gatewayToken = 'gate-8mWnB74fK29sLq0ZpVx81'

export interface Answer {
  readonly status: number
  readonly body: unknown
}

export type Call = (
  method: string,
  path: string,
  options?: { token?: string; headers?: Readonly<Record<string, string>>; body?: string },
) => Promise<Answer>

export type RunningGateway = Awaited<ReturnType<typeof startGateway>>

export type Files = Readonly<Record<string, string | Buffer>>

/** Makes a folder with these files, and removes it after `use`. */
export async function withFolder<Result>(
  files: Files,
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'reveille-recording-'))
  try {
    await writeFiles(folder, files)
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export async function writeFiles(folder: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content, { mode: 0o600 })
  }
}

/** Runs a command. @returns what it printed, with the folder's name replaced */
export async function runCommand(
  { checkout }: Recorder,
  args: readonly string[],
  { cwd = tmpdir(), env = {} }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [join(checkout, 'runtime/bin/reveille.js'), ...args], {
    cwd,
    env: { ...environment(), COLUMNS: '80', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const written = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => {
    written.out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    written.err += text
  })
  await once(child, 'close')
  const hide = (text: string) => text.replaceAll(cwd, '<folder>')
  return { code: child.exitCode, out: hide(written.out), err: hide(written.err) }
}

/** Environment of this process, without variables that would change a gateway. */
function environment(): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter(
    (name) => !/^(REVEILLE_|npm_|NODE_TEST_CONTEXT|FORCE_COLOR)/.test(name),
  )
  return { ...Object.fromEntries(names.map((name) => [name, process.env[name]])), TZ: 'UTC', NO_COLOR: '1' }
}

/**
 * Starts the gateway of a checkout, which watches no files.
 *
 * @param configure returns the configuration for a port
 * @throws Error with its log if it ends before it listens
 */
export async function startGateway(
  { checkout }: Recorder,
  configure: (port: number) => object,
  files: Files = {},
) {
  const home = await mkdtemp(join(tmpdir(), 'reveille-recording-'))
  const port = await freePort()
  await writeFiles(home, { ...files, 'reveille.yaml': JSON.stringify(configure(port), null, 2) })
  const child = spawn(process.execPath, [join(checkout, 'runtime/bin/reveille.js'), 'start', '--no-watch'], {
    cwd: home,
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const log: string[] = []
  await new Promise<void>((ready, failed) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line)
      if (line.includes('"gateway-listening"')) ready()
    })
    child.on('close', () => failed(new Error(`The gateway ended: ${log.join('\n')}`)))
  })
  return {
    /** The folder of its configuration. */
    home,
    call: (...request: Parameters<Call>) => call(`http://127.0.0.1:${port}`, ...request),
    /** The lines of its log so far. */
    log: (): readonly string[] => log,
    async close() {
      child.kill('SIGTERM')
      await once(child, 'close')
      await rm(home, { recursive: true, force: true })
    },
  }
}

async function call(base: string, ...[method, path, options = {}]: Parameters<Call>): Promise<Answer> {
  const { token = path.startsWith('/hooks') ? hookToken : gatewayToken, headers = {}, body } = options
  const credentials = token === '' ? {} : { authorization: `Bearer ${token}` }
  const init = { method, headers: { 'content-type': 'application/json', ...headers, ...credentials } }
  const response = await fetch(`${base}${path}`, body === undefined ? init : { ...init, body })
  const text = await response.text()
  try {
    return { status: response.status, body: JSON.parse(text) }
  } catch {
    return { status: response.status, body: text }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Asks until there is an answer. @throws Error after 30 s */
export async function until<Value>(what: string, read: () => Promise<Value | undefined>): Promise<Value> {
  const limit = AbortSignal.timeout(30_000)
  for (;;) {
    const value = await read()
    if (value !== undefined) return value
    if (limit.aborted) throw new Error(`${what} did not come within 30 s`)
    await new Promise((done) => setTimeout(done, 20))
  }
}
