/** Lists what a configuration asks for: one specification for each channel, runner, source, provider and observer. */

import {
  type Catalog,
  channelName,
  holdsUnset,
  keyOfSource,
  nearestName,
  type Settings,
  type Snapshot,
} from '@reveille/engine'
import { type Directory, listOf, type ProvidedKind } from './directory.ts'
import type { InheritedKey, PluginPackage } from './package.ts'
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
  readonly given: Readonly<Record<string, unknown>>
  /** The keys of `given` that are in `agents`, where their mistakes are reported. */
  readonly inherited: readonly InheritedKey[]
}

/** A specification before its package is known. */
type Asked = Omit<Specification, 'package' | 'inherited'>

/** The keys that runners may inherit. */
export type Inheritance = Pick<Settings['agents'], InheritedKey>

/** The default runner is always included. @throws PluginSetupError with everything that is missing */
export function specify(
  settings: Pick<Settings, 'agents' | 'channels' | 'sources' | 'observers'>,
  directory: Directory,
  endpoints: Snapshot['endpoints'] = {},
): Specification[] {
  const asked = Object.entries(settings.channels).map(([name, given]) => askedChannel(name, given))
  const { runners, defaults } = settings.agents
  for (const [name, { kind, ...given }] of Object.entries(runners)) {
    const id = typeof kind === 'string' ? kind : name
    asked.push({ kind: 'runner', name, id, key: `agents.runners.${name}`, given })
  }
  if (!Object.hasOwn(runners, defaults.runner))
    asked.push(unconfiguredRunner(defaults.runner, 'agents.defaults.runner'))
  for (const [name, given] of Object.entries(settings.sources)) asked.push(askedSource(name, given))
  for (const [name, given] of Object.entries(settings.observers))
    asked.push({ kind: 'observer', name, id: name, key: `observers.${name}`, given })
  for (const [name, { catchUp, verify }] of Object.entries(endpoints))
    if (catchUp !== undefined && verify?.provider !== undefined)
      asked.push({
        kind: 'provider',
        name,
        id: verify.provider,
        key: `hooks.endpoints.${name}.catchUp`,
        given: catchUp,
      })
  return mapJoined(asked, (each) => locate(each, directory, settings.agents))
}

export function askedChannel(name: string, given: Readonly<Record<string, unknown>>): Asked {
  return { kind: 'channel', name, id: name, key: `channels.${name}`, given }
}

export function unconfiguredRunner(name: string, key: string): Asked {
  return { kind: 'runner', name, id: name, key, given: {} }
}

export function askedSource(name: string, given: Readonly<Record<string, unknown>>): Asked {
  return { kind: 'source', name, id: name, key: keyOfSource(name), given }
}

/** @throws PluginSetupError */
export function locate(asked: Asked, directory: Directory, agents: Inheritance): Specification {
  const found = directory.find(asked.kind, asked.id, asked.key)
  if (found !== undefined) return inherit(asked, found, agents)
  const known = directory[listOf[asked.kind]]
  const isProvider = asked.kind === 'provider'
  const problem = {
    key: asked.key,
    message: isProvider
      ? `asks ${asked.id}, whose API has no list of what was sent`
      : `names ${asked.id}, and there is no such ${asked.kind}`,
    hint:
      (isProvider && `remove it: it is for ${known.join(' and ')}`) ||
      (asked.kind === 'channel' && oneAccount(asked, known)) ||
      hintFor(asked, known),
  }
  throw new PluginSetupError('PLUGIN_MISSING', asked.id, [problem])
}

function hintFor({ id, kind }: Asked, known: readonly string[]): string {
  const meant = kind === 'channel' ? channelName(id, (name) => known.includes(name)) : id
  const close = meant === id ? nearestName(id, known) : meant
  if (close !== undefined) return `did you mean \`${close}\`?`
  return `known: ${known.join(', ')}; that of a plugin is known once \`plugins:\` names its package or folder`
}

/** A second account of a channel cannot have a name of its own, as a second runner can. */
function oneAccount({ id, given }: Asked, known: readonly string[]): string | undefined {
  const channel = known.find((name) => given['kind'] === name || new RegExp(`^${name}[\\d_-]`).test(id))
  return channel === undefined ? undefined : oneAccountHint(channel)
}

export function oneAccountHint(channel: string): string {
  return `a gateway has one account of each channel: for another one of ${channel}, start a second gateway with a configuration, \`gateway.port\` and \`gateway.dataDir\` of its own`
}

/** A runner's own key replaces the inherited one whole: a mixture would be visible in neither place. */
function inherit(asked: Asked, found: PluginPackage, agents: Inheritance): Specification {
  const { kind, given } = asked
  const inherited = kind === 'runner' ? found.inherits.filter((key) => !Object.hasOwn(given, key)) : []
  const shared = Object.fromEntries(inherited.map((key) => [key, agents[key]]))
  return { ...asked, package: found, given: { ...given, ...shared }, inherited }
}

/** The names that the engine checks a configuration against. */
export function catalogOf({ channels, runners, find }: Directory, wanted: readonly Specification[]): Catalog {
  const relays = wanted.filter((each) => each.kind === 'runner' && each.package.relays)
  // A runner that needs a configuration is known by the name that it has there.
  const ready = runners.filter((name) => !find('runner', name, 'agents.runners')?.needsConfiguration)
  return { channels, runners: ready, relays: relays.map(({ name }) => name) }
}

/** A configuration with an unset reference cannot be checked. */
export function isSet({ given }: Specification): boolean {
  return !holdsUnset(given)
}
