/** Makes the configurations that tests compile; used by tests only. */

import type { Configuration, MappingEntry, MappingSource } from '../config/configuration.ts'
import type { Place } from '../config/file/diagnostic.ts'
import type { Settings } from '../config/settings.ts'
import type { Action, AgentAction, Decision, HookRequest, WakeAction } from '../resolve/model/decision.ts'
import type { TransformFunction } from '../transform/port.ts'
import { type Compiled, compileSnapshot } from './compile-snapshot.ts'
import type { Catalog, Snapshot } from './snapshot.ts'

export const catalog: Catalog = {
  channels: ['terminal', 'slack', 'telegram', 'whatsapp'],
  runners: ['echo', 'command'],
}

const fixtureSettings: Settings = {
  file: '/etc/reveille/reveille.yaml',
  gateway: {
    host: '127.0.0.1',
    port: 8787,
    tokens: [],
    holders: [],
    metricsTokens: [],
    trustedProxies: [],
    dataDir: '/var/lib/reveille',
    store: 'sqlite',
    log: { level: 'info' },
    limits: { backlog: 1_000_000 },
    issues: { notify: true, severity: 'failing' },
  },
  hooks: {
    enabled: true,
    tokens: ['hook-token'],
    path: '/hooks',
    allowQueryToken: true,
    allowRequestSessionKey: true,
    maxBodyBytes: 1_048_576,
    bodyTimeoutMs: 10_000,
    maxActions: 100,
    maxRenderedBytes: 262_144,
    mappingsDir: '/etc/reveille/mappings',
    transformsDir: '/etc/reveille/transforms',
    transforms: { defaults: { timeoutMs: 5000, memoryMb: 128, concurrency: 4 }, modules: {} },
    reload: { requireTests: true, debounceMs: 50, restMs: 1000, poll: false },
  },
  history: { bodies: 'failed', keepMs: 604_800_000, ignoredMs: 3_600_000, maxBodyBytes: 1_073_741_824 },
  agents: {
    defaults: {
      runner: 'echo',
      timeoutSeconds: 600,
      heartbeat: { everyMs: 1_800_000, idle: false, ackToken: 'HEARTBEAT_OK', prompt: 'Anything to do?' },
      concurrency: 8,
      retry: { attempts: 3, firstMs: 2000, maxMs: 120_000 },
    },
    sessions: { maxCharacters: 200_000, maxMessages: 200, compaction: 'drop', idleMs: 86_400_000 },
    prices: {},
    providers: {},
    runners: { claude: { kind: 'command' } },
  },
  deliveries: { retryForMs: 86_400_000, retryUnsure: false, maxMessages: 10 },
  channels: { terminal: {}, slack: {} },
  sources: {},
  observers: {},
  plugins: [],
}

export type Mapping = Omit<MappingSource, 'action'> & {
  readonly id?: string
  readonly action?: MappingSource['action']
}

export interface Fixture {
  readonly hooks?: Partial<Settings['hooks']>
  readonly defaults?: Partial<Settings['agents']['defaults']>
  readonly agents?: Partial<Settings['agents']>
  readonly channels?: Settings['channels']
  readonly endpoints?: Configuration['endpoints']
  /** The functions by module; each stands for every export of its module. */
  readonly transforms?: Readonly<Record<string, TransformFunction>>
  /** Disabled mappings, with the lines on which they stand among the others, from 1. */
  readonly disabled?: readonly (Mapping & { readonly line: number })[]
}

