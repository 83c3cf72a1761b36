/** Defines the contract of plugins: one default export per package, without effects until `setup`. */

import type { Channel, Target } from './channel.ts'
import type { ConnectCall, Connection } from './connect.ts'
import type { Observer } from './observer.ts'
import type { Provider, Registration } from './provider.ts'
import type { Runner } from './runner.ts'
import type { Source } from './source.ts'

/**
 * The version of these contracts. A manifest that names another version is refused at load. It is the major version of the package too;
 * 0.x has version 1, so plugins declare the peer dependency `>=0.1.0 <2`.
 */
export const KIT_VERSION = 1

/** The `reveille` key of a plugin's package.json, which is read without running the plugin. */
export interface PluginManifest {
  readonly kit: number
  readonly channels?: readonly string[]
  readonly runners?: readonly string[]
  readonly sources?: readonly string[]
  /** The providers, by the names that `verify.provider` has, whose `catchUp` and `connect` it provides. */
  readonly providers?: readonly string[]
  readonly observers?: readonly string[]
  /** The keys of `agents` that its runners are given besides their own, such as `providers`. */
  readonly inherits?: readonly string[]
  /** True if its runners pass the events of the main session on instead of answering them, so that no event waits here. */
  readonly relays?: boolean
  /** True if its runners need a configuration under `agents.runners`. Default: false. */
  readonly needsConfiguration?: boolean
  /** The path of a JSON Schema for the plugin's configuration, relative to the package. */
  readonly configSchema: string
  /** The path of a JSON file with a {@link SetupDescription}: the commands that connect the source or provider. */
  readonly setup?: string
}

/** A log whose lines name the plugin. It must not be given secrets or message bodies. */
export interface PluginLog {
  info(event: string, facts?: Record<string, unknown>): void
  warn(event: string, facts?: Record<string, unknown>): void
  error(event: string, facts?: Record<string, unknown>): void
}

export interface PluginContext<Config> {
  /** The configuration: valid against the manifest's `configSchema`, with defaults filled in and references resolved, frozen. */
  readonly config: Config
  readonly log: PluginLog
  /**
   * A `fetch` that follows no redirect and is aborted with `signal`. @throws PluginError `network`, `redirected` or
   * `bad-request`; the caller's own abort reason is thrown as it is.
   */
  readonly fetch: typeof fetch
  /** The signal that is aborted just before `close` is called. */
  readonly signal: AbortSignal
}

/** The surroundings of a service's channel or runner. */
export interface VendorContext<Config> extends Pick<PluginContext<Config>, 'config' | 'fetch'> {
  /** The time in milliseconds since the Unix epoch. */
  now(): number
}

/** The parts that a plugin provides. `close` is called once and releases everything that `setup` has acquired. */
export interface Provided {
  readonly channels?: readonly Channel[]
  readonly runners?: readonly Runner[]
  readonly sources?: readonly Source[]
  readonly providers?: readonly Provider[]
  readonly observers?: readonly Observer[]
  close?(): Promise<void> | void
}

export interface Plugin<Config = unknown> {
  readonly name: string
  /**
   * Checks what a schema cannot, and throws what `setup` would throw. It is pure and quick, because commands call it without setting
   * anything up. @throws PluginError that names the key and the fix
   */
  check?(config: Config): void
  /**
   * Parses an address as `Channel.target` does, for channels whose addresses do not depend on the configuration. `reveille
   * check` uses it to check the addresses in mappings; a start uses `Channel.target` itself. Pure.
   * @throws PluginError `bad-target`
   */
  target?(to: string, channel: string): Target
  /**
   * Sets up one channel, runner, source, provider or observer. It is called once for each that is configured, with its configuration
   * (of a provider the `catchUp` of one endpoint), and must provide one whose `id` is its name, or the kind of the runner. A throw refuses the whole
   * configuration, so an unreachable service is no reason to throw. `reveille check` and dry runs of a reload call it too, with a `fetch`
   * that reaches nobody, and close what it provides at once.
   */
  setup(context: PluginContext<Config>): Promise<Provided> | Provided
  /**
   * Obtains what a service and a person have to agree on before there is a configuration. It can be called again, whatever the
   * last call ended with. @throws PluginError that says what to do
   */
  connect?(call: ConnectCall): Promise<Connection>
  /** Registers webhooks at the provider. */
  readonly registration?: Registration
}

/** Returns the plugin as it is, for its types. Importing a module that calls it has no other effect. */
export function definePlugin<Config>(plugin: Plugin<Config>): Plugin<Config> {
  return plugin
}
