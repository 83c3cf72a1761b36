/** Compiles what each endpoint asks of its senders, once for each snapshot and not for each request. */

import {
  type Auth,
  authOf,
  createSecretMatcher,
  type EffectivePolicy,
  type PolicyValue,
  type Provider,
  placeOfPolicyValue,
  type SecretMatcher,
  type Snapshot,
} from '@reveille/engine'
import { onceForEach } from '../../once-for-each.ts'
import { prefixOf } from '../target.ts'

export type EndpointAuthTable = ReturnType<typeof createEndpointAuthTable>

/** Authentication that one endpoint requires. */
export interface EndpointAuth {
  readonly auth: Auth
  readonly rate?: EffectivePolicy['rate']
  readonly verify?: PolicyValue<Provider>
  /** Returns undefined for a token that is in no list. */
  findToken(given: string): FoundToken | undefined
}

export interface FoundToken {
  /** The place of the list in the configuration, such as `hooks.token`. */
  readonly list: string
  /** From 0, the newest first. */
  readonly index: number
}

interface TokenList {
  readonly place: string
  readonly matches: SecretMatcher
}

export function createEndpointAuthTables(): (snapshot: Snapshot) => EndpointAuthTable {
  return onceForEach(createEndpointAuthTable)
}

/** A catch-all makes any name an endpoint, so results are cached by the policy and never by the name. */
function createEndpointAuthTable({ settings, effectivePolicyOf }: Snapshot) {
  const { path, tokens } = settings.hooks
  const ofAllHooks: TokenList = { place: 'hooks.token', matches: createSecretMatcher(tokens) }
  const withoutPolicy: EndpointAuth = {
    auth: 'token',
    findToken: (given) => findNewest([ofAllHooks], given),
  }
  const listOf = onceForEach(
    (token: NonNullable<EffectivePolicy['token']>): TokenList => ({
      place: placeOfPolicyValue('token', token),
      matches: createSecretMatcher(token.value),
    }),
  )
  const authOfPolicy = onceForEach((policy: EffectivePolicy): EndpointAuth => {
    const { verify, rate, token } = policy
    const all = token === undefined ? [ofAllHooks] : [listOf(token), ofAllHooks]
    return { auth: authOf(policy), rate, verify, findToken: (given) => findNewest(all, given) }
  })
  return {
    /** Prefix of URLs under `hooks.path`. */
    prefix: prefixOf(path),
    authFor(endpoint: string | undefined): EndpointAuth {
      const policy = endpoint === undefined ? undefined : effectivePolicyOf(endpoint)
      return policy === undefined ? withoutPolicy : authOfPolicy(policy)
    },
  }
}

/**
 * If several lists hold the token, the one in which it is newest counts. Every list is searched, so that the time does
 * not depend on where the token was found.
 */
function findNewest(lists: readonly TokenList[], given: string): FoundToken | undefined {
  let newest: FoundToken | undefined
  for (const { place, matches } of lists) {
    const index = matches(given)
    if (index !== undefined && (newest === undefined || index < newest.index)) newest = { list: place, index }
  }
  return newest
}
