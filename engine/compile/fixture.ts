/** Makes the configurations that tests compile; used by tests only. */

import { join, resolve } from 'node:path'
import type { Configuration, MappingEntry, MappingSource } from '../config/configuration.ts'
import type { Place } from '../config/file/diagnostic.ts'
import { checkValue } from '../config/schema/check.ts'
import { type ConfigurationValue, configurationSchema } from '../config/schema/configuration-schema.ts'
import { resolveSettings, type Settings } from '../config/settings.ts'
import type { Action, AgentAction, Decision, HookRequest } from '../resolve/model/decision.ts'
import type { TransformFunction } from '../transform/port.ts'
import { type Compiled, createCompiler } from './compile-snapshot.ts'
import type { Catalog, Snapshot } from './snapshot.ts'

export const catalog: Catalog = {
  channels: ['terminal', 'slack', 'telegram', 'whatsapp'],
  runners: ['echo', 'command'],
}

const value = {
  gateway: { dataDir: '/var/lib/reveille' },
  hooks: { enabled: true, token: 'hook-token' },
  agents: {
    defaults: { concurrency: 8, heartbeat: { prompt: 'Anything to do?' } },
    runners: { claude: { kind: 'command' } },
  },
  channels: { terminal: {}, slack: {} },
}
checkValue(configurationSchema, value)
const folder = '/etc/reveille'
const fixtureSettings: Settings = resolveSettings(
  value as unknown as ConfigurationValue,
  join(folder, 'reveille.yaml'),
  (path) => resolve(folder, path),
)

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
  /** Disabled mappings, with their line numbers among the others, from 1. */
  readonly disabled?: readonly (Mapping & { readonly line: number })[]
}

/** A configuration whose every field is on a line of its own, as `key: value`. */
export function configurationOf(mappings: readonly Mapping[], fixture: Fixture = {}): Configuration {
  const { hooks, agents } = fixtureSettings
  // Shared fixtures must not be frozen by a compilation.
  const settings = structuredClone({
    ...fixtureSettings,
    hooks: { ...hooks, ...fixture.hooks },
    agents: { ...agents, ...fixture.agents, defaults: { ...agents.defaults, ...fixture.defaults } },
    channels: fixture.channels ?? fixtureSettings.channels,
  })
  const disabled = (fixture.disabled ?? []).map(({ line, ...mapping }) => ({
    ...entryOf(mapping, line - 1),
    order: line - 1.5,
  }))
  return {
    ...{ settings, disabled, mappings: mappings.map(entryOf), endpoints: fixture.endpoints ?? {}, tests: [] },
    ...{
      value: value as unknown as ConfigurationValue,
      digest: 'd1',
      sharedDigest: 'd1',
      sources: new Map(),
      secrets: [],
      watched: [],
      unset: [],
      warnings: [],
    },
    locate: (path) => placeOf(`${path.join('.')}: `, 1, 1),
  }
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

export function compileFixture(mappings: readonly Mapping[], fixture?: Fixture): Promise<Compiled> {
  const transforms = { bind: (module: string) => fixture?.transforms?.[module] }
  const { compile } = createCompiler({ randomness: countingRandomness() })
  return compile(configurationOf(mappings, fixture), catalog, transforms)
}

/** @throws Error if the mappings do not compile */
export async function snapshotOf(mappings: readonly Mapping[], fixture?: Fixture): Promise<Snapshot> {
  const compiled = await compileFixture(mappings, fixture)
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
  return actionOf(await (await snapshotOf([mapping], fixture)).resolve(requestOf(payload))) as AgentAction
}

export async function refusalOf(
  mapping: Mapping,
  payload: unknown,
  fixture?: Fixture,
): Promise<Extract<Decision, { code: string }>> {
  const decision = await (await snapshotOf([mapping], fixture)).resolve(requestOf(payload))
  if (!('code' in decision)) throw new Error(`not refused: ${JSON.stringify(decision)}`)
  return decision
}
