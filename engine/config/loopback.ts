/** Decides which hosts only this machine reaches. */

import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** A name or an address as it is configured, or as the host of a URL; of names `localhost` alone (RFC 6761, 6.3). */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const version = isIP(bare)
  if (version === 0) return bare === 'localhost'
  return loopback.check(bare, version === 4 ? 'ipv4' : 'ipv6')
}
