/** Defines the snapshot: one configuration, compiled and frozen, by which a request is handled from start to end. */

import type { Configuration, EndpointPolicy, MappingEntry } from '../config/configuration.ts'
import type { Settings } from '../config/settings.ts'
import type { ExplainOptions } from '../resolve/explain.ts'
import type { Decision, HookRequest } from '../resolve/model/decision.ts'
import type { EffectivePolicy } from '../resolve/model/effective-policy.ts'
import type { Explanation } from '../resolve/model/trace.ts'
import type { ResolveOptions } from '../resolve/resolve.ts'

export interface Snapshot {
  /** The SHA-256 of all content that the snapshot was made from, in hex. */
  readonly digest: string
  /** The same without what each node has for itself. */
  readonly sharedDigest: string
  readonly settings: Settings
  /** In matching order. */
  readonly mappings: readonly MappingSummary[]
  /** The policies as written, by name. `policyOf` returns what applies to an endpoint. */
  readonly endpoints: Configuration['endpoints']
  /** True if a mapping's path, a policy or a catch-all covers the name; true for `wake` and `agent`. */
  covers(endpoint: string): boolean
  /** True if `resolve` reads `payload` of a request to the endpoint. Otherwise it reads the body in a thread. */
  readsPayload(endpoint: string): boolean
  /** Returns the enabled mappings that cover the name, as they are written, in matching order. It looks at every mapping. */
  entriesOf(endpoint: string): readonly MappingEntry[]
  /** Returns the merged policy of all policies that cover the name, or undefined if there is none. */
  policyOf(endpoint: string): EndpointPolicy | undefined
  /** Returns the compiled values of those policies, each with the policy that sets it, or undefined if they set none. */
  effectivePolicyOf(endpoint: string): EffectivePolicy | undefined
  /** Rejects only as `options.containment` demands, never because of a payload. */
  resolve(request: HookRequest, options?: ResolveOptions): Decision | Promise<Decision>
  /**
   * Resolves again and explains the result, at about a hundred times the cost. Rejects only as `resolve` does. The
   * traces show no secret. With `options.decided` it only explains the candidates.
   */
  explain(request: HookRequest, options?: ExplainOptions): Promise<Explanation>
}

export interface MappingSummary {
  readonly id: string
  readonly description?: string
  /** The text of `match.path`; absent: every endpoint. */
  readonly path?: string
  readonly action: 'wake' | 'agent'
  /** `file:line:column` of the entry, the file relative to the configuration's folder. */
  readonly place: string
}

/** The names that the host offers. The engine checks names against them and knows no plugin. */
export interface Catalog {
  /** Every known channel name, configured or not. `settings.channels` has the configured ones. */
  readonly channels: readonly string[]
  /** The known kinds of runners. `settings.agents.runners` adds names. */
  readonly runners: readonly string[]
  /**
   * The names of runners that hand their turns over to another gateway, which delivers the reply through its own
   * channels.
   */
  readonly relays?: readonly string[]
}
