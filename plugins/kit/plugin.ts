/** Owns the plugin contract: one default export per package, inert until `setup`. */

import type { Channel, Target } from './channel.ts'
import type { ConnectCall, Connection } from './connect.ts'
import type { Runner } from './runner.ts'
import type { Source } from './source.ts'

/** The version of these contracts; a manifest that names another is refused at load. */
export const KIT_VERSION = 1

/** The `reveille` key of a plugin's package.json, read without running the plugin. */
export interface PluginManifest {
  readonly kit: number
  readonly channels?: readonly string[]
  readonly runners?: readonly string[]
  readonly sources?: readonly string[]
  /** Keys of `agents` that its runners are given beside their own: `providers`. */
  readonly inherits?: readonly string[]
  /** Whether its runners pass the main session's events on instead of answering them, so that none need wait here. */
  readonly relays?: boolean
  /** Whether its runners can do nothing without a configuration: they are to be named under `agents.runners`. Default: false. */
  readonly needsConfiguration?: boolean
  /** Path of a JSON Schema for the plugin's configuration, relative to the package. */
  readonly configSchema: string
}

/** A log whose lines carry the plugin's name. Never given secrets or message bodies. */
export interface PluginLog {
  info(event: string, facts?: Record<string, unknown>): void
  warn(event: string, facts?: Record<string, unknown>): void
  error(event: string, facts?: Record<string, unknown>): void
}

export interface PluginContext<Config> {
  /** Valid against the manifest's `configSchema`, its defaults filled in, references resolved; frozen. */
  readonly config: Config
  readonly log: PluginLog
  /**
   * Follows no redirect and ends with `signal`. @throws PluginError `network`, `redirected` or `bad-request`; the
   * caller's own abort reason comes as it is.
   */
  readonly fetch: typeof fetch
  /** Aborted just before `close` is called. */
  readonly signal: AbortSignal
}

/** What a plugin brings. `close` releases everything that `setup` took; it is called once. */
export interface Provided {
  readonly channels?: readonly Channel[]
  readonly runners?: readonly Runner[]
  readonly sources?: readonly Source[]
  close?(): Promise<void> | void
}

export interface Plugin<Config = unknown> {
  readonly name: string
  /**
   * What a schema cannot say about a configuration: throws what `setup` would throw for it. Pure and quick, because
   * `reveille check` asks it, which sets nothing up. @throws PluginError in words that name the key and the fix
   */
  check?(config: Config): void
  /**
   * The address rule of its channels, where it hangs on nothing that is configured: what `Channel.target` would say of
   * `to`. With it `reveille check` reports an address that a mapping names; a start asks `Channel.target` itself. Pure.
   * @throws PluginError `bad-target`
   */
  target?(to: string, channel: string): Target
  /**
   * Called once for each channel, runner or source that is configured, with that one's configuration; what it brings
   * must hold one whose `id` is the channel's or source's name, or the runner's kind. A throw refuses the whole
   * configuration, so an unreachable service is no reason for one.
   */
  setup(context: PluginContext<Config>): Promise<Provided> | Provided
  /**
   * What a service and a person have to agree on before there is a configuration. Safe to be called again, whatever
   * became of the last time. @throws PluginError in words that say what to do
   */
  connect?(call: ConnectCall): Promise<Connection>
}

/** A typed identity. Importing a module that calls it does nothing else. */
export function definePlugin<Config>(plugin: Plugin<Config>): Plugin<Config> {
  return plugin
}
