/** The public face of this room: what verifying signatures and answering handshakes need of the host. */

import { join } from 'node:path'
import type { Handshake, Timers, VerifyDependencies } from '@reveille/engine'
import type { Log } from '../observe/log.ts'
import { createDownloads } from './downloads.ts'
import { createConfirmations, createEntrustedFiles } from './handshake-effects.ts'

export { createDownloads } from './downloads.ts'

export interface Trust {
  /** What verifiers may ask for. */
  readonly verifyDependencies: VerifyDependencies
  /**
   * Does what a handshake asks for besides its reply, and resolves when the reply may be sent: a secret is on the disk, and a
   * confirmation is under way. `policy` is the policy whose `verify` answered the handshake, never the endpoint of the request,
   * whose name a stranger may choose.
   * @throws UnavailableError when a secret cannot be kept
   */
  performHandshakeEffects(policy: string, handshake: Handshake): Promise<void>
  /** Ends downloads and confirmations that are under way. */
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
    verifyDependencies: createDownloads({ web, now }),
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
