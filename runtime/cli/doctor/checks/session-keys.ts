/** Reports which sessions a sender may continue; having no limit is a choice and no fault. */

import { type Check, ok } from '../check.ts'
import { listed } from '../listed.ts'

export const sessionKeys: Check = {
  name: 'session-keys',
  group: 'configuration',
  title: 'sessions',
  async run(subject) {
    const { settings } = subject.valid().configuration
    const prefixes = settings.hooks.allowedSessionKeyPrefixes
    if (prefixes !== undefined)
      return ok(`a request to /agent may name those that begin with ${listed(prefixes)}`)
    return ok(
      'a request to /agent may go on with any session but `main`; `hooks.allowedSessionKeyPrefixes` limits which',
    )
  },
}
