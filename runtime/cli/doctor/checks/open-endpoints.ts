/** Checks that no endpoint lets everybody in without being meant to. */

import { type Check, ok, warning } from '../check.ts'
import { listed } from '../listed.ts'

export const openEndpoints: Check = {
  name: 'open-endpoints',
  group: 'configuration',
  title: 'access',
  async run(subject) {
    const { configuration, snapshot } = subject.good()
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
