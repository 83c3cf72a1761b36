/** Checks that the gateway accepts hooks. It sends a GET to no endpoint, because the gateway records no such request. */

import { pasted } from '../../pasted.ts'
import { type Check, ok, warning } from '../check.ts'

export const hooksAnswered: Check = {
  name: 'hooks',
  group: 'gateway',
  title: 'hooks',
  async run(subject) {
    // Where the configuration has errors, only its block `gateway:` is known.
    const { hooks } = subject.valid().configuration.settings
    if (!hooks.enabled)
      return warning(
        'HOOKS_DISABLED',
        'are off: every hook is answered 404',
        'Write `enabled: true` under `hooks:`',
      )
    const gateway = subject.gateway()
    const status = await gateway.statusOf(hooks.path)
    if (status === 405) return ok(`are taken at ${gateway.address}${hooks.path}`)
    return warning(
      'HOOKS_NOT_ANSWERED',
      `${gateway.address}${hooks.path} answers ${status}, and not as one that takes hooks`,
      `What is live may be older than the files: ${pasted('status', subject.io)} says so`,
    )
  },
}
