/** Owns whether a request was made by a program on this machine: what `auth: none` rests on. */

import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Of a name or an address, as `gateway.host` gives it or as it stands in a URL: `localhost`, `127.0.0.1`, `[::1]`. */
export function isLoopbackHost(host: string): boolean {
  const name = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  const version = isIP(name)
  if (version === 0) return /^(.+\.)?localhost$/i.test(name)
  return loopback.check(name, version === 4 ? 'ipv4' : 'ipv6')
}

/** Proxies and tunnels on this machine say with one of these that the request is of somebody else. */
const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/**
 * Whether it is neither of a browser, where any web page may have written it, nor forwarded. A page whose name was made
 * to point to this machine (DNS rebinding) sends that name as its host.
 */
export function isOfThisMachine(headers: IncomingHttpHeaders, client: string): boolean {
  return (
    isLoopbackHost(client) &&
    isLoopbackHost(withoutPort(headers.host ?? '')) &&
    headers.origin === undefined &&
    isOfNoOtherSite(headers['sec-fetch-site']) &&
    forwarding.every((name) => headers[name] === undefined)
  )
}

/** https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header */
function isOfNoOtherSite(site: string | string[] | undefined): boolean {
  return site === undefined || site === 'none' || site === 'same-origin'
}

function withoutPort(host: string): string {
  return host.replace(/:\d*$/, '')
}
