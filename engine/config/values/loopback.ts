/** Decides which hosts can only be reached from this machine. */

import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Accepts a configured name or address, or the host of a URL. The only such name is `localhost` (RFC 6761, 6.3). */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const version = isIP(bare)
  if (version === 0) return bare === 'localhost'
  return loopback.check(bare, version === 4 ? 'ipv4' : 'ipv6')
}
