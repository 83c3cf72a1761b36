/** The options of a gateway, and what all stages of its assembly share. */

import type { SourceClock } from '@reveille/kit'
import type { LogOptions } from '../observe/log.ts'
import type { NodeRole, OpenStore, StoreOptions } from '../store/port.ts'
import type { TunnelOptions } from '../tunnel.ts'
import type { Parts } from './parts.ts'

export interface GatewayOptions {
  /** The configuration file; relative to the working directory. */
  readonly configFile: string
  /** Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The address that is listened on in the place of `gateway.host`. */
  readonly host?: string
  /** Listened on in the place of `gateway.port`. */
  readonly port?: number
  /** Opens a second listener that serves hooks alone, for a tunnel on this machine. Default: there is none. */
  readonly tunnel?: TunnelOptions
  /** The part of the cluster's work that this process does. Default: `all`. */
  readonly role?: NodeRole
  /** Its name among the nodes. Default: the name of the machine. */
  readonly node?: string | undefined
  /** Times after which nodes take each other for dead, for tests. Default: the store's. */
  readonly leases?: StoreOptions['leases']
  /** Opens the embedded store, for tests. Default: in threads of its own. */
  readonly openStore?: OpenStore
  /** Milliseconds since the Unix epoch. Default: `Date.now`. */
  readonly now?: () => number
  /** Fetches keys of providers, and confirms subscriptions. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
  /** The clock of sources. Default: the real time. */
  readonly clock?: SourceClock
  /** Where log lines go. Default: standard error. */
  readonly logStream?: LogOptions['stream']
  /** True if files are watched for changes. Default: true. */
  readonly watch?: boolean
  /**
   * True if a configuration that does not load is replaced by the last generation, with its settings and all other files. Mapping files
   * and transforms are replaced one by one in any case. Default: false.
   */
  readonly lastGood?: boolean
  /** True if files are checked regularly, for file systems without events. Default: `hooks.reload.poll`. */
  readonly poll?: boolean
}

/** The parameter of every stage. */
export interface Assembly {
  readonly options: GatewayOptions
  readonly parts: Parts
  /** Aborted when the gateway begins to close. */
  readonly draining: AbortController
  /** True once the gateway has begun to accept requests. */
  readonly listening: { began: boolean }
}
