/** Owns the addresses that a sender may have signed in place of the configured one. */

export interface UrlForm {
  /** Behind “it fits the address”. */
  readonly told: string
  readonly url: string
}

interface Parts {
  readonly scheme: string
  readonly host: string
  readonly port: string
  readonly path: string
  readonly query: string
}

/** Where a part may come from besides the configuration. */
export interface UrlSources {
  /** `verify.publicUrl`. */
  readonly configured?: string
  /** As the request's file, or whoever recorded it, says. */
  readonly recorded?: string
  /** The request's target: path and query. */
  readonly target: string
  /** Of the headers `host` and `x-forwarded-host`: what the client says, which is no proof of anything. */
  readonly hosts: readonly string[]
}

/** Those that differ in one part come first. At most a few hundred, and none is the configured one. */
export function urlForms({ configured, recorded, target, hosts }: UrlSources): readonly UrlForm[] {
  const asked = partsOf(`https://unknown${target.startsWith('/') ? target : `/${target}`}`)
  const said = partsOf(configured ?? '')
  const other = partsOf(recorded ?? '')
  const near = said ?? other ?? partsOf(`https://${hosts[0] ?? ''}/`)
  if (asked === undefined || near === undefined) return []
  // The query is always the one that was received, and so is the path of an address that has none.
  const base = { ...near, path: said?.path || asked.path, query: asked.query }
  const options = {
    scheme: choices(base.scheme, [
      ['with http in place of https', 'http'],
      ['with https in place of http', 'https'],
    ]),
    port: choices(base.port, [
      ['without its port', ''],
      ['with the port 443', ':443'],
      ['with the port 80', ':80'],
    ]),
    host: choices(base.host, [
      ...(other ? [['with the host of the recorded address', other.host] as const] : []),
      ...hosts.map(
        (host) =>
          ['with the host that the request names', partsOf(`http://${host}/`)?.host ?? base.host] as const,
      ),
    ]),
    path: choices(base.path, [
      base.path.endsWith('/')
        ? ['without the slash at its end', base.path.replace(/\/$/, '')]
        : ['with a slash at its end', `${base.path}/`],
      ['with the path that was asked for', asked.path],
      ...(other ? [['with the path of the recorded address', other.path] as const] : []),
    ]),
    query: choices(base.query, [
      ['without the query that came', ''],
      ...(said ? [['with the query of the configured address', said.query] as const] : []),
      ...(other ? [['with the query of the recorded address', other.query] as const] : []),
    ]),
  }
  return combined(options, said && write(base))
}

type Choice = { readonly told: string; readonly text: string }
type Choices = Readonly<Record<keyof Parts, readonly Choice[]>>

/** What is there first. */
function choices(base: string, others: readonly (readonly [string, string])[]): readonly Choice[] {
  const seen = new Set<string>()
  const all = [['', base] as const, ...others].filter(([, text]) => !seen.has(text) && seen.add(text))
  return all.map(([told, text]) => ({ told, text })).slice(0, 4)
}

const mostChanges = 3

/** Without a configured address, the likeliest one is a form too. */
function combined(
  { scheme, host, port, path, query }: Choices,
  configured: string | undefined,
): readonly UrlForm[] {
  const forms: { told: readonly string[]; url: string }[] = []
  for (const s of scheme)
    for (const h of host)
      for (const p of port)
        for (const d of path)
          for (const q of query) {
            const told = [s, h, p, d, q].map((each) => each.told).filter(Boolean)
            const parts = { scheme: s.text, host: h.text, port: p.text, path: d.text, query: q.text }
            const url = write(parts)
            if (url !== configured && told.length <= mostChanges) forms.push({ told, url })
          }
  return forms
    .sort((a, b) => a.told.length - b.told.length)
    .map(({ told, url }) => ({ told: told.join(', '), url }))
}

function partsOf(url: string): Parts | undefined {
  const found = /^(https?):\/\/([^/?#:@\s]{1,255})(:\d{1,5})?([^?#]*)(\?[^#]*)?/i.exec(url)
  if (found === null) return undefined
  const [, scheme = '', host = '', port = '', path = '', query = ''] = found
  return { scheme: scheme.toLowerCase(), host: host.toLowerCase(), port, path, query }
}

function write({ scheme, host, port, path, query }: Parts): string {
  return `${scheme}://${host}${port}${path}${query}`
}
