/**
 * Writes the address that a signature covers. It is configured, because a sender can put anything into the `Host` and
 * `X-Forwarded-*` headers. Only the query is taken as it was received.
 */

import type { UrlStyle } from '../../providers/scheme.ts'

/** Returns every form in which the provider may have written the address, the likeliest first. */
export type WriteUrl = (target: string) => readonly string[]

/** An address of scheme and host only stands for every path below it. */
const origin = /^[a-z]+:\/\/[^/?#]+$/i

/** @param target path and query as received */
export function createUrlWriter(publicUrl: string, style: UrlStyle | undefined): WriteUrl {
  const address = publicUrl.replace(/[?#].*$/s, '')
  const takesPath = origin.test(address)
  const bases = style === 'twilio' ? portsOf(address) : [address]
  return (target) => {
    const mark = target.indexOf('?')
    const received = takesPath ? target : mark === -1 ? '' : target.slice(mark)
    const urls = bases.map((base) => base + received)
    return style === 'hubspot' ? urls.flatMap((url) => [decodeAsHubspot(url), url]) : urls
  }
}

/** Splits an address into scheme, user, host, port and path. */
const parts = /^(https?):\/\/([^/?#]*@)?(\[[^\]]*\]|[^:/?#]*)(:[0-9]+)?(.*)$/is

/**
 * Twilio may sign the port that it calls or leave it out; its own library tries both.
 * https://www.twilio.com/docs/usage/webhooks/webhooks-security
 */
function portsOf(url: string): readonly string[] {
  const match = parts.exec(url)
  if (!match) return [url]
  const [, scheme = '', user = '', host = '', port, path = ''] = match
  const usual = scheme.toLowerCase() === 'https' ? ':443' : ':80'
  return ['', port ?? usual].map((each) => `${scheme}://${user}${host}${each}${path}`)
}

/** Decodes `! $ ' ( ) * , / : ; ? @`: https://developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation */
function decodeAsHubspot(url: string): string {
  return url.replace(/%(?:2[14789ACF]|3[ABF]|40)/gi, decodeURIComponent)
}
