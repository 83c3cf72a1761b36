/** Provides a gateway in its own process, which tests kill and ask about its runs. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { DeliveryRecord, Page, RunRecord } from '../../runtime/store/port.ts'
import { bundledCommand } from '../bundle.ts'
import { createGatewayProcess, freePort, type GatewayProcess } from './gateway-process.ts'

export const token = 'crash-hook-token-0123456789abcdef'
const gatewayToken = 'crash-gateway-token-0123456789abc'

export interface KilledGateway extends GatewayProcess {
  /** The folder of its configuration, which has the data folder `data`. */
  readonly folder: string
  /** The configuration file. */
  readonly file: string
  /** Checks the database of a stopped gateway. */
  checkStore(): void
  /** Returns how often the runner was called, by run. */
  asked(): Promise<Map<string, number>>
  /** Resolves when no run is queued or running. */
  everyRunEnded(): Promise<void>
  /** Returns every record of a list, by id or by another field. */
  readAll<Item extends object>(list: string, by?: string): Promise<Map<string, Item>>
  /** Returns an answer of the admin API; undefined where there is none, or an error. */
  read<Answer>(path: string): Promise<Answer | undefined>
  /** Returns what the channel `witness` was given to send: its key and its text. */
  sent(): Promise<readonly { readonly key: string; readonly text: string }[]>
}

/** Options of the process, besides the default ones. */
export interface ProcessOptions {
  /** Arguments for Node.js. */
  readonly node?: readonly string[]
  readonly env?: Record<string, string>
  /** Further lines of the configuration. */
  readonly settings?: string
  /** The value of `agents`. Default: the runner `counting`. */
  readonly agents?: string
  /** More plugins. */
  readonly plugins?: readonly string[]
  /** The data folder. Default: `data` beside the configuration. */
  readonly data?: string
}

const countingAgents = '{ defaults: { runner: counting }, route: { channel: terminal, to: stdout } }'

/** Declares the gateway of a test file. `hooks` has the lines under `hooks` besides its token. */
export function useKilledGateways(): (hooks?: string, process?: ProcessOptions) => Promise<KilledGateway> {
  const folders: string[] = []
  const gateways: KilledGateway[] = []
  before(bundledCommand)
  after(async () => {
    // After a failed test a gateway that is still alive would keep this process from ending.
    await Promise.all(gateways.map((gateway) => gateway.kill('SIGKILL').catch(() => undefined)))
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
  })
  return async (hooks = '', options = {}) => {
    const folder = await mkdtemp(join(tmpdir(), 'reveille-crash-'))
    folders.push(folder)
    const gateway = await install(folder, hooks, options)
    gateways.push(gateway)
    return gateway
  }
}

async function install(
  folder: string,
  hooks: string,
  {
    node = [],
    env,
    settings = '',
    agents = countingAgents,
    plugins = [],
    data = join(folder, 'data'),
  }: ProcessOptions,
): Promise<KilledGateway> {
  const port = await freePort()
  const file = join(folder, 'reveille.yaml')
  await writeFile(
    file,
    `gateway:
  port: ${port}
  dataDir: ${data}
  auth: { token: ${gatewayToken} }
  log: { level: warn, format: json }
hooks:
  enabled: true
  token: ${token}
${hooks}
agents: ${agents}
channels: { terminal: {}, witness: {} }
${settings}
plugins: ${JSON.stringify([fileURLToPath(new URL('./counting-runner', import.meta.url)), ...plugins])}
`,
  )
  const witness = join(folder, 'witness')
  const gateway = await createGatewayProcess({
    command: [...node, await bundledCommand(), 'start', '--config', file],
    port,
    env: { REVEILLE_TEST_WITNESS: witness, ...env },
  })
  return {
    ...gateway,
    folder,
    file,
    checkStore() {
      const store = new DatabaseSync(join(data, 'reveille.db'), { readOnly: true })
      assert.deepEqual(store.prepare('PRAGMA integrity_check').all().map(Object.values), [['ok']])
      assert.deepEqual(store.prepare('PRAGMA foreign_key_check').all(), [])
      store.close()
    },
    asked: async () => countLines(await readFile(witness, 'utf8')),
    everyRunEnded: () => everyRunEnded(gateway),
    readAll: (list, by = 'id') => readAll(gateway, list, by),
    read: (path) => read(gateway, path).catch(() => undefined) as Promise<never>,
    async sent() {
      const text = await readFile(`${witness}.sent`, 'utf8').catch(() => '')
      return text.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)))
    },
  }
}

