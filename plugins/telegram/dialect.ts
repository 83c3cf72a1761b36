/** Owns Telegram's HTML: the few tags that its parser knows (Bot API, "HTML style"), and what stands for the rest. */

import {
  alignTable,
  createWriter,
  type Dialect,
  type Inline,
  plainDialect,
  plainMarker,
  tableRecords,
} from '@reveille/kit/markdown'
import { makeInert } from './inert.ts'

/** Of lists in no list, and so on; `plainMarker` has the first. */
const deeperBullets = ['◦', '▪']
/** What of a line of code a telephone shows without turning. Columns. */
const widestTable = 48

export const htmlDialect: Dialect = {
  text: (text) => escapeText(makeInert(text)),
  strong: (inner) => tag('b', inner),
  emphasis: (inner) => tag('i', inner),
  strike: (inner) => tag('s', inner),
  // Telegram looks for no names in code, so what people copy from it stays as it is.
  code: (text) => tag('code', escapeText(text)),
  link(inner, address, isBare) {
    if (!isTaken(address))
      return isBare ? inner : `${inner} (${escapeText(makeInert(shownAddress(address)))})`
    return `<a href="${escapeAttribute(address)}">${isBare ? escapeText(address) : inner}</a>`
  },
  image(description, address) {
    const label = description.trim() === '' ? address : description
    return isTaken(address)
      ? `<a href="${escapeAttribute(address)}">${escapeText(label)}</a>`
      : escapeText(makeInert(label))
  },
  lineBreak: '\n',
  heading: (inner) => tag('b', inner),
  codeBlock(text, language) {
    if (!/^[\w+#.-]+$/.test(language)) return tag('pre', escapeText(text))
    return `<pre><code class="language-${language}">${escapeText(text)}</code></pre>`
  },
  quote: (inner) => tag('blockquote', inner.replaceAll(/<blockquote>(.*?)<\/blockquote>/gs, innerQuote)),
  item(inner, marker) {
    const sign = plainMarker(marker)
    const bullet = deeperBullets[Math.min(marker.depth, deeperBullets.length) - 1]
    return (sign === '•' ? (bullet ?? sign) : sign) + indent(inner)
  },
  table(table) {
    const aligned = alignTable(table, writeCell, widestTable)
    return aligned === undefined ? writeRecords(tableRecords(table)) : tag('pre', escapeText(aligned))
  },
  rule: '———',
}

/** Telegram has no quotes in quotes. */
function innerQuote(_whole: string, inner: string): string {
  return inner.replaceAll(/^/gm, '&gt; ').replaceAll(/^&gt; $/gm, '&gt;')
}

const writeRecords = createWriter(htmlDialect)
const writePlain = createWriter({
  ...plainDialect,
  link: (inner, address, isBare) => (isBare ? inner : `${inner} (${shownAddress(address)})`),
})

/** There are no links in code, so that addresses are written out. */
function writeCell(children: readonly Inline[]): string {
  return writePlain([{ type: 'paragraph', children }])
}

/** What a person reads of markup of this dialect, in which `<` and `>` are nothing but tags. */
export function visibleOf(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}

/**
 * Telegram drops the link and shows its words alone where the address is none of the web, or the host has no dot (TDLib,
 * `LinkManager`). E-mail addresses and telephone numbers it finds by itself.
 */
function isTaken(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && /^https?:$/.test(url.protocol) && /[.:]/.test(url.hostname)
}

function shownAddress(address: string): string {
  return address.replace(/^(mailto|tel):/i, '')
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

/** What follows the marker of an item, lines after the first below it. Blocks stay where they are: they begin at the beginning of a line, and the spaces of code are its own. */
function indent(markup: string): string {
  const pieces = markup.split(blockTags).map((piece, index) => {
    const isBlock = index % 2 === 1
    return isBlock ? piece : piece.replaceAll(/\n(?=[^\n])/g, '\n   ')
  })
  return (pieces[0] === '' && pieces.length > 1 ? '\n' : ' ') + pieces.join('')
}
