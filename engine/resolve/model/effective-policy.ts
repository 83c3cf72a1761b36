/** Defines the policy that results from all policies of an endpoint, for its requests and runs. */

import type { Auth, EndpointPolicy } from '../../config/configuration.ts'
import { type Path, writePath } from '../../config/values/path.ts'
import type { Rate } from '../../config/values/quantities.ts'
import type { Provider } from '../../verify/provider.ts'

/** The value of one key, with the name of the policy that sets it. */
export interface PolicyValue<Value> {
  readonly value: Value
  readonly policy: string
}

/** Each key has the value of the most exact policy that sets it. */
export interface EffectivePolicy {
  readonly timeoutSeconds?: PolicyValue<number>
  readonly concurrency?: PolicyValue<number>
  readonly budget?: PolicyValue<NonNullable<EndpointPolicy['budget']>>
  /** Returns the listed name of a payload's actor, or undefined if the actor is not listed. */
  readonly bots?: PolicyValue<(payload: unknown) => string | undefined>
  readonly auth?: PolicyValue<Auth>
  /** The tokens for this endpoint alone, the newest first. */
  readonly token?: PolicyValue<readonly string[]>
  readonly verify?: PolicyValue<Provider>
  readonly rate?: PolicyValue<Rates>
  /** Milliseconds that the endpoint may be silent. */
  readonly expectEvery?: PolicyValue<number>
  /** Maximum age of deliveries that are caught up, in milliseconds. */
  readonly catchUp?: PolicyValue<number>
}

export interface Rates {
  /** The limit for all clients together. */
  readonly endpoint?: Rate
  /** The limit for each client. */
  readonly client?: Rate
}

/** Returns what a sender must present. */
export function authOf({ auth, verify }: EffectivePolicy): Auth {
  return auth?.value ?? (verify?.value.verifier ? 'signature' : 'token')
}

/** Returns the place of a policy's key as it is shown to people. */
export function placeOfPolicyValue(key: keyof EffectivePolicy, { policy }: PolicyValue<unknown>): string {
  const path: Path = ['endpoints', policy, key]
  return writePath(path)
}

/** Actors choose their names, and a reason has to fit on one line. */
const maxShownLength = 100

/** Returns the reason why the request is ignored, or undefined if it is not. */
export function ignoredActor({ bots }: EffectivePolicy, payload: unknown): string | undefined {
  const actor = bots?.value(payload)
  if (bots === undefined || actor === undefined) return undefined
  const shown = actor.length > maxShownLength ? `${actor.slice(0, maxShownLength)}…` : actor
  return `the actor ${JSON.stringify(shown.toWellFormed())} is listed in ${placeOfPolicyValue('bots', bots)}`
}
