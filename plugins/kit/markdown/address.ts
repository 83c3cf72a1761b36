/** Decides which addresses may become links. */

const schemes = new Set(['http:', 'https:', 'mailto:', 'tel:'])
/** Control characters, white space, and the characters that change the direction of text. */
const unfit = /[\p{Cc}\p{Zl}\p{Zp}\s\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u
const maxLength = 8192

/**
 * Returns the address as it may be in a link: http, https, mailto or tel, at most 8,192 characters, without credentials,
 * white space or control characters. Returns undefined for everything else, which stays text.
 */
export function safeAddress(text: string): string | undefined {
  const address = text.trim().replaceAll(' ', '%20')
  if (address.length > maxLength || unfit.test(address) || !URL.canParse(address)) return undefined
  const url = new URL(address)
  if (!schemes.has(url.protocol) || url.username !== '' || url.password !== '') return undefined
  if (url.protocol.startsWith('http') && !/^https?:\/\/[^/\\]/i.test(address)) return undefined
  const safe = address.replace(
    /[<>"'`\\{}|^]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  // A backslash ends a host and its encoded form does not, so that the encoded address may be invalid.
  return URL.canParse(safe) ? safe : undefined
}

/** True if a link's label equals its address. */
export function isSameAddress(label: string, address: string): boolean {
  return (
    label === address ||
    `mailto:${label}` === address ||
    `tel:${label}` === address ||
    `http://${label}` === address
  )
}

/**
 * True if the label names another host than the address, such as "bank.example.com" on a link to a different site. File names
 * (`README.md`) are not hosts.
 */
export function isDeceptive(label: string, address: string): boolean {
  const shown = shownHost(label)
  if (shown === undefined) return false
  const url = new URL(address)
  const host = url.protocol === 'mailto:' ? decodeURIComponent(url.pathname).split('@').at(-1) : url.hostname
  return bare(shown) !== bare(host ?? '')
}

function shownHost(label: string): string | undefined {
  const text = label.normalize('NFKC').replace(/\p{Cf}/gu, '')
  const written = /(?:https?:\/\/|www\.)([^\s/?#]+)/i.exec(text)
  if (written?.[1] !== undefined) return written[0].startsWith('www.') ? written[0] : hostOf(written[1])
  const alone = /^(?:[^\s@/]+@)?((?:[\p{L}\p{N}_-]+\.)+(\p{L}{2,}))(?:[:/?#]\S*)?$/u.exec(text.trim())
  const ending = alone?.[2]?.toLowerCase() ?? ''
  return domainEndings.test(ending) && !fileEndings.has(ending) ? alone?.[1] : undefined
}

function hostOf(authority: string): string {
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  return host.replace(/:\d+$/, '')
}

function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^www\./, '')
    .replace(/\.$/, '')
}

const domainEndings =
  /^(?:com|org|net|gov|edu|mil|int|info|biz|app|dev|cloud|online|site|shop|xyz|bank|\p{L}{2})$/u
const fileEndings = new Set(
  'cc cs go hs js jl kt md ml mm pl pm ps py rb rs sh tf ts vb vi db gz so'.split(' '),
)

/** Returns an address as a person would write it. */
export function shownAddress(address: string): string {
  return address.replace(/^(mailto|tel):/i, '')
}
