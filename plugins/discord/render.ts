/**
 * Renders a reply in Discord's Markdown, which differs in its mentions, spoilers, small print, links to web pages only, code
 * fences of three backticks only, and lack of tables.
 *
 * Source: support.discord.com, "Markdown Text 101", and discord.com/developers/docs/reference#message-formatting.
 */

import {
  createTextRenderer,
  type Dialect,
  escapeText,
  type InlineContext,
  markdownDialect,
} from '@reveille/kit/markdown'

/** U+200B ZERO WIDTH SPACE is invisible, and Discord's own library uses it too to disable a mention. */
const gap = '\u200b'

const markdown = markdownDialect({
  neutralise,
  neutraliseCode: loosenTicks,
  tables: 'code',
  tasks: 'plain',
  rule: '———',
})

const discordDialect: Dialect = {
  ...markdown,
  text: writeText,
  // The first sign that could end a mark ends it, even inside code.
  canMark(inner, mark, place) {
    const has = (sign: RegExp) => sign.test(inner)
    if (mark === 'strong' && has(/\*\*/)) return false
    if (mark === 'strike' && has(/~~/)) return false
    if (mark === 'emphasis' && has(/(?<!\\)_/) && has(/(?<!\\)\*/)) return false
    return markdown.canMark?.(inner, mark, place) ?? true
  },
  emphasis(inner, place) {
    const written = markdown.emphasis(inner, place)
    // No underscore may be between underscores, not even inside a word or an address.
    return written === `_${inner}_` && /(?<!\\)_/.test(inner) ? `*${inner}*` : written
  },
  paragraph: (inner) => (markdown.paragraph?.(inner) ?? inner).replaceAll(/^-#(?=\s)/gm, '\\-#'),
  heading: (inner, level) =>
    level <= 3 ? markdown.heading(inner, level) : markdown.strong(inner.replaceAll('**', ''), alone),
  link(inner, given, isBare, place) {
    const address = withoutMarks(given)
    if (!/^https?:/i.test(address)) return withAddress(inner, address, isBare, place)
    if (!isBare) return masked(inner, address)
    const bare = markdown.link(inner, address, isBare, place)
    return bare === address ? bare : `<${address}>`
  },
  codeBlock: (text, language) =>
    `\`\`\`${/^[a-z0-9_+\-.#]+$/i.test(language) ? language : ''}\n${loosenTicks(text)}\n\`\`\``,
  quote,
}

const alone: InlineContext = { before: '', after: '', isInLink: false }

/** Escapes more signs than other Markdown does, since any two backticks make code of the text between them. */
function writeText(text: string, place: InlineContext): string {
  const pieces = neutralise(text).split(/([`\\])/)
  const written = pieces.map((piece, index) => {
    if (index % 2 === 1) return `\\${piece}`
    const before = pieces[index - 1] ?? place.before
    const after = pieces[index + 1] ?? place.after
    // Discord would take a label that reads as an address for the address itself.
    return escapeText(piece, { ...place, before, after }, true)
  })
  return written.join('')
}

/** Disables mentions and spoilers. The `<…>` forms of mentions are escaped like all markup. */
function neutralise(text: string): string {
  return text.replaceAll(/@(?=everyone|here)|<(?=[@#])|\|(?=\|)/g, (sign) => `${sign}${gap}`)
}

/** Separates adjacent backticks, which would begin or end code. */
function loosenTicks(text: string): string {
  return text.replaceAll(/`(?=`)/g, `\`${gap}`)
}

/** Encodes the signs of an address that Discord would take for the end of a mark around it. */
function withoutMarks(address: string): string {
  return address.replaceAll('*', '%2A').replaceAll('~~', '%7E%7E')
}

/** Writes a link with a label, unless the label looks like an address, since Discord then shows no link. */
function masked(inner: string, address: string): string {
  if (/^https?:\/\/\S+$/i.test(inner)) return `<${address}>`
  if (/https?:\/\//i.test(inner)) return `${inner} (<${address}>)`
  return `[${inner}](${address.replaceAll('(', '%28').replaceAll(')', '%29')})`
}

/** Writes the address after the label, since only web pages can be linked from one. */
function withAddress(inner: string, address: string, isBare: boolean, place: InlineContext): string {
  const plainAddress = escapeText(address.replace(/^\w+:/, ''), place)
  return isBare ? plainAddress : `${inner} (${plainAddress})`
}

/** Writes a quote, in which every line needs the sign and a space and which cannot be nested. */
function quote(inner: string): string {
  let isCode = false
  const lines = inner.split('\n').map((line) => {
    const words = isCode ? line : line.replace(/^> /, '')
    if (words.startsWith('```')) isCode = !isCode
    return `> ${words}`
  })
  return lines.join('\n')
}

/**
 * Discord takes 2000 characters from bots; the rest is a margin in case it counts differently. Of a reply in more than ten
 * parts the last one says where the rest can be read.
 */
export const limits = { part: 1950, unit: 'characters', parts: 10 } as const

export const renderReply = createTextRenderer(discordDialect, limits)
