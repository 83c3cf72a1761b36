/** Reads one tag of HTML as the standard's tokenizer does, in time that is linear in its length. */

export interface Tag {
  /** The name in lower case. Empty for comments, declarations and other text that is no tag. */
  readonly name: string
  readonly isClosing: boolean
  /** The attributes that matter here, each with its first value. */
  readonly attributes: Readonly<Record<string, string>>
  /** The steps that reading took. */
  readonly steps: number
  /** The index after the tag. */
  readonly end: number
}

const meaningful: ReadonlySet<string> = new Set(['href', 'style', 'hidden', 'start', 'alt'])
const none: Tag['attributes'] = Object.freeze({})

/**
 * Reads what begins with the `<` at `at`. Returns undefined if that is only a character. A tag without an end takes
 * all that follows.
 */
export function readTag(html: string, at: number): Tag | undefined {
  const next = html.charAt(at + 1)
  if (next === '!' || next === '?') return nothing(endOfDeclaration(html, at))
  if (next === '/') {
    if (!isLetter(html.charAt(at + 2))) return nothing(after(html, '>', at + 2))
    return readName(html, at + 2, true)
  }
  return isLetter(next) ? readName(html, at + 1, false) : undefined
}

function nothing(end: number): Tag {
  return { name: '', isClosing: false, attributes: none, steps: 1, end }
}

function isLetter(character: string): boolean {
  return /[a-z]/i.test(character)
}

/** https://html.spec.whatwg.org/multipage/parsing.html#markup-declaration-open-state */
function endOfDeclaration(html: string, at: number): number {
  if (!html.startsWith('<!--', at)) return after(html, '>', at + 2)
  if (html.startsWith('>', at + 4)) return at + 5
  if (html.startsWith('->', at + 4)) return at + 6
  return after(html, '-->', at + 4)
}

function after(html: string, mark: string, from: number): number {
  const at = html.indexOf(mark, from)
  return at < 0 ? html.length : at + mark.length
}

const nameForm = /[^\s/>]+/y
const gap = /[\s/]*/y
const attributeName = /[^\s/>][^\s/>=]*/y
const equals = /\s*=\s*/y
const bareValue = /[^\s>]*/y

function readName(html: string, from: number, isClosing: boolean): Tag {
  let at = skip(nameForm, html, from)
  const name = html.slice(from, Math.min(at, from + maxNameLength)).toLowerCase()
  const attributes: Record<string, string> = {}
  let steps = 1
  for (; ; steps++) {
    at = skip(gap, html, at)
    if (at >= html.length || html.charAt(at) === '>') break
    const start = at
    at = skip(attributeName, html, at)
    const key = at - start > maxNameLength ? '' : html.slice(start, at).toLowerCase()
    const value = readValue(html, at)
    at = value.end
    if (meaningful.has(key)) attributes[key] ??= html.slice(value.start, value.stop)
  }
  return { name, isClosing, attributes, steps, end: Math.min(at + 1, html.length) }
}

const maxNameLength = 16

function readValue(html: string, at: number): { start: number; stop: number; end: number } {
  const start = skip(equals, html, at)
  if (start === at) return { start: at, stop: at, end: at }
  const quote = html.charAt(start)
  if (quote === '"' || quote === "'") {
    const stop = html.indexOf(quote, start + 1)
    return stop < 0 ? { start, stop: start, end: html.length } : { start: start + 1, stop, end: stop + 1 }
  }
  const stop = skip(bareValue, html, start)
  return { start, stop, end: stop }
}

/** Returns the end of a match of the sticky pattern at `at`, or `at` if there is none. */
function skip(pattern: RegExp, html: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(html) ? pattern.lastIndex : at
}

/**
 * Decides whether an element hides itself. Newsletters hide the line that a list of mails previews, and attackers
 * hide orders to a model. What a style sheet, a colour or the size of letters hides is not noticed. A size of nothing
 * is no sign, because layouts of MJML set it on cells whose content has a size again.
 * https://github.com/mjmlio/mjml/issues/2542
 */
export function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  const { style, hidden } = attributes
  return hidden !== undefined || (style !== undefined && hiding.test(style.slice(0, maxStyleLength)))
}

const maxStyleLength = 2_000

const hiding =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|mso-hide\s*:\s*all|(?:opacity|max-height)\s*:\s*0*\.?0+(?:px|em|%)?\s*(?:!|;|$))/i
