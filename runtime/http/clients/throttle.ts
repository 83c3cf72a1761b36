/** Counts how often a client may try: wrong tokens and signatures, and the rates of endpoint policies. */

import type { EffectivePolicy, Rate } from '@reveille/engine'
import type { RateLimiterMemory } from 'rate-limiter-flexible'
import { clientKey } from './client.ts'

/** The seconds to wait, for `Retry-After`; undefined if the request may go on. */
export type Wait = number | undefined | Promise<number | undefined>

export type Tries = ReturnType<typeof createTries>
export type Throttle = ReturnType<typeof createThrottle>

const wrongTries: Rate = { max: 20, windowMs: 60_000 }
/** Maximum number of remembered clients, and of clients of rated policies; the README gives the cost. */
const maxKeys = 10_000

/**
 * Counts the wrong tries of one surface, so that guessing at one surface does not block a client at another. `onBlocked` is called
 * with the key of each client that has just been wrong too often.
 */
export function createTries(onBlocked?: (client: string) => void) {
  const counter = createCounter()
  return {
    /** Counts a wrong token or signature of a client. Returns a wait once the client has been wrong too often. */
    wrong: (client: string): Wait => counter.count(clientKey(client), wrongTries, onBlocked),
    /** Seconds to wait if the client has been wrong too often already; counts nothing. */
    blocked: (client: string): Wait => counter.peek(clientKey(client), wrongTries),
    /** Forgets the wrong tries of a client that has shown a right token or signature. */
    right(client: string): void {
      if (!counter.isEmpty()) counter.forget(clientKey(client))
    },
  }
}

/**
 * A rate is counted by its policy, because senders to a policy with parameters make up the names of endpoints. The key holds
 * the rate itself: a reload that keeps the rate goes on counting, and one that changes it starts again. Keys of rates that are
 * gone expire by themselves.
 */
export function createThrottle() {
  const clients = createCounter()
  // Endpoints have a counter of their own: clients come in any number and would push policies out.
  const endpoints = createCounter()
  return {
    ...createTries(),
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

/**
 * The window of a key begins when the key first comes. The library keeps a record and a timer for each key without a bound, so
 * beyond `maxKeys` the key that has not come for the longest time is forgotten.
 */
function createCounter() {
  let loaded: Promise<RateLimiterMemory> | undefined
  /** The keys that may be on record, in the order in which they last came. */
  const keys = new Set<string>()
  /** One iterator for good: a new one would step over the slots of all keys deleted so far. */
  const oldestFirst = keys.values()

  /** Loaded when it first counts: most gateways limit nobody. */
  function limiter(): Promise<RateLimiterMemory> {
    // Every call gives its own window, and what is allowed in it is compared here.
    loaded ??= import('rate-limiter-flexible').then(
      ({ default: library }) => new library.RateLimiterMemory({ points: 0, duration: 0, keyPrefix: '' }),
    )
    return loaded
  }

  function touch(key: string): void {
    keys.delete(key)
    keys.add(key)
    if (keys.size > maxKeys) forget(oldestFirst.next().value as string)
  }

  function forget(key: string): void {
    if (keys.delete(key)) void limiter().then((counting) => counting.delete(key))
  }

  async function look(key: string, rate: Rate): Promise<number | undefined> {
    const counting = await limiter()
    const record = await counting.get(key)
    const isUsedUp = record !== null && record.consumedPoints >= rate.max && record.msBeforeNext > 0
    return isUsedUp ? secondsOf(record.msBeforeNext, rate) : undefined
  }

  return {
    /** Counts, and resolves with the seconds to wait where the rate is exceeded. */
    async count(key: string, rate: Rate, onUsedUp?: (key: string) => void): Promise<number | undefined> {
      touch(key)
      const counting = await limiter()
      const { consumedPoints, msBeforeNext } = await counting.penalty(key, 1, {
        customDuration: rate.windowMs / 1000,
      })
      if (consumedPoints === rate.max) onUsedUp?.(key)
      return consumedPoints > rate.max ? secondsOf(msBeforeNext, rate) : undefined
    },
    /** Returns what `count` would resolve with, without counting; undefined if the key is not on record. */
    peek(key: string, rate: Rate): Promise<number | undefined> | undefined {
      return keys.has(key) ? look(key, rate) : undefined
    },
    forget,
    isEmpty: () => keys.size === 0,
  }
}

/** The library computes by the time of day, which may be set back; its timers, which forget the keys, are not affected. */
function secondsOf(msBeforeNext: number, { windowMs }: Rate): number {
  return Math.max(1, Math.ceil(Math.min(msBeforeNext, windowMs) / 1000))
}
