/** Owns whether a request was made by a program on this machine: what `auth: none` rests on. */

import type { IncomingMessage } from 'node:http'
import { isLoopback } from '@reveille/engine'

/**
 * Proxies and tunnels on this machine say with one of these that the request is of somebody else. Some only say what they
 * called it by, some only who called, and some (nginx, unless it is told more) nothing but their own HTTP/1.0.
 */
const forwarding = /^(x-forwarded|forwarded|x-original-|via$|cdn-loop$|cf-|.*-ip$|.*-clientip$|tailscale-)/

export type LocalRequest = Pick<IncomingMessage, 'headers' | 'httpVersion'>

/**
 * Whether it is neither of a browser, where any web page may have written it, nor forwarded. A page whose name was made
 * to point to this machine (DNS rebinding) sends that name as its host.
 */
export function isOfThisMachine({ headers, httpVersion }: LocalRequest, client: string): boolean {
  return (
    httpVersion !== '1.0' &&
    isLoopback(client) &&
    isLoopback(withoutPort(headers.host ?? '')) &&
    headers.origin === undefined &&
    isOfNoOtherSite(headers['sec-fetch-site']) &&
    !Object.keys(headers).some((name) => forwarding.test(name))
  )
}

/** https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header */
function isOfNoOtherSite(site: string | string[] | undefined): boolean {
  return site === undefined || site === 'none' || site === 'same-origin'
}

function withoutPort(host: string): string {
  return host.replace(/:\d*$/, '')
}
