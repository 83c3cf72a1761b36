/** Counts how often a client may try: wrong tokens and signatures, and the rates of endpoint policies. */

import type { EffectivePolicy, Rate } from '@reveille/engine'
import { BoundedMap } from '@reveille/kit'
import { clientKey } from './client.ts'

/** The seconds to wait, for `Retry-After`; undefined if the request may go on. */
export type Wait = number | undefined

/** Monotonic, in milliseconds. */
type Clock = () => number

export type Tries = ReturnType<typeof createTries>
export type Throttle = ReturnType<typeof createThrottle>

const wrongTries: Rate = { max: 20, windowMs: 60_000 }
/** Maximum number of remembered clients, and of clients of rated policies; the README gives the cost. */
const maxKeys = 10_000

/**
 * Counts the wrong tries of one surface, so that guessing at one surface does not block a client at another. `onBlocked` is called
 * with the key of each client that has just been wrong too often.
 */
export function createTries(clock: Clock, onBlocked?: (client: string) => void) {
  const counter = createCounter(clock)
  return {
    /** Counts a wrong token or signature of a client. Returns a wait once the client has been wrong too often. */
    wrong: (client: string): Wait => counter.count(clientKey(client), wrongTries, onBlocked),
    /** Seconds to wait if the client has been wrong too often already; counts nothing. */
    blocked: (client: string): Wait => counter.peek(clientKey(client), wrongTries),
    /** Forgets the wrong tries of a client that has shown a right token or signature. */
    right: (client: string): void => counter.forget(clientKey(client)),
  }
}

/**
 * A rate is counted by its policy, because senders to a policy with parameters make up the names of endpoints. The key holds
 * the rate itself: a reload that keeps the rate goes on counting, and one that changes it starts again. Keys of rates that are
 * gone expire by themselves.
 */
export function createThrottle(clock: Clock) {
  const clients = createCounter(clock)
  // Endpoints have a counter of their own: clients come in any number and would push policies out.
  const endpoints = createCounter(clock)
  return {
    ...createTries(clock),
    /** Counts one request against the rate of each client, before its sender is authenticated. */
    takeOfClient(client: string, rate: EffectivePolicy['rate']): Wait {
      const allowed = rate?.value.client
      return rate && allowed && clients.count(keyOf(rate.policy, allowed, clientKey(client)), allowed)
    },
    /** Counts one request against the rate of the endpoint, after its sender was authenticated. */
    takeOfEndpoint(rate: EffectivePolicy['rate']): Wait {
      const allowed = rate?.value.endpoint
      return rate && allowed && endpoints.count(keyOf(rate.policy, allowed), allowed)
    },
  }
}

function keyOf(policy: string, { max, windowMs }: Rate, client = ''): string {
  return `${client} ${max}/${windowMs} ${policy}`
}

/** Counts by key. The window of a key begins when it first comes; beyond `maxKeys` the key that has not come for the longest time is forgotten. */
function createCounter(clock: Clock) {
  const windows = new BoundedMap<string, { readonly count: number; readonly endsAt: number }>(maxKeys)

  function currentOf(key: string) {
    const window = windows.get(key)
    return window !== undefined && window.endsAt > clock() ? window : undefined
  }

  const secondsTo = (endsAt: number) => Math.ceil((endsAt - clock()) / 1000)

  return {
    /** Counts, and returns the seconds to wait where the rate is exceeded. */
    count(key: string, { max, windowMs }: Rate, onUsedUp?: (key: string) => void): Wait {
      const { count: before, endsAt } = currentOf(key) ?? { count: 0, endsAt: clock() + windowMs }
      const count = before + 1
      // The newest key is the last one.
      windows.delete(key)
      windows.set(key, { count, endsAt })
      if (count === max) onUsedUp?.(key)
      return count > max ? secondsTo(endsAt) : undefined
    },
    /** Returns what `count` would, without counting. */
    peek(key: string, { max }: Rate): Wait {
      const window = currentOf(key)
      return window !== undefined && window.count >= max ? secondsTo(window.endsAt) : undefined
    },
    forget: (key: string) => void windows.delete(key),
  }
}
