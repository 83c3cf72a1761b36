/** Owns whether a request was made by a program on this machine: what `auth: none` rests on. */

import type { IncomingHttpHeaders } from 'node:http'
import { isLoopback } from '@reveille/engine'

/** Proxies and tunnels on this machine say with one of these that the request is of somebody else. */
const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/**
 * Whether it is neither of a browser, where any web page may have written it, nor forwarded. A page whose name was made
 * to point to this machine (DNS rebinding) sends that name as its host.
 */
export function isOfThisMachine(headers: IncomingHttpHeaders, client: string): boolean {
  return (
    isLoopback(client) &&
    isLoopback(withoutPort(headers.host ?? '')) &&
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
