/** Parses ranges of network addresses: the strings `10.0.0.7`, `10.0.0.0/8`, `fd00::/8` and the three that have names. */

import { isIP } from 'node:net'

export interface AddressRange {
  readonly address: string
  /** The number of leading bits that count. */
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

const named: Readonly<Record<string, readonly string[]>> = {
  __proto__: null as never,
  loopback: ['127.0.0.0/8', '::1'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** A name covers several ranges. @throws RangeError if the string is not a range */
export function parseAddressRange(text: string): readonly AddressRange[] {
  return named[text]?.map(parseOne) ?? [parseOne(text)]
}

export function isAddressRange(text: string): boolean {
  try {
    return parseAddressRange(text).length > 0
  } catch {
    return false
  }
}

function parseOne(text: string): AddressRange {
  const [, address = '', digits] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? []
  const version = isIP(address)
  const widest = version === 4 ? 32 : 128
  const prefix = digits === undefined ? widest : Number(digits)
  if (version === 0 || prefix > widest)
    throw new RangeError('A range is an address, or one with /bits behind it')
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' }
}
