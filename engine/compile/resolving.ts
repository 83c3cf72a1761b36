/** Compiles what decides about requests besides mappings: rules and policies. */

import { dirname } from 'node:path'
import type { Configuration, EndpointPolicy } from '../config/configuration.ts'
import type { Randomness } from '../resolve/admit/admit.ts'
import type { Rules } from '../resolve/admit/rules.ts'
import { type Covering, createExplain, type Explain } from '../resolve/explain.ts'
import { type EffectivePolicy, ignoredActor } from '../resolve/model/effective-policy.ts'
import { createResolve, type Resolve } from '../resolve/resolve.ts'
import type { DecisionIndex } from './match/decision-index.ts'
import { compilePolicies } from './policy/endpoint-policies.ts'

export interface Resolving {
  readonly policyOf: (endpoint: string) => EndpointPolicy | undefined
  readonly effectivePolicyOf: (endpoint: string) => EffectivePolicy | undefined
  /** Decides and explains requests over these mappings. */
  over(
    candidates: DecisionIndex['candidates'],
    covering: (endpoint: string) => readonly Covering[],
  ): { readonly resolve: Resolve; readonly explain: Explain }
}

interface ResolvingParts extends Pick<Configuration, 'settings' | 'endpoints'> {
  readonly rules: Rules
  readonly randomness: Randomness
}

export function compileResolving({ settings, endpoints, rules, randomness }: ResolvingParts): Resolving {
  const { policyOf, effectivePolicyOf } = compilePolicies(endpoints)
  const shared = { rules, effectivePolicyOf, policyOf, limits: settings.hooks, randomness }
  const folder = dirname(settings.file)
  return {
    policyOf,
    effectivePolicyOf,
    over(candidates, covering) {
      const resolve = createResolve({ ...shared, candidates, folder })
      const explain = createExplain({
        resolve,
        covering,
        ignores: ({ endpoint, payload }) => {
          const policy = effectivePolicyOf(endpoint)
          return policy !== undefined && ignoredActor(policy, payload) !== undefined
        },
      })
      return { resolve, explain }
    },
  }
}
