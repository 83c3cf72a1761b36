/** Finds the address of a client in what sockets and forwarders say, and the key under which its tries are counted. */

import { isIPv4, isIPv6 } from 'node:net'

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
  return mappedIPv4(groupsOf(bare)) ?? bare
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
  const groups = groupsOf(address).slice(0, 4)
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`
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

/** The eight groups of a valid IPv6 address. */
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

/** The IPv4 address in `::ffff:203.0.113.7` (RFC 4291, section 2.5.5.2), in any spelling. */
function mappedIPv4(groups: readonly number[]): string | undefined {
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0)
  return isMapped ? [high >> 8, high & 255, low >> 8, low & 255].join('.') : undefined
}
