/**
 * Records a short day of a gateway: requests of every outcome, replies to eight fake vendors, what operators do about them, and what the
 * API, the commands and the log say of it.
 */

import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'
import { parse } from 'yaml'
import { openVendors, type Vendors, vendorNames } from '../channels/eight.ts'
import { endedRun } from './decisions.ts'
import {
  type Call,
  type Fact,
  gatewayToken,
  hookToken,
  type Recorder,
  type RunningGateway,
  runCommand,
  until,
} from './recorder.ts'
import { digestOf, type Json, type Names, shapeOf, steady, steadyText } from './steady.ts'

const presets = globSync('*.yaml', { cwd: join(import.meta.dirname, '../../mappings') })
  .map((file) => basename(file, '.yaml'))
  .sort()
const scene: {
  readonly mappings: readonly { readonly id: string; readonly deliverTo?: unknown }[]
  /** Requests posted to hooks, in this order. */
  readonly requests: readonly (readonly [name: string, path: string, body: string, options?: Json])[]
} = parse(readFileSync(join(import.meta.dirname, 'scene.yaml'), 'utf8'))

export interface Scene {
  readonly vendors: Vendors
  readonly configure: (port: number) => object
  close(): Promise<void>
}

/** Starts the vendors. */
export async function openScene(): Promise<Scene> {
  const closing: (() => Promise<unknown>)[] = []
  const vendors = await openVendors({
    after: (close: () => Promise<unknown>) => closing.push(close),
  } as unknown as TestContext)
  return {
    vendors,
    configure: (port) => configuration(port, vendors),
    close: async () => void (await Promise.all(closing.map((close) => close()))),
  }
}

function configuration(port: number, { configuration: channels, addresses }: Vendors): object {
  const hostile = readFileSync(join(import.meta.dirname, '../channels/corpus/hostile.md'), 'utf8')
  const mappings = scene.mappings.map((mapping) => ({
    ...mapping,
    ...(mapping.id === 'hostile' && { message: hostile }),
    ...(mapping.deliverTo !== undefined && { deliverTo: addresses }),
  }))
  return {
    gateway: { port, auth: { token: gatewayToken }, log: { format: 'json' }, issues: { notify: false } },
    hooks: {
      ...{ enabled: true, token: hookToken, presets, mappings },
      allowRequestSessionKey: true,
      endpoints: {
        tiny: { maxBodyBytes: 20 },
        signed: { verify: { provider: 'github', secret: 'It is dark outside' } },
      },
    },
    history: { bodies: 'all' },
    agents: {
      defaults: { runner: 'echo' },
      runners: { broken: { kind: 'command', command: 'sh', args: ['-c', 'exit 3'] } },
      route: { channel: 'terminal' },
    },
    channels: { terminal: {}, ...JSON.parse(channels) },
  }
}

/** Plays the scene, and yields what it comes to. */
export async function* recordScene(
  recorder: Recorder,
  gateway: RunningGateway,
  { vendors }: Scene,
): AsyncGenerator<Fact> {
  const { call } = gateway
  yield* recordRequests(call)
  yield { key: 'scene GET to a hook', value: steady(await call('GET', '/hooks/orders')) }
  yield* recordActions(call)
  for (const name of vendorNames) yield { key: `vendor ${name}`, value: messagesAt(vendors, name) }
  const names = await namesOf(call)
  yield* recordReading(call, names)
  yield* recordMetrics(call)
  yield* recordLog(gateway)
  yield* recordCommands(recorder, gateway, names)
}

async function* recordRequests(call: Call): AsyncGenerator<Fact> {
  for (const [name, path, body, options = {}] of scene.requests) {
    const { status, body: reply } = await call('POST', `/hooks/${path}`, { ...options, body })
    await untilQuiet(call)
    const runs = [reply, ...(((reply as Json)['actions'] ?? []) as Json[])].flatMap(
      (each) => (each as Json)['runId'] ?? [],
    )
    const ended = await Promise.all(runs.map((id) => endedRun(call, `${id}`)))
    yield { key: `scene POST ${name}`, value: withShortTexts(steady({ status, reply, runs: ended })) }
  }
}

