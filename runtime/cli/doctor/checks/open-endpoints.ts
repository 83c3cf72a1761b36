/** Checks which endpoints accept every program on this machine without a token. */

import { type Check, ok, warning } from '../check.ts'
import { listed } from '../listed.ts'

export const openEndpoints: Check = {
  name: 'open-endpoints',
  group: 'configuration',
  title: 'access',
  async run(subject) {
    const { configuration, snapshot } = subject.valid()
    const open = Object.keys(configuration.endpoints).filter(
      (name) => snapshot.effectivePolicyOf(name)?.auth?.value === 'none',
    )
    if (open.length === 0) return ok('every endpoint asks for a token or a signature')
    return warning(
      'OPEN_ENDPOINT',
      `every program on this machine may post without a token to ${listed(open.map((name) => `/${name}`))}`,
      'Remove `auth: none` where that is not meant',
    )
  },
}