/** A configuration whose every field stands on a line of its own, as `key: value`. */
export function configurationOf(mappings: readonly Mapping[], fixture: Fixture = {}): Configuration {
  const { hooks, agents } = fixtureSettings
  return structuredCloneOf({
    settings: {
      ...fixtureSettings,
      hooks: { ...hooks, ...fixture.hooks },
      agents: { ...agents, ...fixture.agents, defaults: { ...agents.defaults, ...fixture.defaults } },
      channels: fixture.channels ?? fixtureSettings.channels,
    },
    mappings: mappings.map(entryOf),
    disabled: (fixture.disabled ?? []).map(({ line, ...mapping }) => ({
      ...entryOf(mapping, line - 1),
      order: line - 1.5,
    })),
    tests: [],
    endpoints: fixture.endpoints ?? {},
    digest: 'd1',
    sources: new Map(),
    secrets: [],
    watched: [],
    unset: [],
    warnings: [],
    locate: (path) => placeOf(`${path.join('.')}: `, 1, 1),
  })
}

/** Shared fixtures must not be frozen by a compilation. */
function structuredCloneOf(configuration: Configuration): Configuration {
  return { ...configuration, settings: structuredClone(configuration.settings) }
}

function entryOf({ id = 'first', ...value }: Mapping, index: number): MappingEntry {
  const source: MappingSource = { action: 'agent', ...value }
  return {
    id,
    order: index,
    origin: { kind: 'file', name: 'mappings/test.yaml' },
    value: source,
    label: `mappings/test.yaml:${index + 1}:1`,
    locate: (path, offset = 0) => {
      const field: unknown = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], source)
      const name = `    ${path.at(-1) ?? ''}: `
      return placeOf(`${name}${String(field)}`, index + 1, name.length + offset + 1)
    },
  }
}

function placeOf(text: string, line: number, column: number): Place {
  return { file: '/etc/reveille/mappings/test.yaml', line, column, text }
}

/** Makes ids that count up, so that texts can be compared. */
export function countingRandomness(): { mint: () => string; randomId: () => string } {
  let minted = 0
  let fenced = 0
  return { mint: () => `uuid-${++minted}`, randomId: () => `id${++fenced}` }
}

export function compileFixture(mappings: readonly Mapping[], fixture?: Fixture): Compiled {
  const transforms = { bind: (module: string) => fixture?.transforms?.[module] }
  return compileSnapshot(configurationOf(mappings, fixture), catalog, countingRandomness(), transforms)
}

/** @throws Error if the mappings do not compile */
export function snapshotOf(mappings: readonly Mapping[], fixture?: Fixture): Snapshot {
  const compiled = compileFixture(mappings, fixture)
  if (!compiled.ok) throw new Error(compiled.diagnostics.map(({ message }) => message).join('\n'))
  return compiled.snapshot
}

/** Makes a request as the hook surface would pass it. */
export function requestOf(payload: unknown, request: Partial<HookRequest> = {}): HookRequest {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return {
    endpoint: 'test',
    headers: {},
    query: {},
    payload: JSON.parse(body),
    rawBody: Buffer.from(body),
    now: Date.UTC(2026, 0, 2, 3, 4, 5),
    ...request,
  }
}

export function actionOf(decision: Decision): Action {
  const action = decision.outcome === 'accepted' ? decision.actions[0] : undefined
  if (action === undefined) throw new Error(`not accepted: ${JSON.stringify(decision)}`)
  return action
}

/** Returns the decision of one mapping about one payload. */
export async function agentOf(mapping: Mapping, payload: unknown, fixture?: Fixture): Promise<AgentAction> {
  return actionOf(await snapshotOf([mapping], fixture).resolve(requestOf(payload))) as AgentAction
}

export async function wakeOf(mapping: Mapping, payload: unknown, fixture?: Fixture): Promise<WakeAction> {
  const wake: Mapping = { ...mapping, action: 'wake' }
  return actionOf(await snapshotOf([wake], fixture).resolve(requestOf(payload))) as WakeAction
}

export async function refusalOf(
  mapping: Mapping,
  payload: unknown,
  fixture?: Fixture,
): Promise<Extract<Decision, { code: string }>> {
  const decision = await snapshotOf([mapping], fixture).resolve(requestOf(payload))
  if (!('code' in decision)) throw new Error(`not refused: ${JSON.stringify(decision)}`)
  return decision
}
