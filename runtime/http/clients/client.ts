/** Finds the address of a client in what sockets and forwarders say, and the key under which its tries are counted. */

import { isIPv4, isIPv6, SocketAddress } from 'node:net'

/**
 * addressOf returns the bare address in what a socket or a forwarder says: without a port, brackets, quotes or a zone, and as
 * IPv4 where it is mapped into IPv6. It returns undefined for text that holds no address.
 */
export function addressOf(text: string): string | undefined {
  if (isIPv4(text)) return text
  if (text.length > maxLength) return undefined
  const bare = bareAddress(text.trim())
  if (isIPv4(bare)) return bare
  if (!isIPv6(bare)) return undefined
  return /^::ffff:([\d.]+)$/.exec(canonical(bare))?.[1] ?? bare
}

/** Longer than any address with its zone, brackets and port. */
const maxLength = 100

/**
 * clientKey returns the key under which the tries of a client are counted. A household or a server owns a whole /64 of IPv6,
 * often more, so counting single addresses would give it as many clients as it likes. All clients without an address share one
 * key.
 */
export function clientKey(client: string): string {
  const address = addressOf(client)
  if (address === undefined) return 'unknown'
  if (isIPv4(address)) return address
  const [head = [], tail = []] = canonical(address)
    .split('::')
    .map((part) => part.split(':').filter(Boolean))
  const zeros = new Array<string>(8 - head.length - tail.length).fill('0')
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`
}

/** clientOf takes the addresses as Fastify lists them: that of the socket first, then those that trusted forwarders added. */
export function clientOf({ ips = [] }: { readonly ips?: readonly (string | undefined)[] }): string {
  for (const entry of ips.toReversed()) {
    const address = addressOf(entry ?? '')
    // A word that is not an address counts for the forwarder that passed it on.
    if (address !== undefined) return address
  }
  return ''
}

/** Forwarders also write `203.0.113.7:4711`, `[2001:db8::1]:443`, `"[2001:db8::1]"` and `fe80::1%eth0`. */
function bareAddress(text: string): string {
  const unquoted = text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(unquoted) ?? []
  const [, withPort] = /^([\d.]+):\d{1,5}$/.exec(unquoted) ?? []
  const [address = ''] = (bracketed ?? withPort ?? unquoted).split('%', 1)
  return address
}

/** The shortest form of an IPv6 address; one that is mapped from IPv4 ends with that: `::ffff:203.0.113.7` (RFC 5952). */
function canonical(address: string): string {
  return new SocketAddress({ address, family: 'ipv6' }).address
}
