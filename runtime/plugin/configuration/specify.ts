/** Lists what a configuration asks for: one specification for each channel, runner, source, provider and observer. */

import {
  type Catalog,
  channelName,
  holdsUnset,
  keyOfSource,
  type Settings,
  type Snapshot,
} from '@reveille/engine'
import { nearestName } from '@reveille/engine/text'
import type { Directory } from './directory.ts'
import { type InheritedKey, listOf, type PluginPackage, type ProvidedKind } from './package.ts'
import { mapJoined, PluginSetupError } from './setup-error.ts'

/** One channel, runner, source, provider or observer that is to run. Equal specifications share one instance. */
export interface Specification {
  readonly kind: ProvidedKind
  /** The name that configuration uses: a channel's, a source's, a runner's own, or the endpoint of a provider. */
  readonly name: string
  /** The plugin's name for it: that of a channel, source or provider, or a runner's kind. */
  readonly id: string
  /** The configuration key to blame: `channels.slack`. */
  readonly key: string
  readonly package: PluginPackage
  /** The configuration as written, with the inherited keys; not yet checked. */
  readonly rawConfig: Readonly<Record<string, unknown>>
  /** The keys of `rawConfig` that are in `agents`, where their mistakes are reported. */
  readonly inherited: readonly InheritedKey[]
}

/** A specification before its package is known. */
type PluginReference = Omit<Specification, 'package' | 'inherited'>

/** The keys that runners may inherit. */
export type Inheritance = Pick<Settings['agents'], InheritedKey>

/** The default runner is always included. @throws PluginSetupError with everything that is missing */
export function specify(
  settings: Pick<Settings, 'agents' | 'channels' | 'sources' | 'observers'>,
  directory: Directory,
  endpoints: Snapshot['endpoints'] = {},
): Specification[] {
  const references: PluginReference[] = []
  const { runners, defaults } = settings.agents
  for (const [name, rawConfig] of Object.entries(settings.channels))
    references.push(referenceTo('channel', name, rawConfig))
  for (const [name, { kind, ...rawConfig }] of Object.entries(runners)) {
    const reference = referenceTo('runner', name, rawConfig, `agents.runners.${name}`)
    references.push(typeof kind === 'string' ? { ...reference, id: kind } : reference)
  }
  if (!Object.hasOwn(runners, defaults.runner))
    references.push(referenceTo('runner', defaults.runner, {}, 'agents.defaults.runner'))
  for (const [name, rawConfig] of Object.entries(settings.sources))
    references.push(referenceTo('source', name, rawConfig))
  for (const [name, rawConfig] of Object.entries(settings.observers))
    references.push(referenceTo('observer', name, rawConfig))
  for (const [name, { catchUp, verify }] of Object.entries(endpoints)) {
    if (catchUp === undefined || verify?.provider === undefined) continue
    const reference = referenceTo('provider', name, catchUp, `hooks.endpoints.${name}.catchUp`)
    references.push({ ...reference, id: verify.provider })
  }
  return mapJoined(references, (each) => locate(each, directory, settings.agents))
}

/** `key` is the configuration key to blame. A command that names a provider blames that. */
export function referenceTo(
  kind: ProvidedKind,
  name: string,
  rawConfig: Readonly<Record<string, unknown>> = {},
  key = keyFor(kind, name),
): PluginReference {
  return { kind, name, id: name, key, rawConfig }
}

function keyFor(kind: ProvidedKind, name: string): string {
  if (kind === 'provider') return name
  return kind === 'source' ? keyOfSource(name) : `${listOf[kind]}.${name}`
}

/** @throws PluginSetupError */
export function locate(reference: PluginReference, directory: Directory, agents: Inheritance): Specification {
  const found = directory.find(reference.kind, reference.id, reference.key)
  if (found !== undefined) return inherit(reference, found, agents)
  const names = directory.names[reference.kind]
  const isProvider = reference.kind === 'provider'
  const problem = {
    key: reference.key,
    message: isProvider
      ? `asks ${reference.id}, whose API has no list of what was sent`
      : `names ${reference.id}, and there is no such ${reference.kind}`,
    hint:
      (isProvider && `remove it: it is for ${names.join(' and ')}`) ||
      (reference.kind === 'channel' && oneAccount(reference, names)) ||
      hintFor(reference, names),
  }
  throw new PluginSetupError('PLUGIN_MISSING', reference.id, [problem])
}

function hintFor({ id, kind }: PluginReference, known: readonly string[]): string {
  const meant = kind === 'channel' ? channelName(id, (name) => known.includes(name)) : id
  const close = meant === id ? nearestName(id, known) : meant
  if (close !== undefined) return `did you mean \`${close}\`?`
  return `known: ${known.join(', ')}; that of a plugin is known once \`plugins:\` names its package or folder`
}

/** A second account of a channel cannot have a name of its own, as a second runner can. */
function oneAccount({ id, rawConfig }: PluginReference, known: readonly string[]): string | undefined {
  const channel = known.find((name) => rawConfig['kind'] === name || new RegExp(`^${name}[\\d_-]`).test(id))
  return channel === undefined ? undefined : oneAccountHint(channel)
}

export function oneAccountHint(channel: string): string {
  return `a gateway has one account of each channel: for another one of ${channel}, start a second gateway with a configuration, \`gateway.port\` and \`gateway.dataDir\` of its own`
}

/** A runner's own key replaces the inherited one whole: a mixture would be visible in neither place. */
function inherit(reference: PluginReference, found: PluginPackage, agents: Inheritance): Specification {
  const { kind, rawConfig } = reference
  const inherited = kind === 'runner' ? found.inherits.filter((key) => !Object.hasOwn(rawConfig, key)) : []
  const shared = Object.fromEntries(inherited.map((key) => [key, agents[key]]))
  return { ...reference, package: found, rawConfig: { ...rawConfig, ...shared }, inherited }
}

/** The names that the engine checks a configuration against. */
export function catalogOf({ names, find }: Directory, specifications: readonly Specification[]): Catalog {
  const relays = specifications.filter((each) => each.kind === 'runner' && each.package.relays)
  // A runner that needs a configuration is known by the name that it has there.
  const ready = names.runner.filter((name) => !find('runner', name, 'agents.runners')?.needsConfiguration)
  return { channels: names.channel, runners: ready, relays: relays.map(({ name }) => name) }
}

/** A configuration with an unset reference cannot be checked. */
export function isSet({ rawConfig }: Specification): boolean {
  return !holdsUnset(rawConfig)
}
