/** Parses Telegram's HTML as TDLib does, and finds the names and links that Telegram finds in plain text. */

interface Entity {
  readonly type: string
  /** The offset and length in UTF-16 units. */
  readonly offset: number
  readonly length: number
  readonly url?: string
  readonly language?: string
  /** The user that a `text_mention` mentions. */
  readonly user?: string
}

export interface FormattedText {
  readonly text: string
  readonly entities: readonly Entity[]
}

const types: Readonly<Record<string, string>> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  'tg-spoiler': 'spoiler',
  code: 'code',
  pre: 'pre',
  a: 'text_link',
  blockquote: 'blockquote',
}

interface OpenTag {
  readonly name: string
  readonly argument: string
  readonly offset: number
}

/** @throws Error with the Bot API's words */
export function parseHtml(html: string): FormattedText {
  const open: OpenTag[] = []
  const entities: Entity[] = []
  let text = ''
  let at = 0
  while (at < html.length) {
    if (html[at] !== '<') {
      const end = html.indexOf('<', at)
      text += decode(html.slice(at, end < 0 ? undefined : end))
      at = end < 0 ? html.length : end
      continue
    }
    const where = `at byte offset ${Buffer.byteLength(html.slice(0, at))}`
    const tag = /^<(\/?)([^\s>]*)([^>]*)>/.exec(html.slice(at))
    if (tag === null) throw new Error(`Unclosed start tag ${where}`)
    const [whole, slash, written = '', attributes = ''] = tag
    const name = written.toLowerCase()
    if (slash === '') {
      if (!Object.hasOwn(types, name)) throw new Error(`Unsupported start tag "${name}" ${where}`)
      open.push({ name, argument: argumentOf(name, attributes, where), offset: text.length })
    } else {
      const last = open.pop()
      if (last === undefined) throw new Error(`Unexpected end tag ${where}`)
      if (last.name !== name) {
        throw new Error(`Unmatched end tag ${where}, expected "</${last.name}>", found "</${name}>"`)
      }
      if (text.length > last.offset) add(entities, last, text)
    }
    at += whole.length
  }
  const [unclosed] = open.slice(-1)
  if (unclosed) throw new Error(`Can't find end tag corresponding to start tag "${unclosed.name}"`)
  return { text, entities: entities.toSorted((left, right) => left.offset - right.offset) }
}

function argumentOf(name: string, attributes: string, where: string): string {
  let argument = ''
  let rest = attributes.trim()
  while (rest !== '') {
    const attribute = /^([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9.-]+))\s*/.exec(rest)
    if (attribute === null) {
      throw new Error(`Expected equal sign in declaration of an attribute of the tag "${name}" ${where}`)
    }
    const [whole, key, double, single, token] = attribute
    const value = decode(double ?? single ?? token ?? '')
    if (name === 'a' && key === 'href') argument = value
    if (name === 'code' && key === 'class' && value.startsWith('language-')) argument = value.slice(9)
    rest = rest.slice(whole.length)
  }
  return argument
}

function add(entities: Entity[], { name, argument, offset }: OpenTag, text: string): void {
  const place = { offset, length: text.length - offset }
  const inner = entities.at(-1)
  if (name === 'pre' && inner?.type === 'code' && inner.offset === offset && inner.length === place.length) {
    entities[entities.length - 1] = { ...inner, type: 'pre' }
    return
  }
  if (name === 'code' && argument !== '') {
    entities.push({ type: 'code', ...place, language: argument })
    return
  }
  if (name !== 'a') {
    entities.push({ type: types[name] ?? name, ...place })
    return
  }
  const url = argument === '' ? text.slice(offset) : argument
  const user = /^tg:\/\/user\?id=(\d+)/i.exec(url)?.[1]
  if (user !== undefined) entities.push({ type: 'text_mention', ...place, user })
  // Telegram keeps only the words of a link that it rejects.
  else if (isTaken(url)) entities.push({ type: 'text_link', ...place, url })
}

/** TDLib, `LinkManager::get_checked_link`: a host has a dot, unless it is an address of IPv6. */
function isTaken(address: string): boolean {
  const url = URL.parse(address)
  if (url === null) return false
  if (/^(tg|ton|tonsite):$/.test(url.protocol)) return true
  return /^https?:$/.test(url.protocol) && /[.:]/.test(url.hostname)
}

const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' }

/** Decodes character references. A name that Telegram does not know stays as it is written. */
function decode(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z]+));?/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return Object.hasOwn(named, name) ? (named[name] ?? whole) : whole
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code > 0 && code < 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

/** Telegram finds nothing inside these entities (TDLib, `find_entities`). */
const opaque = new Set(['code', 'pre', 'text_link', 'text_mention'])

export function detectEntities({ text, entities }: FormattedText): Entity[] {
  const found = [
    ...matches('mention', /(?<![\p{L}\p{N}_])@[a-zA-Z0-9_]{2,32}(?![\p{L}\p{N}_])/gu, text),
    ...matches(
      'url',
      /(?<![\p{L}\p{N}_])(?:https?|tg|ton|tonsite):\/\/[^\s\u2000-\u206f<>"]*[^\s\u2000-\u206f<>".,;:!?)]/giu,
      text,
    ),
  ]
  const blocked = entities.filter(({ type }) => opaque.has(type))
  return found.filter((each) => !blocked.some((other) => overlaps(each, other)))
}

function matches(type: string, pattern: RegExp, text: string): Entity[] {
  return Array.from(text.matchAll(pattern), ({ index, 0: { length } }) => ({ type, offset: index, length }))
}

function overlaps(left: Entity, right: Entity): boolean {
  return left.offset < right.offset + right.length && right.offset < left.offset + left.length
}
