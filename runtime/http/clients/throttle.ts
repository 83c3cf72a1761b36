/** Owns how often a client may try: wrong tokens and signatures, and the rates of endpoints. */

import type { Rate, Terms } from '@reveille/engine'
import { clientKey } from './client.ts'
import { createCounter } from './counter.ts'

/** Seconds to wait, for `Retry-After`; undefined: it may go on. */
export type Wait = number | undefined | Promise<number | undefined>

/** Clients are given by their addresses. */
export interface Tries {
  /** A wrong token or signature is counted. With an answer, the client has been wrong too often. */
  wrong(client: string): Wait
  /** Whether it has been wrong too often already; nothing is counted. */
  blocked(client: string): Wait
  /** A right token or signature: what was wrong before is forgotten. */
  right(client: string): void
}

export interface Throttle extends Tries {
  /** One request against the rate of each client, before anybody knows who it is. */
  takeOfClient(client: string, rate: Terms['rate']): Wait
  /** One request against the rate of the endpoint, once it is known to be of its sender. */
  takeOfEndpoint(rate: Terms['rate']): Wait
}

const wrongTries: Rate = { most: 20, windowMs: 60_000 }
/** Clients, and clients of rated policies, that are remembered at one time; see the README for what they cost. */
const mostKeys = 10_000

/** Of one surface: who guesses its tokens is not held up at another one. */
export function createTries(): Tries {
  const counter = createCounter(mostKeys)
  return {
    wrong: (client) => counter.count(clientKey(client), wrongTries),
    blocked: (client) => counter.ask(clientKey(client), wrongTries),
    right(client) {
      if (!counter.isEmpty()) counter.forget(clientKey(client))
    },
  }
}

/**
 * Rates count by their policy: whoever sends to one that covers many endpoints makes up their names. As the key holds what
 * the policy says, a reload that does not change it goes on counting, and one that does begins anew; what nobody asks for
 * any more is forgotten when its time is over.
 */
export function createThrottle(): Throttle {
  const clients = createCounter(mostKeys)
  // Apart from the others, as clients come in any number: policies do not.
  const endpoints = createCounter(mostKeys)
  return {
    ...createTries(),
    takeOfClient(client, rate) {
      const allowed = rate?.value.client
      return rate && allowed && clients.count(keyOf(rate.policy, allowed, clientKey(client)), allowed)
    },
    takeOfEndpoint(rate) {
      const allowed = rate?.value.endpoint
      return rate && allowed && endpoints.count(keyOf(rate.policy, allowed), allowed)
    },
  }
}

function keyOf(policy: string, { most, windowMs }: Rate, client = ''): string {
  return `${client} ${most}/${windowMs} ${policy}`
}
