/** Owns the headers of a request that stands in a file: as Node.js would have handed them to the gateway. */

export type Head = Record<string, string>

/** Of these the first one counts (https://nodejs.org/api/http.html#messageheaders); all others are joined. */
const single = new Set(['authorization', 'content-length', 'content-type', 'host', 'user-agent'])

export function createHead(): Head {
  return Object.create(null)
}

/** False: there is no header of such a name. */
export function addHeader(head: Head, name: string, value: string): boolean {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return false
  const key = name.toLowerCase()
  const earlier = head[key]
  if (earlier === undefined) head[key] = value
  else if (!single.has(key)) head[key] = `${earlier}, ${value}`
  return true
}
