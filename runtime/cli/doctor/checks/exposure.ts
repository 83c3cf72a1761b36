/** Checks which machines reach the gateway, and whether tokens cross the network without TLS. */

import { isLoopback } from '@reveille/engine'
import { type Check, ok, warning } from '../check.ts'

export const exposure: Check = {
  name: 'exposure',
  group: 'gateway',
  title: 'exposure',
  async run(subject) {
    const { host, trustedProxies } = subject.settings().gateway
    if (isLoopback(host)) return ok(`only this machine reaches it (${host})`)
    if (trustedProxies.length > 0)
      return ok(`other machines reach it (${host}); the proxy of \`gateway.trustedProxies\` has to end TLS`)
    return warning(
      'NO_TLS',
      `other machines reach it (${host}), and the gateway speaks no TLS: tokens and bodies can be read on their way`,
      'Let a proxy end TLS: set `gateway.host: 127.0.0.1` with the proxy on this machine, and name it in `gateway.trustedProxies`',
    )
  },
}
