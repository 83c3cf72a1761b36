/** Owns which forwarders of a request are believed about where it came from. */

import { BlockList, isIPv4 } from 'node:net'
import type { Settings } from '@reveille/engine'
import { addressOf } from './client.ts'

export type Proxies = Settings['gateway']['trustedProxies']

export interface ProxyTrust {
  /** Whether any forwarder is believed now. */
  isGiven(): boolean
  /** Whether the one at this address is. */
  believes(address: string | undefined): boolean
}

/** `proxies` answers those of the current snapshot; each list is compiled once. */
export function createProxyTrust(proxies: () => Proxies): ProxyTrust {
  const compiled = new WeakMap<Proxies, BlockList>()

  function listOf(ranges: Proxies): BlockList {
    const known = compiled.get(ranges)
    if (known) return known
    const list = new BlockList()
    for (const { address, prefix, family } of ranges) list.addSubnet(address, prefix, family)
    compiled.set(ranges, list)
    return list
  }

  return {
    isGiven: () => proxies().length > 0,
    believes(told = '') {
      const address = addressOf(told)
      return address !== undefined && listOf(proxies()).check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
    },
  }
}
