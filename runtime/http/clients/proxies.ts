/** Decides which forwarders of a request are trusted about where it came from. */

import { BlockList, isIPv4 } from 'node:net'
import type { Settings } from '@reveille/engine'
import { onceForEach } from '../../once-for-each.ts'
import { addressOf } from './client.ts'

export type Proxies = Settings['gateway']['trustedProxies']

/**
 * Returns whether the forwarder at an address is trusted, as Fastify asks. `proxies` returns the list of the current snapshot; each list is
 * compiled once.
 */
export function createProxyTrust(proxies: () => Proxies): (forwarder?: string) => boolean {
  const listOf = onceForEach((ranges: Proxies) => {
    const list = new BlockList()
    for (const { address, prefix, family } of ranges) list.addSubnet(address, prefix, family)
    return list
  })
  return (forwarder = '') => {
    const address = addressOf(forwarder)
    return address !== undefined && listOf(proxies()).check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
  }
}
