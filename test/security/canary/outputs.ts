/** Reads everything that a gateway says: over HTTP, on the command line, and on its disk. */

import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { TestContext } from 'node:test'
import { createCommandLine } from '../../../runtime/cli/io-fixture.ts'
import type { Installation } from '../../installation.ts'
import { startReveille } from '../../process/reveille-process.ts'
import { bodies, configured, credentials, echoed, heads, ids } from './canaries.ts'
import { payload } from './requests.ts'

/** A text and where it was read. */
export interface Output {
  readonly from: string
  readonly text: string
}

type Ask = (path: string, method?: string, payload?: object) => Promise<Output>

const headers = { authorization: `Bearer ${configured['gateway-token']}` }

export async function readApi(address: string): Promise<Output[]> {
  const outputs: Output[] = []
  const ask: Ask = async (path, method = 'GET', payload) => {
    const body = payload === undefined ? {} : { body: JSON.stringify(payload) }
    const type: Record<string, string> = payload === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await fetch(address + path, { method, headers: { ...headers, ...type }, ...body })
    const output = { from: `${method} ${path}`, text: await answer.text() }
    outputs.push(output)
    return output
  }
  for (const list of ['requests', 'runs', 'events', 'deliveries', 'sessions', 'generations']) {
    const { items } = JSON.parse((await ask(`/api/${list}?limit=500`)).text) as {
      items: Record<string, unknown>[]
    }
    for (const item of items) {
      const id = item['id'] ?? item['key'] ?? item['generation']
      await ask(`/api/${list}/${encodeURIComponent(String(id))}`)
    }
  }
  const { items: ended } = JSON.parse((await ask('/api/runs?state=succeeded&limit=1')).text) as {
    items: { id: string }[]
  }
  for (const { id } of ended) await ask(`/api/runs/${id}/cancel`, 'POST')
  await askAboutRequests(ask)
  await askDryRuns(ask)
  outputs.push(await readFrame(address))
  const note = heads['query-note']
  const looked = [
    'status health series spend jobs route endpoints mappings issues openapi.json generations/1/compare?with=1',
    'generations/1/file?path=reveille.yaml generations/1/file?path=mappings/all.yaml',
    `find?q=${ids['delivery-id']} find?q=${note} requests?since=${note} runs?limit=${note} runs?cursor=${note}`,
    `runs/${note} sessions/${note} ${note} generations/${note}`,
  ]
  for (const path of looked.flatMap((line) => line.split(' '))) await ask(`/api/${path}`)
  const pages = `/healthz /readyz /metrics /console /console/assets/${note}.js /${note}`
  for (const path of pages.split(' ')) await ask(path)
  await ask('/api/reload?dryRun=true&limit=100', 'POST')
  await ask('/api/reload', 'POST')
  await ask('/api/route', 'PUT', { channel: note })
  for (const [path, asked] of Object.entries({
    deliveries: { channel: note, text: 'x' },
    session: { token: note },
    'issues/resolve': { key: note },
    'runs/resume': { code: note },
    'deliveries/replay': { channel: note },
    'requests/forget': { filter: { client: note }, dryRun: true },
    [`runs/${note}/cancel`]: undefined,
    [`deliveries/${note}/replay`]: undefined,
    [`requests/${note}/replay`]: undefined,
    'generations/99/rollback': undefined,
  }))
    await ask(`/api/${path}`, 'POST', asked)
  outputs.push(...(await readUnauthenticated(address)))
  return outputs
}

/** The answers to those that may not do what they ask for: a token without the right, and pages of another site. */
async function readUnauthenticated(address: string): Promise<Output[]> {
  const json = { 'content-type': 'application/json' }
  const foreign = { ...json, origin: 'https://example.org', cookie: `reveille_session=${credentials.cookie}` }
  const reader = { ...json, authorization: `Bearer ${configured['reader-token']}`, 'x-note': heads.header }
  const asked: [from: string, path: string, headers: Record<string, string>][] = [
    ['without the right', '/api/reload', reader],
    ['from another site', '/api/session', foreign],
    ['with half of a sign-in', '/api/reload', foreign],
  ]
  return Promise.all(
    asked.map(async ([from, path, headers]) => {
      const body = JSON.stringify({ token: credentials['wrong-token'] })
      const answer = await fetch(address + path, { method: 'POST', headers, body })
      return { from: `POST ${path} ${from}`, text: await answer.text() }
    }),
  )
}

/** Asks everything about the newest request of each endpoint, outcome and code, and does the failed ones again. */
async function askAboutRequests(ask: Ask): Promise<void> {
  const { items } = JSON.parse((await ask('/api/requests?limit=500')).text) as {
    items: Record<'id' | 'endpoint' | 'outcome' | 'code', string>[]
  }
  const kinds = Map.groupBy(items, ({ endpoint, outcome, code }) => `${endpoint} ${outcome} ${code}`)
  for (const id of Array.from(kinds.values(), ([newest]) => newest?.id)) {
    for (const what of ['explain', 'explain?generation=live', 'explain?generation=1', 'as-test', 'body'])
      await ask(`/api/requests/${id}/${what}`)
    await ask(`/api/requests/${id}/replay`, 'POST', { dryRun: true })
    await ask(`/api/requests/${id}/replay`, 'POST', { payload: '{"text":"[redacted]"}', dryRun: true })
  }
  for (const endpoint of new Set(items.map(({ endpoint }) => encodeURIComponent(endpoint))))
    for (const what of ['samples', 'paths']) await ask(`/api/endpoints/${endpoint}/${what}`)
  const filter = { outcome: 'failed' }
  await ask('/api/requests/replay', 'POST', { filter, dryRun: true })
  const { job } = JSON.parse((await ask('/api/requests/replay', 'POST', { filter })).text) as { job: string }
  for (;;) if (!(await ask(`/api/jobs/${job}`)).text.includes('"state":"running"')) return
}

