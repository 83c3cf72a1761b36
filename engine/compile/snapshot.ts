/** The snapshot: one configuration, compiled and frozen, by which a request is handled from start to end. */

import type { Configuration, EndpointPolicy } from '../config/configuration.ts'
import type { Settings } from '../config/settings.ts'
import type { Decision, HookRequest } from '../resolve/decision.ts'
import type { EffectivePolicy } from '../resolve/effective-policy.ts'
import type { Explanation } from '../resolve/explain/trace.ts'
import type { ResolveOptions } from '../resolve/resolve.ts'

export interface Snapshot {
  /** SHA-256 of everything that the snapshot was made from, in hex. Same content, same digest. */
  readonly digest: string
  readonly settings: Settings
  /** In matching order. */
  readonly mappings: readonly MappingSummary[]
  /** As written, by their names. What holds for an endpoint, `policyOf` says. */
  readonly endpoints: Configuration['endpoints']
  /** Whether a mapping's path, a policy or a catch-all covers the name; true for `wake` and `agent`. */
  covers(endpoint: string): boolean
  /** What the policies that cover the name say together; absent where none does. */
  policyOf(endpoint: string): EndpointPolicy | undefined
  /** What those policies say, ready to be asked, each with the policy that says it; absent where they say nothing of the kind. */
  effectivePolicyOf(endpoint: string): EffectivePolicy | undefined
  /** Never rejects for a payload, but as `options.containment` says. */
  resolve(request: HookRequest, options?: ResolveOptions): Decision | Promise<Decision>
  /** Resolves once more and says why; a hundred times the cost. Rejects no more than that. Nothing in its traces is secret. */
  explain(request: HookRequest, options?: ResolveOptions): Promise<Explanation>
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

/** What the host offers; the engine checks names against it and knows no plugin. */
export interface Catalog {
  /** Every channel name that exists, configured or not; `settings.channels` says which are configured. */
  readonly channels: readonly string[]
  /** Runner kinds that exist; `settings.agents.runners` adds names. */
  readonly runners: readonly string[]
  /** Names of runners that hand over what they are asked: whoever takes it delivers, by channels configured there. */
  readonly relays?: readonly string[]
}
