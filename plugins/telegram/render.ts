/** Renders a reply as the parts that Telegram shows: as HTML, as plain text or as rich Markdown. */

import type { Part } from '@reveille/kit'
import {
  type Block,
  createInlineWriter,
  createTextRenderer,
  createWriter,
  type Dialect,
  markdownDialect,
  plainDialect,
  plainMarker,
  renderParts,
  shownAddress,
  writeTableAsCode,
} from '@reveille/kit/markdown'

/**
 * U+2060 WORD JOINER keeps Telegram from finding a name or a scheme and is invisible: it is neither a letter nor white
 * space, which are what Telegram's entity detection looks for.
 */
const joiner = '\u2060'

/**
 * Finds the `@` of a name that no word character precedes; inside a word, as in an e-mail address, Telegram finds no name
 * either. At the end of a text the name may follow in bold.
 */
const mention = /(?<![\p{L}\p{N}_])@(?=[\p{L}\p{N}_]|$)/gu
/**
 * Finds schemes that Telegram links by itself and that act inside Telegram; `tg://user?id=…` mentions a user. A scheme may
 * be split over several texts when a part of it is bold.
 */
const scheme = /(?:\b(?:tg|ton|tonsite)|^(?:g|(?:o?n)?(?:site)?|ite|te|e)?):(?=\/\/|\/?$)|^(?=\/\/)/gi

/**
 * The characters that Telegram removes from every text before it looks for names (TDLib, `clean_input_string`). A combining
 * ring is among them, which some letters also have as part of one character.
 */
const removed = /[\u2028-\u202e]|\u0333|\u033f|\u030a/g
const ringed = /[auwy]\u030a/gi

/** Returns the same words without mentions and without links into Telegram. A neutralised text stays as it is. */
export function neutralise(text: string): string {
  const left = text.replaceAll(ringed, (each) => each.normalize('NFC')).replaceAll(removed, '')
  return left.replaceAll(mention, `@${joiner}`).replaceAll(scheme, `$&${joiner}`)
}

/** Columns of code that a phone shows in portrait. */
const maxTableWidth = 48

/** Telegram's HTML: the few tags that its parser knows (Bot API, "HTML style"). */
const htmlDialect: Dialect = {
  text: (text) => escapeText(neutralise(text)),
  strong: (inner) => tag('b', inner),
  emphasis: (inner) => tag('i', inner),
  strike: (inner) => tag('s', inner),
  // Telegram finds no names in code, so code can be copied unchanged.
  code: (text) => tag('code', escapeText(text)),
  link(inner, address, isBare) {
    if (!isTaken(address))
      return isBare ? inner : `${inner} (${escapeText(neutralise(shownAddress(address)))})`
    return `<a href="${escapeAttribute(address)}">${isBare ? escapeText(address) : inner}</a>`
  },
  image(description, address) {
    const label = description.trim() === '' ? address : description
    return isTaken(address)
      ? `<a href="${escapeAttribute(address)}">${escapeText(label)}</a>`
      : escapeText(neutralise(label))
  },
  lineBreak: '\n',
  heading: (inner) => tag('b', inner),
  codeBlock(text, language) {
    if (!/^[\w+#.-]+$/.test(language)) return tag('pre', escapeText(text))
    return `<pre><code class="language-${language}">${escapeText(text)}</code></pre>`
  },
  quote: (inner) => tag('blockquote', inner.replaceAll(/<blockquote>(.*?)<\/blockquote>/gs, innerQuote)),
  item: (inner, marker) => plainMarker(marker) + indent(inner),
  table: (table) => writeTableAsCode(htmlDialect, table, { write: writeCell, maxWidth: maxTableWidth }),
  rule: '———',
}

/** Writes a quote inside a quote as text, since Telegram cannot nest them. */
function innerQuote(_whole: string, inner: string): string {
  return inner.replaceAll(/^/gm, '&gt; ').replaceAll(/^&gt; $/gm, '&gt;')
}

/** Writes a table's cell with its addresses in full, since code holds no links. */
const writeCell = createInlineWriter({
  ...plainDialect,
  link: (inner, address, isBare) => (isBare ? inner : `${inner} (${shownAddress(address)})`),
})

/** Returns what a person reads of this dialect's markup, in which `<` and `>` only delimit tags. */
function visibleOf(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}

/**
 * True if Telegram keeps a link to this address. It drops links that are not on the web or whose host has no dot (TDLib, `LinkManager`),
 * and finds e-mail addresses and telephone numbers by itself.
 */
function isTaken(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && /^https?:$/.test(url.protocol) && /[.:]/.test(url.hostname)
}

function tag(name: string, inner: string): string {
  return inner === '' ? '' : `<${name}>${inner}</${name}>`
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function escapeAttribute(text: string): string {
  return escapeText(text).replaceAll('"', '&quot;')
}

const blockTags = /(<pre>.*?<\/pre>|<blockquote>.*?<\/blockquote>)/s

/** Indents an item's lines after the first. Blocks are not indented: they begin at the start of a line, and code keeps its spaces. */
function indent(markup: string): string {
  const pieces = markup.split(blockTags).map((piece, index) => {
    const isBlock = index % 2 === 1
    return isBlock ? piece : piece.replaceAll(/\n(?=[^\n])/g, '\n   ')
  })
  return (pieces[0] === '' && pieces.length > 1 ? '\n' : ' ') + pieces.join('')
}

export type Format = 'html' | 'plain' | 'rich'

export interface MessagePart extends Part {
  /** The text that a person reads. */
  readonly text: string
  /** The same as HTML; absent if the text is sent as it is. */
  readonly html?: string
}

/**
 * The limits of each format, of which `parts` is the most messages that one reply becomes; the last of them says where the
 * rest can be read. Telegram allows 4096 characters after it has parsed the HTML; UTF-16 units are never
 * fewer. It documents no limit for the HTML itself, which is kept within 4096 as well.
 */
export const limits = {
  html: { part: 4000, unit: 'utf16', parts: 10 },
  plain: { part: 4000, unit: 'utf16', parts: 10 },
  rich: { part: 32_000, unit: 'utf16', parts: 10 },
} as const
/** UTF-16 units by which the HTML may exceed the limit. */
const markupAllowance = 96

/** Maximum number of entities that Telegram keeps of a message. It silently drops the rest, so that links would lose their addresses. */
const maxEntities = 100

const writeHtml = createWriter(htmlDialect)

/** Returns the pure function that renders a reply in this format. */
export function rendererOf(format: Format): (markdown: string) => MessagePart[] {
  switch (format) {
    case 'html':
      return renderHtml
    case 'plain':
      return createTextRenderer(
        { ...plainDialect, text: neutralise, code: neutralise, codeBlock: neutralise },
        limits.plain,
      )
    case 'rich':
      return createTextRenderer(markdownDialect({ neutralise }), limits.rich)
  }
}

export function renderHtml(markdown: string): MessagePart[] {
  return renderParts(markdown, {
    write(blocks: readonly Block[]) {
      const html = writeHtml(blocks)
      return { text: visibleOf(html), html }
    },
    measure: ({ text, html }) => Math.max(text.length, html.length - markupAllowance, shareOfEntities(html)),
    limit: limits.html.part,
  })
}

/** Returns the share of the limit that the entities use up, so that a part has no more of them than Telegram keeps. */
function shareOfEntities(html: string): number {
  const tags = html.match(/<(?!\/|code class)/g)?.length ?? 0
  return Math.ceil((tags * limits.html.part) / maxEntities)
}
