/** Owns how often a client may try: wrong tokens and signatures, and the rates of endpoints. */

import type { Terms } from '@reveille/engine'

/** Answers are seconds to wait, for `Retry-After`; undefined: it may go on. */
export interface Throttle {
  /** A wrong token or signature of this client is counted. With an answer, it has been wrong too often. */
  wrong(client: string): number | undefined
  /** Whether it has been wrong too often already; nothing is counted. */
  blocked(client: string): number | undefined
  /** A right token or signature: what was wrong before is forgotten. */
  right(client: string): void
  /** One request against the rate of each client, before anybody knows who it is. */
  takeOfClient(endpoint: string, client: string, rate: Terms['rate']): number | undefined
  /** One request against the rate of the endpoint, once it is known to be of its sender. */
  takeOfEndpoint(endpoint: string, rate: Terms['rate']): number | undefined
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
