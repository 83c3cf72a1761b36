/**
 * Renders a reply in WhatsApp's markup: signs around words, which cannot span lines or begin or end inside a word.
 *
 * Meta documents the signs but not how they are parsed, and there are no escapes. An invisible word joiner before a sign separates
 * it from a preceding space or punctuation, so that it is not an opening mark.
 *
 * Source: faq.whatsapp.com, "How to format your messages"; for the rules mautrix/whatsapp, which reads such messages.
 */

import type { Part } from '@reveille/kit'
import {
  type Block,
  createTextRenderer,
  type Dialect,
  type Inline,
  type InlineContext,
  writeTableAsCode,
} from '@reveille/kit/markdown'

/** U+2060 WORD JOINER. */
const joiner = '\u2060'

/** Neutralises exactly those signs of a text that would be markup in this place. */
function neutralise(text: string, { before, after }: InlineContext): string {
  return text.replaceAll(/[*_~`]/g, (sign, at: number) =>
    mayBeMarkup(sign, text[at - 1] ?? before, text[at + 1] ?? after) ? `${joiner}${sign}` : sign,
  )
}

/** Neutralises the lines of a paragraph that would be quotes or list items. */
function neutraliseLines(text: string): string {
  return text.replaceAll(/^(?=(?:>|[-*\u2022]|\d+\.) )/gm, joiner)
}

/** Percent-encodes the signs of an address that would be markup. */
function neutraliseAddress(address: string): string {
  return address.replaceAll(/[*_~]/g, (sign, at: number) =>
    mayBeMarkup(sign, address[at - 1] ?? '', address[at + 1] ?? '')
      ? `%${sign.charCodeAt(0).toString(16).toUpperCase()}`
      : sign,
  )
}

/** True if WhatsApp may read the sign between these two characters as markup. */
function mayBeMarkup(sign: string, before: string, after: string): boolean {
  const opens = !isWord(before) && !isSpace(after)
  const closes = !isSpace(before) && !isWord(after)
  return sign === '`' || opens || closes
}

function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character)
}

/** True if the character is white space or the end of a line. */
function isSpace(character: string): boolean {
  return character === '' || /\s/.test(character)
}

/** True if a mark may open after this character or close before it; an empty string is the end of a line. */
function isEdge(character: string): boolean {
  return character === '' || /[\s\p{P}\p{S}]/u.test(character)
}

/** Writes a monospaced block. Its fences share lines with the code, because WhatsApp shows separate fence lines. */
function fence(text: string): string {
  if (text.trim() === '') return ''
  const safe = text.replaceAll(/`(?=`)/g, `\`${joiner}`)
  const start = safe.startsWith('`') ? joiner : ''
  const end = safe.endsWith('`') ? joiner : ''
  return `\`\`\`${start}${safe}${end}\`\`\``
}

/** Applies `change` to each line that begins outside a code block. */
function mapLines(text: string, change: (line: string, index: number) => string): string {
  let isInside = false
  const lines = text.split('\n').map((line, index) => {
    const changed = isInside ? line : change(line, index)
    if ((line.split('```').length - 1) % 2 === 1) isInside = !isInside
    return changed
  })
  return lines.join('\n')
}

/** Removes bold from headings, which are bold themselves, because WhatsApp would show the inner signs. */
function flattenHeadings(blocks: readonly Block[]): Block[] {
  return blocks.map((block) => {
    if (block.type === 'heading') return { ...block, children: withoutBold(block.children) }
    if (block.type === 'quote') return { ...block, blocks: flattenHeadings(block.blocks) }
    if (block.type !== 'list') return block
    return { ...block, items: block.items.map((item) => ({ ...item, blocks: flattenHeadings(item.blocks) })) }
  })
}

function withoutBold(inlines: readonly Inline[]): Inline[] {
  return inlines.flatMap((inline) => {
    if (!('children' in inline)) return [inline]
    const children = withoutBold(inline.children)
    return inline.type === 'strong' ? children : [{ ...inline, children }]
  })
}

/** Width of monospaced text that most phones show without wrapping, in columns. */
const maxTableWidth = 34

const whatsAppDialect: Dialect = {
  text: neutralise,
  strong: (inner, place) => mark('*', inner, place),
  emphasis: (inner, place) => mark('_', inner, place),
  strike: (inner, place) => mark('~', inner, place),
  code: (text) => (text.includes('`') ? fence(text) : `\`${text}\``),
  link(inner, address, isBare) {
    const shown = shownAddress(address)
    return isBare || inner.trim() === '' ? shown : `${inner} (${shown})`
  },
  image(description, address, place) {
    const shown = shownAddress(address)
    return description.trim() === '' ? shown : `${neutralise(description, place)} (${shown})`
  },
  lineBreak: '\n',
  paragraph: neutraliseLines,
  heading: (inner) => mark('*', inner, wholeLine),
  codeBlock: fence,
  quote: (inner) => mapLines(inner, (line) => (line.startsWith('> ') ? line : `> ${line}`)),
  item(inner, { number, checked }) {
    const bullet = number === undefined ? '- ' : `${number}. `
    const box = checked === undefined ? '' : checked ? '☑ ' : '☐ '
    const indent = ' '.repeat(bullet.length)
    return mapLines(inner, (line, index) => {
      if (index === 0) return `${bullet}${box}${line}`
      return line === '' ? '' : `${indent}${line}`
    })
  },
  table: (table) => writeTableAsCode(whatsAppDialect, table, { maxWidth: maxTableWidth }),
  rule: '———',
}

const wholeLine: InlineContext = { before: '', after: '', isInLink: false }

/** Marks each line separately, directly at its words, because a sign next to a space is not a mark. */
function mark(sign: string, inner: string, { before, after }: InlineContext): string {
  // Where this mark cannot work, one directly inside it cannot either.
  if (!isEdge(before) || !isEdge(after)) return inner.replace(/^([*_~])([^*_~]*)\1$/s, '$2')
  return mapLines(inner, (line) => line.replace(/\S(?:.*\S)?/s, (words) => `${sign}${words}${sign}`))
}

/** Writes an address as a person would. WhatsApp links the addresses of web pages by itself. */
function shownAddress(address: string): string {
  return /^(mailto|tel):/i.test(address) ? address.replace(/^\w+:/, '') : neutraliseAddress(address)
}

export interface WhatsAppPart extends Part {
  /** True if this is the only part of the reply. */
  readonly isWholeReply: boolean
}

/** WhatsApp accepts 4096 characters. If a reply needs more than ten parts, the last one says where to read the rest. */
export const limits = { part: 4000, unit: 'characters', parts: 10 } as const

const render = createTextRenderer(whatsAppDialect, limits, flattenHeadings)

export function renderReply(markdown: string): WhatsAppPart[] {
  const parts = render(markdown)
  return parts.map((part) => ({ ...part, isWholeReply: parts.length === 1 }))
}
