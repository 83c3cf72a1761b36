/** Defines what the policies of an endpoint say together to its requests and runs. */

import type { Auth, EndpointPolicy } from '../config/configuration.ts'
import { type Path, writePath } from '../config/path.ts'
import type { Rate } from '../config/rate.ts'
import type { Provider } from '../verify/provider.ts'

/** One key's value, and the policy that gives it, by the name that it was written under. */
export interface PolicyValue<Value> {
  readonly value: Value
  readonly policy: string
}

/** Key by key, the most exact policy that has it. */
export interface EffectivePolicy {
  readonly timeoutSeconds?: PolicyValue<number>
  readonly concurrency?: PolicyValue<number>
  readonly budget?: PolicyValue<NonNullable<EndpointPolicy['budget']>>
  /** Answers the actor of a payload, by the name that is listed; nothing for any other. */
  readonly bots?: PolicyValue<(payload: unknown) => string | undefined>
  readonly auth?: PolicyValue<Auth>
  /** Of this endpoint alone, the newest first. */
  readonly token?: PolicyValue<readonly string[]>
  readonly verify?: PolicyValue<Provider>
  readonly rate?: PolicyValue<Rates>
}

export interface Rates {
  /** Of all clients together. */
  readonly endpoint?: Rate
  /** Of each client. */
  readonly client?: Rate
}

/** What a sender must show. */
export function authOf({ auth, verify }: EffectivePolicy): Auth {
  return auth?.value ?? (verify?.value.verifier ? 'signature' : 'token')
}

/** As a policy is named to people. */
export function placeOfPolicyValue(key: keyof EffectivePolicy, { policy }: PolicyValue<unknown>): string {
  const path: Path = ['endpoints', policy, key]
  return writePath(path)
}

/** Actors choose their names, and a reason is one line. */
const longestShown = 100

/** Why the request is ignored, if it is. */
export function ignoredActor({ bots }: EffectivePolicy, payload: unknown): string | undefined {
  const actor = bots?.value(payload)
  if (bots === undefined || actor === undefined) return undefined
  const shown = actor.length > longestShown ? `${actor.slice(0, longestShown)}…` : actor
  return `the actor ${JSON.stringify(shown.toWellFormed())} is listed in ${placeOfPolicyValue('bots', bots)}`
}
