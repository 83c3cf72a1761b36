/** The public face of this room: what verifying signatures and answering handshakes need of the host. */

import { join } from 'node:path'
import type { Handshake, Timers } from '@reveille/engine'
import type { Log } from '../observe/log.ts'
import { createDownloads } from './downloads.ts'
import { createConfirmations, createStoredSecrets } from './handshake-effects.ts'

export { createDownloads } from './downloads.ts'

export function createTrust(options: {
  readonly dataDir: string
  readonly fetch: typeof globalThis.fetch
  readonly log: Log
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  readonly timers: Timers
}) {
  const { dataDir, fetch, log, now, timers } = options
  const closing = new AbortController()
  const web = { fetch, timers, signal: closing.signal }
  const confirmations = createConfirmations({ web, log })
  const storedSecrets = createStoredSecrets({ folder: join(dataDir, 'stored-secrets'), log, now })

  return {
    /** Dependencies of verifiers. */
    verifyDependencies: createDownloads({ web, now }),
    /**
     * Does what a handshake asks for besides its reply, and resolves when the reply may be sent: a secret is on the disk, and a
     * confirmation is under way. `policy` is the policy whose `verify` answered the handshake, never the endpoint of the request,
     * whose name an unauthenticated client may choose. `client` is the address of the sender, for the log.
     * @throws UnavailableError when a secret cannot be kept
     */
    async performHandshakeEffects(
      policy: string,
      { confirm, issuedSecret }: Handshake,
      client: string,
    ): Promise<void> {
      if (issuedSecret) await storedSecrets.keep(policy, issuedSecret, client)
      if (confirm !== undefined) confirmations.confirm(policy, confirm)
    },
    /** Ends downloads and confirmations that are under way. */
    async close(): Promise<void> {
      closing.abort()
      await confirmations.settled()
    },
  }
}
