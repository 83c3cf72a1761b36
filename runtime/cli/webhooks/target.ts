/** Owns which gateway the mails of a mailbox go to, and with what. */

import type { Settings } from '@reveille/engine'
import { CommandFailure } from '../command-failure.ts'
import type { Io } from '../io.ts'
import { connectionTo, namedAddress } from '../reading/admin-client.ts'
import type { Target } from './post-over-http.ts'

/** That of `--config`, else REVEILLE_URL, else that of the configuration that was found. @throws CommandFailure */
export async function targetOf(
  options: { readonly config?: string },
  settings: Settings,
  io: Io,
): Promise<Target> {
  const { hooks, file } = settings
  const address = namedAddress(options, io)
  if (address !== undefined) {
    const token = io.env['REVEILLE_HOOK_TOKEN']
    if (!token)
      throw new CommandFailure(2, `REVEILLE_HOOK_TOKEN is not set; ${address} takes no mail without it.`)
    return { address, path: hooks.path, token }
  }
  const [token] = hooks.tokens
  if (!hooks.enabled || token === undefined) {
    const missing = hooks.enabled ? 'hooks.token' : 'hooks.enabled: true'
    throw new CommandFailure(1, `${missing} is missing in ${file}: its gateway takes no mail without it.`)
  }
  const { address: running } = await connectionTo(settings, io)
  return { address: running, path: hooks.path, token }
}