/** Records the orders of operators: replay, ignore, send. */
async function* recordActions(call: Call): AsyncGenerator<Fact> {
  const ids = await idsOf(call)
  const acts: readonly (readonly [method: string, path: string, body?: object])[] = [
    ['GET', `/api/requests/${ids.order}/as-test`],
    ['GET', `/api/requests/${ids.order}/explain`],
    ['GET', `/api/requests/${ids.order}/explain?generation=live`],
    ['GET', `/api/requests/${ids.order}/body`],
    ['POST', `/api/requests/${ids.order}/replay`, { dryRun: true }],
    ['POST', `/api/requests/${ids.order}/replay`, {}],
    ['POST', `/api/requests/${ids.order}/replay`, { payload: { kind: 'refund' } }],
    ['POST', `/api/requests/replay`, { filter: { endpoint: 'orders' }, dryRun: true }],
    ['POST', `/api/requests/replay`, { filter: { outcome: 'failed' } }],
    ['POST', `/api/requests/forget`, { filter: { endpoint: 'items' }, dryRun: true }],
    ['POST', `/api/requests/forget`, { ids: [ids.items] }],
    ['POST', `/api/runs/${ids.run}/cancel`],
    ['POST', `/api/runs/${ids.run}/resume`],
    ['POST', `/api/runs/${ids.run}/retry`],
    ['POST', `/api/runs/resume`, {}],
    ['POST', `/api/runs/retry`, { state: 'failed', dryRun: true }],
    ['POST', `/api/deliveries/${ids.parked}/replay`],
    ['POST', `/api/deliveries/replay`, { channel: 'slack' }],
    ['POST', `/api/deliveries`, { channel: 'telegram', text: 'Hello *there*' }],
    ['POST', `/api/deliveries`, { channel: 'pigeon', text: 'Hello' }],
    ['PUT', `/api/route`, { channel: 'discord', to: 'user:1500000000000000001' }],
    ['GET', `/api/route`],
    ['POST', `/api/reload`],
    ['POST', `/api/reload?dryRun=true&limit=100`],
    ['POST', `/api/generations/7/rollback`],
    ['POST', `/api/issues/mute`, { key: 'nothing' }],
    ['GET', `/api/find?q=hook:order:7`],
    ['GET', `/api/requests?colour=red`],
    ['GET', `/api/requests?since=yesterday`],
    ['GET', `/api/requests?limit=2`],
    ['GET', `/api/nothing`],
  ]
  for (const [method, path, body] of acts) {
    const answer = await call(method, path, body === undefined ? {} : { body: JSON.stringify(body) })
    await untilQuiet(call)
    const key = `scene ${method} ${steadyText(path)} ${body === undefined ? '' : steadyText(JSON.stringify(body))}`
    yield { key: key.trim(), value: withShortTexts(steady(answer, await namesOf(call))) }
  }
}

async function idsOf(call: Call) {
  const requestAt = async (endpoint: string) =>
    `${(await list(call, `requests?endpoint=${endpoint}`)).at(-1)?.['id']}`
  const [parked] = await list(call, 'deliveries?state=parked')
  return {
    order: await requestAt('orders'),
    items: await requestAt('items'),
    run: `${(await list(call, 'runs')).at(-1)?.['id']}`,
    parked: `${parked?.['id']}`,
  }
}

async function list(call: Call, path: string): Promise<readonly Json[]> {
  const { body } = await call('GET', `/api/${path}`)
  return ((body as Json)['items'] ?? []) as Json[]
}

/** Waits until all that follows from what was done is over, but for what the next heartbeat is for. */
async function untilQuiet(call: Call): Promise<void> {
  await until('the end of everything', async () => {
    const open = await Promise.all([
      ...['runs?state=queued', 'runs?state=running', 'deliveries?state=pending'].map((path) =>
        list(call, path),
      ),
      list(call, 'events?state=pending').then((events) => events.filter(({ mode }) => mode === 'now')),
    ])
    return open.flat().length === 0 ? true : undefined
  })
}

/** The messages that a vendor got, without its tokens and what it was asked beside. */
function messagesAt({ byName }: Vendors, name: (typeof vendorNames)[number]): unknown {
  return byName[name].requests.map(({ method, path, query, text, json }) =>
    steady({
      method,
      path: steadyText(path),
      query: [...query.keys()],
      body: json ?? Object.keys(Object.fromEntries(new URLSearchParams(text))),
    }),
  )
}

/** Names of all records by their kind and place, the oldest first; of their ids also the last six digits, which commands print. */
async function namesOf(call: Call): Promise<Names> {
  const names = new Map<string, string>()
  for (const kind of ['requests', 'runs', 'events', 'deliveries', 'jobs']) {
    const ids = (await list(call, `${kind}?limit=200`)).map(({ id }) => `${id}`)
    for (const [index, id] of ids.toReversed().entries()) names.set(id, `${kind}-${index + 1}`)
  }
  const short = [...names].map(([id, name]) => [id.slice(-6), name] as const)
  return new Map([...names, ...short])
}