async function askDryRuns(ask: Ask): Promise<void> {
  const wish = { payload, headers: { 'x-note': echoed['echoed-key'], cookie: `a=${credentials.cookie}` } }
  for (const endpoint of ['plain', 'picky', 'transformed', 'schema', 'none'])
    await ask('/api/try', 'POST', { ...wish, endpoint })
  for (const mapping of [
    '{ match: { path: plain }, message: "Read {{text}}" }',
    '{ match: { path: plain }, message: "Read {{text}} with ${HOOK_TOKEN}" }',
    '{ match: { path: plain }, mesage: "${file:github-secret}" }',
    `{ match: { path: plain, body: { deep: x } }, message: "${echoed['echoed-key']}" }`,
  ])
    await ask('/api/try', 'POST', { ...wish, endpoint: 'plain', mapping })
}

/** Reads the stream until it has shown a request. */
async function readFrame(address: string): Promise<Output> {
  const leaving = new AbortController()
  const { body } = await fetch(`${address}/api/stream`, { headers, signal: leaving.signal })
  let text = ''
  for await (const bytes of body ?? []) {
    text += Buffer.from(bytes).toString()
    if (text.includes('event: frame')) break
    await fetch(`${address}/hooks/picky`, {
      method: 'POST',
      headers: { authorization: `Bearer ${configured['hook-token']}`, 'x-note': echoed['echoed-key'] },
      body: JSON.stringify({ text: echoed['echoed-key'], password: bodies.hidden }),
    })
  }
  leaving.abort()
  return { from: 'GET /api/stream', text }
}

/** Reads the details of one request of each outcome and code. */
export async function readCommands(
  t: TestContext,
  { folder }: Installation,
  address: string,
  isThorough: boolean,
): Promise<Output[]> {
  const env = { REVEILLE_URL: address, REVEILLE_GATEWAY_TOKEN: configured['gateway-token'] }
  const online = await createCommandLine(t, {}, { env, fetch, now: Date.now })
  const offline = await createCommandLine(t, {}, { cwd: folder, fetch: noNetwork, now: Date.now })
  const outputs: Output[] = []

  async function run(line: typeof online, ...args: readonly string[]): Promise<string> {
    const { out, err } = await line.run(...args)
    outputs.push({ from: args.join(' '), text: `${out}\n${err}` })
    return out
  }
  async function both(line: typeof online, ...args: readonly string[]): Promise<void> {
    await run(line, ...args)
    await run(line, ...args, '--json')
  }

  await both(online, 'generations')
  for (const list of ['requests', 'runs', 'events', 'deliveries', 'sessions']) {
    await run(online, list)
    // Of each kind the oldest is asked for, which no request added here displaces.
    const { items } = JSON.parse(await run(online, list, '--json', '--limit', '500')) as {
      items: Record<string, string>[]
    }
    // One request of each outcome.
    const kinds = new Map(items.map((item) => [`${item['outcome']} ${item['state']}`, item]))
    for (const item of kinds.values()) {
      await both(online, list, item['id'] ?? item['key'] ?? '')
      if (list === 'requests') await run(online, 'explain', item['id'] ?? '', '--json')
    }
  }
  for (const args of [['status'], ['route'], ['reload', '--dry-run']]) await both(online, ...args)
  // Each of these commands loads and compiles the whole configuration, so by default only a third of them runs.
  const config = ['--config', 'reveille.yaml']
  const request = ['--payload', 'payload.json', '--header', `cookie: ${credentials.cookie}`, ...config]
  const signed = ['--request', 'request.http', '--endpoint', 'github', '--offline', ...config]
  const asked = [
    ...['check', 'lint', 'test', 'doctor'].map((command) => [command, ...config]),
    ...['try', 'explain'].flatMap((command) =>
      ['plain', 'picky', 'transformed'].map((endpoint) => [command, endpoint, ...request]),
    ),
    ['doctor', 'signature', ...signed],
  ].flatMap((args) => [args, [...args, '--json']])
  for (const [index, args] of asked.entries()) if (isThorough || index % 3 === 0) await run(offline, ...args)
  return outputs
}

/** Returns the output of a gateway, from its start to its end. */
export async function readStart(t: TestContext, { folder }: Installation): Promise<Output> {
  const { send, ended, stdout, stderr } = await startReveille(t, folder)
  send('SIGTERM')
  await ended
  return { from: 'start', text: `${stdout()}\n${stderr()}` }
}

const noNetwork = () => Promise.reject(new TypeError('no network'))

export interface Kept {
  /** The path below the folder. */
  readonly file: string
  readonly bytes: string
  /** True if other users may read it. */
  readonly open: boolean
}

export async function readDisk(folder: string): Promise<Kept[]> {
  const kept: Kept[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const open = ((await stat(path)).mode & 0o077) !== 0
    const bytes = entry.isFile() ? await readFile(path, 'latin1') : ''
    kept.push({ file: relative(folder, path), bytes, open })
  }
  return kept
}
