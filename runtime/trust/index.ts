/** The public face of trust: what verifying and handshakes need of this host. */

import { join } from 'node:path'
import type { Handshake, Timers, VerifyDependencies } from '@reveille/engine'
import type { Log } from '../observe/log.ts'
import { createConfirmations } from './confirmations.ts'
import { createDownloads } from './downloads.ts'
import { createEntrustedFiles } from './entrusted.ts'

export { createDownloads } from './downloads.ts'

export interface Trust {
  /** What verifiers may ask for. */
  readonly means: VerifyDependencies
  /**
   * Does what a handshake asks for besides its answer, and resolves when that may be sent: what was entrusted is on the
   * disk, and a confirmation is on its way. `policy` is the name of the policy whose `verify` it came from (the term's),
   * never the endpoint of the request, which a stranger may choose.
   * @throws UnavailableError when what was entrusted cannot be kept
   */
  performHandshakeEffects(policy: string, handshake: Handshake): Promise<void>
  /** Ends what is on its way. */
  close(): Promise<void>
}

export interface TrustOptions {
  readonly dataDir: string
  readonly fetch: typeof globalThis.fetch
  readonly log: Log
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  readonly timers: Timers
}

export function createTrust({ dataDir, fetch, log, now, timers }: TrustOptions): Trust {
  const closing = new AbortController()
  const web = { fetch, timers, signal: closing.signal }
  const confirmations = createConfirmations({ web, log })
  const entrustedFiles = createEntrustedFiles({ folder: join(dataDir, 'entrusted'), log, now })

  return {
    means: createDownloads({ web, now }),
    async performHandshakeEffects(policy, { confirm, entrusted }) {
      if (entrusted) await entrustedFiles.keep(policy, entrusted)
      if (confirm !== undefined) confirmations.confirm(policy, confirm)
    },
    async close() {
      closing.abort()
      await confirmations.settled()
    },
  }
}
