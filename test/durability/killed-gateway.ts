/** Provides a gateway in its own process, which tests kill and ask about its runs. */

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Page, RequestRecord, RunRecord } from '../../runtime/store/port.ts'
import { bundledCommand } from '../bundle.ts'
import { until } from '../installation.ts'
import { spawnReveille } from '../process/reveille-process.ts'
import { createGatewayProcess, freePort, type GatewayProcess } from './gateway-process.ts'

export const token = 'crash-hook-token-0123456789abcdef'
const gatewayToken = 'crash-gateway-token-0123456789abc'

export interface KilledGateway extends GatewayProcess {
  /** The folder of its configuration, which has the data folder `data`. */
  readonly folder: string
  /** The configuration file. */
  readonly file: string
  /** Ends the gateway in order, and checks its database. */
  endInOrder(): Promise<void>
  /** Returns how often the runner was called, by run. */
  asked(): Promise<Map<string, number>>
  /** Resolves when no run is queued or running, and no delivery is pending. */
  everythingEnded(): Promise<void>
  /** Resolves once `/readyz` answers with the status, with the milliseconds until then. */
  becomes(status: 200 | 503): Promise<number>
  /** Returns every record of a list, by id or by another field. */
  readAll<Item extends object>(list: string, by?: string): Promise<Map<string, Item>>
  /** Returns the runs but for heartbeats. */
  runs(): Promise<readonly RunRecord[]>
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
  const read = <Answer>(path: string) => readApi<Answer>(gateway, path).catch(() => undefined)
  const isNone = async (list: string) =>
    (await read<Page<object>>(`/api/${list}&limit=1`))?.items.length === 0
  const readAll: KilledGateway['readAll'] = (list, by = 'id') => readList(gateway, list, by)
  return {
    ...gateway,
    folder,
    file,
    read,
    readAll,
    runs: async () => [...(await readAll<RunRecord>('runs')).values()].filter(({ kind }) => kind === 'run'),
    async endInOrder() {
      assert.equal((await gateway.kill('SIGTERM')).code, 0, gateway.output())
      const store = new DatabaseSync(join(data, 'reveille.db'), { readOnly: true })
      assert.deepEqual(store.prepare('PRAGMA integrity_check').all().map(Object.values), [['ok']])
      assert.deepEqual(store.prepare('PRAGMA foreign_key_check').all(), [])
      store.close()
    },
    async asked() {
      const runs = (await readFile(witness, 'utf8')).split('\n').filter(Boolean)
      return new Map([...Map.groupBy(runs, (run) => run)].map(([run, calls]) => [run, calls.length]))
    },
    async everythingEnded() {
      const open = ['runs?state=queued', 'runs?state=running', 'deliveries?state=pending']
      const isOver = async () => (await Promise.all(open.map(isNone))).every(Boolean) || undefined
      await until(isOver, 'the end of every run and delivery', 60_000)
    },
    async becomes(status) {
      const began = performance.now()
      const asked = () => fetch(`${gateway.url}/readyz`).catch(() => undefined)
      const has = async () => (await asked())?.status === status || undefined
      await until(has, `/readyz to answer ${status}`)
      return performance.now() - began
    },
    async sent() {
      const text = await readFile(`${witness}.sent`, 'utf8').catch(() => '')
      return text.split('\n').flatMap((line) => (line === '' ? [] : JSON.parse(line)))
    },
  }
}

/** Runs a command of the operator beside the gateway. */
export function runCommand(t: TestContext, { folder }: KilledGateway, ...words: readonly string[]) {
  return spawnReveille(t, words, { cwd: folder, env: { NO_COLOR: '1' } })
}

/** Kills the gateway, which ends nothing in order, and starts it again. */
export async function restart(gateway: GatewayProcess): Promise<void> {
  await gateway.kill('SIGKILL')
  await gateway.start()
}

interface Kills {
  readonly kills: number
  readonly random: () => number
  /** Resolves when the next kill may come. */
  readonly next: (kill: number) => Promise<unknown>
  readonly whileDown?: () => void
}

/** Kills the gateway at random moments, and every third time also while it recovers from that. */
export async function killAtRandom(
  gateway: GatewayProcess,
  { kills, random, next, whileDown }: Kills,
): Promise<void> {
  for (let kill = 1; kill <= kills; kill += 1) {
    await next(kill)
    await pause(random() * 150)
    await gateway.kill('SIGKILL')
    whileDown?.()
    if (kill % 3 === 0) {
      const started = gateway.start().catch(() => {})
      await pause(random() * 300)
      await gateway.kill('SIGKILL')
      await started
    }
    await gateway.start()
  }
}

/**
 * Posts each body as vendors do: 20 at a time, and again if there is no answer, of which a kill may be the reason. A duplicate of one that
 * was committed before a kill is a 200. The gateway is killed so many times meanwhile.
 */
export async function postWhileKilled(
  gateway: GatewayProcess,
  posts: readonly { readonly path: string; readonly body: object; readonly statuses: readonly number[] }[],
  kills: number,
): Promise<void> {
  let next = 0
  const post = async ({ path, body, statuses }: (typeof posts)[number]) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(gateway.url + path, sent).catch(() => undefined)
    await answer?.text().catch(() => undefined)
    return statuses.includes(answer?.status ?? 0) || undefined
  }
  const sender = async () => {
    for (let each = posts[next++]; each !== undefined; each = posts[next++]) {
      const { path, body } = each
      const answered = () => post(each as (typeof posts)[number])
      await until(answered, `an answer to ${path} ${JSON.stringify(body)}`, 60_000)
    }
  }
  const posting = Promise.all(Array.from({ length: 20 }, sender))
  for (let kill = 1; kill <= kills; kill += 1) {
    const isDue = () => next >= (posts.length * kill) / (kills + 1) || undefined
    await until(isDue, 'the moment of the next kill', 60_000)
    await restart(gateway)
  }
  await posting
}

async function readApi<Answer>(gateway: GatewayProcess, path: string): Promise<Answer | undefined> {
  const answer = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${gatewayToken}` } })
  return answer.ok ? ((await answer.json()) as Answer) : undefined
}

/** Returns every record of a list, by this field. */
async function readList<Item extends object>(
  gateway: GatewayProcess,
  list: string,
  by: string,
): Promise<Map<string, Item>> {
  const all = new Map<string, Item>()
  for (let cursor = ''; ; ) {
    const page = await readApi<Page<Item>>(gateway, `/api/${list}?limit=500${cursor}`)
    assert.ok(page, `the list of ${list} can be read`)
    for (const item of page.items) all.set(String(item[by as keyof Item]), item)
    if (!page.next) return all
    cursor = `&cursor=${encodeURIComponent(page.next)}`
  }
}

/** A linear congruential generator (Numerical Recipes): the same kills at the same moments in every run. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

export async function assertKept(
  gateway: KilledGateway,
  acknowledged: readonly { readonly requestId: string; readonly runId: string }[],
): Promise<void> {
  const requests = await gateway.readAll<RequestRecord>('requests')
  const runs = await gateway.readAll<RunRecord>('runs')
  const lost = acknowledged.filter(({ requestId, runId }) => !requests.has(requestId) || !runs.has(runId))
  assert.equal(lost.length, 0, `${lost.length} of ${acknowledged.length} acknowledged are lost`)
}
