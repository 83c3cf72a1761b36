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
  const base = partsOf(configured ?? recorded ?? '') ?? (asked && { ...asked, host: hosts[0] ?? '' })
  if (base === undefined || asked === undefined || base.host === '') return []
  const other = partsOf(recorded ?? '')
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
        (host) => ['with the host that the request names', partsOf(`http://${host}/`)?.host ?? ''] as const,
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
      ['without its query', ''],
      ['with the query that was asked for', asked.query],
      ...(other ? [['with the query of the recorded address', other.query] as const] : []),
    ]),
  }
  return combined(options, write(base))
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

function combined({ scheme, host, port, path, query }: Choices, configured: string): readonly UrlForm[] {
  const forms: { told: readonly string[]; url: string }[] = []
  for (const s of scheme)
    for (const h of host)
      for (const p of port)
        for (const d of path)
          for (const q of query) {
            const told = [s, h, p, d, q].map((each) => each.told).filter(Boolean)
            const parts = { scheme: s.text, host: h.text, port: p.text, path: d.text, query: q.text }
            const url = write(parts)
            if (h.text !== '' && url !== configured && told.length <= mostChanges) forms.push({ told, url })
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