/** Runs a command of the operator beside the gateway. */
export async function runCommand(t: TestContext, { file }: KilledGateway, ...words: readonly string[]) {
  const main = await bundledCommand()
  const child = spawn(process.execPath, [main, ...words, '--config', file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  })
  t.after(() => child.kill('SIGKILL'))
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk))
  const { promise, resolve } = Promise.withResolvers<{ code: number | null; out: string; err: string }>()
  child.on('close', (code) => resolve({ code, out, err }))
  return { child, ended: promise }
}

/** Kills the gateway, which ends nothing in order, and starts it again. */
export async function restart(gateway: GatewayProcess): Promise<void> {
  await gateway.kill('SIGKILL')
  await gateway.start()
}

/** Resolves when no run is unfinished and no delivery is pending. */
export async function everyDeliveryEnded(gateway: KilledGateway): Promise<void> {
  await gateway.everyRunEnded()
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
    const pending = await gateway.read<Page<DeliveryRecord>>('/api/deliveries?state=pending&limit=1')
    if (pending?.items.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('Not every delivery ended.')
}

/** As vendors do: no answer is a reason to post an event again. A duplicate of one that was committed before a kill is a 200. */
export async function postUntilAnswered(
  { url }: GatewayProcess,
  path: string,
  body: object,
  statuses: readonly number[],
): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; ) {
    try {
      const answer = await fetch(url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      await answer.text()
      if (statuses.includes(answer.status)) return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  throw new Error(`No gateway answered ${JSON.stringify(body)} with ${statuses.join(' or ')}.`)
}

/** A process may also be killed while it recovers from the last kill. */
export async function dieWhileStarting(gateway: GatewayProcess, afterMs: number): Promise<void> {
  const started = gateway.start().catch(() => {})
  await new Promise((resolve) => setTimeout(resolve, afterMs))
  await gateway.kill('SIGKILL')
  await started
}

async function everyRunEnded(gateway: GatewayProcess): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
    const [queued, running] = await Promise.all(
      ['queued', 'running'].map((state) =>
        read<Page<RunRecord>>(gateway, `/api/runs?limit=1&state=${state}`),
      ),
    )
    if (queued?.items.length === 0 && running?.items.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`Not every run ended:\n${gateway.output()}`)
}

async function read<Answer>(gateway: GatewayProcess, path: string): Promise<Answer | undefined> {
  const answer = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${gatewayToken}` } })
  return answer.ok ? ((await answer.json()) as Answer) : undefined
}

/** Returns every record of a list, by this field. */
async function readAll<Item extends object>(
  gateway: GatewayProcess,
  list: string,
  by: string,
): Promise<Map<string, Item>> {
  const all = new Map<string, Item>()
  for (let cursor = ''; ; ) {
    const page = await read<Page<Item>>(gateway, `/api/${list}?limit=500${cursor}`)
    assert.ok(page, `the list of ${list} can be read`)
    for (const item of page.items) all.set(String(item[by as keyof Item]), item)
    if (!page.next) return all
    cursor = `&cursor=${encodeURIComponent(page.next)}`
  }
}

function countLines(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of text.split('\n')) if (line) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}

/** A linear congruential generator (Numerical Recipes): the same kills at the same moments in every run. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
