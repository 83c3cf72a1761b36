/** Finds the endpoint that the URL of a request names. */

import { inUtf8 } from '@reveille/engine'

export interface Target {
  /** Percent-decoded once, without one trailing slash; absent if the URL names no endpoint. */
  readonly endpoint?: string
  /** The part after the `?`, as sent. */
  readonly query: string
}

/** The prefix of URLs under `hooks.path`, as senders encode it. */
export function prefixOf(hooksPath: string): string {
  return encodeURI(hooksPath)
}

/** parseTarget returns undefined for a URL that is not under the prefix. */
export function parseTarget(sent: string, prefix: string): Target | undefined {
  const url = withEscapes(sent)
  const start = url.startsWith('/') ? 0 : startOfPath(url)
  if (!url.startsWith(prefix, start)) return undefined
  const mark = url.indexOf('?', start)
  const end = mark === -1 ? url.length : mark
  const query = mark === -1 ? '' : url.slice(mark + 1)
  const after = start + prefix.length
  if (after === end) return { query }
  if (after > end || url[after] !== '/') return undefined
  const name = url.slice(after + 1, url[end - 1] === '/' ? end - 1 : end)
  return { endpoint: decoded(name), query }
}

/** True if the escapes of a URL are UTF-8. One of another charset would be read as other letters. */
export function isValidAddress(url: string): boolean {
  return inUtf8(withEscapes(url)) !== undefined
}

/** Some clients send the bytes of a letter without escapes, and Node.js gives one character for each byte. */
function withEscapes(url: string): string {
  return url.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
}

/** The path and query of a URL, as sent. */
export function originForm(url: string): string {
  return url.startsWith('/') ? url : url.slice(startOfPath(url))
}

/** Proxies may send the absolute form, `http://host/path`. */
function startOfPath(url: string): number {
  const scheme = url.indexOf('://')
  if (scheme === -1) return url.length
  const end = url.slice(scheme + 3).search(/[/?#]/)
  return end === -1 ? url.length : scheme + 3 + end
}

/** Returns undefined for an empty name and for a bad escape. */
function decoded(name: string): string | undefined {
  if (name === '') return undefined
  if (!name.includes('%')) return name
  try {
    return decodeURIComponent(name)
  } catch {
    return undefined
  }
}
