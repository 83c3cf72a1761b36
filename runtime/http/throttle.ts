/** Owns how often a client may try: wrong tokens and signatures, and the rates of endpoints. */

import type { Terms } from '@reveille/engine'

/** Seconds to wait, for `Retry-After`; undefined: it may go on. */
export type Wait = number | undefined | Promise<number | undefined>

export interface Throttle {
  /** A wrong token or signature of the client at this address is counted. With an answer, it has been wrong too often. */
  wrong(client: string): Wait
  /** Whether it has been wrong too often already; nothing is counted. */
  blocked(client: string): Wait
  /** A right token or signature: what was wrong before is forgotten. */
  right(client: string): void
  /** One request against the rate of each client, before anybody knows who it is. */
  takeOfClient(client: string, rate: Terms['rate']): Wait
  /** One request against the rate of the endpoint, once it is known to be of its sender. */
  takeOfEndpoint(rate: Terms['rate']): Wait
}

export function createThrottle(): Throttle {
  return {
    wrong: () => undefined,
    blocked: () => undefined,
    right: () => {},
    takeOfClient: () => undefined,
    takeOfEndpoint: () => undefined,
  }
}