async function* recordReading(call: Call, names: Names): AsyncGenerator<Fact> {
  for (const kind of ['requests', 'runs', 'events', 'deliveries', 'sessions']) {
    const items = await list(call, `${kind}?limit=200`)
    const rows = items.map((item) => ({ record: idOf(item), fields: Object.keys(item) }))
    yield { key: `scene list ${kind}`, value: steady(rows, names) }
    for (const item of items) {
      const { body } = await call('GET', `/api/${kind}/${encodeURIComponent(idOf(item))}`)
      yield {
        key: `scene record ${kind} ${steadyText(idOf(item), names)}`,
        value: withShortTexts(steady(body, names)),
      }
    }
  }
  yield { key: 'scene issues', value: steady(await list(call, 'issues'), names) }
  yield { key: 'scene generations', value: shapeOf(await list(call, 'generations')) }
  const mappings = await list(call, 'mappings')
  const ours = mappings.filter(({ place }) => !`${place}`.startsWith('preset '))
  yield { key: 'scene mappings', value: steady(ours, names) }
}

const idOf = (record: Json) => `${record['id'] ?? record['key']}`

/** The beginning of each long text, and its digest: vendors have it whole. */
function withShortTexts(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, each) =>
    typeof each === 'string' && each.length > 400 ? `${each.slice(0, 100)}… ${digestOf(each)}` : each,
  )
}

/** Names, kinds and labels, without values. */
async function* recordMetrics(call: Call): AsyncGenerator<Fact> {
  const { body } = await call('GET', '/metrics')
  const lines = `${body}`.split('\n').filter((line) => line !== '')
  const series = lines.map((line) =>
    line.startsWith('#') ? line : line.replace(/ \S+$/, '').replace(process.version, '<version>'),
  )
  for (const [name, all] of Map.groupBy(series, (line) => /reveille_\w+|\w+/.exec(line)?.[0])) {
    if (name?.startsWith('reveille_'))
      yield { key: `metric ${name}`, value: all.map((line) => steadyText(line)).sort() }
  }
}

/** Each event of the log with its level, its fields and the words of one line. */
async function* recordLog({ log }: RunningGateway): AsyncGenerator<Fact> {
  const lines = log().map((line) => JSON.parse(line) as Json)
  for (const [event, all] of Map.groupBy(lines, (line) => `${line['event']}`)) {
    const fields = [...new Set(all.flatMap((line) => Object.keys(line)))].sort()
    yield {
      key: `log ${event}`,
      value: { levels: [...new Set(all.map(({ level }) => level))].sort(), fields },
    }
  }
}

async function* recordCommands(
  recorder: Recorder,
  { home }: RunningGateway,
  names: Names,
): AsyncGenerator<Fact> {
  const oldest = (kind: string) => [...names].find(([, name]) => name === `${kind}-1`)?.[0] ?? 'none'
  const commands = [
    ['status'],
    ...[
      'requests',
      'runs',
      'events',
      'deliveries',
      'issues',
      'sessions',
      'generations',
      'spend',
      'route',
    ].map((each) => [each]),
    ...['requests', 'runs', 'events', 'deliveries'].map((each) => [each, oldest(each)]),
    ...['explain', 'try'].map((each) => [each, oldest('requests')]),
    ...['requests', 'runs', 'status'].map((each) => [each, '--json']),
    ['doctor'],
    ['check'],
    ['reload'],
  ]
  for (const command of commands) {
    const key = `command ${steadyText(command.join(' '), names)}`
    if (!recorder.wants(key)) continue
    const { code, out, err } = await runCommand(recorder, command, { cwd: home })
    const printed = command.includes('--json') ? shapeOf(JSON.parse(out)) : columns(steadyText(out, names))
    yield { key, value: { code, out: printed, err: columns(steadyText(err, names)) } }
  }
}

/** Names are longer than what they replace, so that columns lose their places. What `doctor` says of a machine is not ours. */
function columns(text: string): string {
  return text
    .replace(/\nMachine\n.*/s, '\n')
    .replace(/ {2,}/g, '  ')
    .replace(/the user of the gateway \(\d+\)/, 'the user of the gateway')
    .replace(/\b[0-9a-f]{16}\b/g, '<digest>')
    .replace(/\b\d{4}-\d\d-\d\d\b/g, '<day>')
    .replace(/\b\d+(\.\d+)? ?(ms|s|min|KB|KiB|MB|MiB|GB|GiB|B)\b/g, '<measured>')
}
