/** Tells public addresses from those of private networks, of this machine, and of special use. */

import { BlockList, isIP } from 'node:net'

/**
 * Addresses that are not globally reachable, and multicast. IPv4 addresses that are mapped to IPv6 are covered too.
 *
 * Source: the IANA registries of special-purpose addresses for IPv4 and IPv6.
 */
const notPublic = new BlockList()
for (const range of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/127',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
]) {
  const [address = '', bits] = range.split('/')
  notPublic.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6')
}

/** True if an IP address may be that of a host on the Internet. */
export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  return version !== 0 && !notPublic.check(address, version === 4 ? 'ipv4' : 'ipv6')
}
