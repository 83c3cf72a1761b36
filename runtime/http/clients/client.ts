/** Owns who a sender is taken for: an address as a forwarder may write it, and the key under which its tries count. */

import { isIPv4, isIPv6 } from 'node:net'

/**
 * The bare address in what a socket or a forwarder says: without a port, brackets, quotes or a zone, and IPv4 as such
 * where it is mapped into IPv6. Undefined: it says no address.
 */
export function addressOf(text: string): string | undefined {
  if (isIPv4(text)) return text
  if (text.length > longest) return undefined
  const bare = bareAddress(text.trim())
  if (isIPv4(bare)) return bare
  if (!isIPv6(bare)) return undefined
  return mappedIPv4(groupsOf(bare)) ?? bare
}

/** The longest address that can be written, its zone, brackets and port included, and then some. */
const longest = 100

/**
 * Whose tries count together. A household or a server has a whole /64 of IPv6, often far more, so single addresses of
 * it would be as many clients as it likes. Whoever has no address is one client with all others that have none.
 */
export function clientKey(client: string): string {
  const address = addressOf(client)
  if (address === undefined) return 'unknown'
  if (isIPv4(address)) return address
  const groups = groupsOf(address).slice(0, 4)
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`
}

/** As Fastify lists them: the socket's first, then those that each believed forwarder told of. */
export function clientOf({ ips = [] }: { readonly ips?: readonly (string | undefined)[] }): string {
  for (const told of ips.toReversed()) {
    const address = addressOf(told ?? '')
    // What is no address cannot be held against anybody: it counts for the forwarder that passed it on.
    if (address !== undefined) return address
  }
  return ''
}

/** `203.0.113.7:4711`, `[2001:db8::1]:443`, `"[2001:db8::1]"` and `fe80::1%eth0` are written, too. */
function bareAddress(text: string): string {
  const unquoted = text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(unquoted) ?? []
  const [, withPort] = /^([\d.]+):\d{1,5}$/.exec(unquoted) ?? []
  const [address = ''] = (bracketed ?? withPort ?? unquoted).split('%', 1)
  return address
}

/** The eight groups of an IPv6 address that is known to be one. */
function groupsOf(address: string): number[] {
  const [head = [], tail] = address.split('::').map(numbersOf)
  if (tail === undefined) return head
  return [...head, ...new Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

function numbersOf(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

/** `::ffff:203.0.113.7` (RFC 4291, section 2.5.5.2), in whichever spelling. */
function mappedIPv4(groups: readonly number[]): string | undefined {
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : undefined
}
