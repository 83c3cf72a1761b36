/**
 * Owns Discord's Markdown where it is not everybody's: mentions, spoilers, small print, fences of three backticks only, links
 * to pages only, and no tables.
 *
 * Source: support.discord.com, "Markdown Text 101", and discord.com/developers/docs/reference#message-formatting.
 */

import {
  alignTable,
  createWriter,
  type Dialect,
  escapeText,
  type Inline,
  markdownDialect,
  type Place,
  plainDialect,
  tableRecords,
} from '@reveille/kit/markdown'

/** U+200B ZERO WIDTH SPACE: nobody sees it, and Discord's own library puts it there to keep a mention from being one. */
const gap = '\u200b'

const markdown = markdownDialect({
  neutralise,
  neutraliseCode: loosenTicks,
  tasks: 'plain',
  rule: '———',
})

export const discordDialect: Dialect = {
  ...markdown,
  text: writeText,
  // The first sign that could end a mark does, be it in code.
  takesMarks(inner, mark, place) {
    const has = (sign: RegExp) => sign.test(inner)
    if (mark === 'strong' && has(/\*\*/)) return false
    if (mark === 'strike' && has(/~~/)) return false
    if (mark === 'emphasis' && has(/(?<!\\)_/) && has(/(?<!\\)\*/)) return false
    return markdown.takesMarks?.(inner, mark, place) ?? true
  },
  emphasis(inner, place) {
    const written = markdown.emphasis(inner, place)
    // Between lines no line may stand, not even within a word or an address.
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
  image(description, address, place) {
    const label = writeText(description || 'image', { ...place, isInLink: true })
    return /^https?:/i.test(address) ? masked(label, address) : withAddress(label, address, false, place)
  },
  codeBlock: (text, language) =>
    `\`\`\`${/^[a-z0-9_+\-.#]+$/i.test(language) ? language : ''}\n${loosenTicks(text)}\n\`\`\``,
  /** Aligned in a code block, or as lists where that is too wide. */
  table(table) {
    const aligned = alignTable(table, plainCell)
    return aligned === undefined ? writeRecords(tableRecords(table)) : discordDialect.codeBlock(aligned, '')
  },
  quote,
}

const writeRecords = createWriter(discordDialect)
const writePlain = createWriter(plainDialect)

function plainCell(children: readonly Inline[]): string {
  return writePlain([{ type: 'paragraph', children }])
}

const alone: Place = { before: '', after: '', isInLink: false }

/** Any two ticks make code of what is between them, and a backslash goes before more signs than in other Markdown. */
function writeText(text: string, place: Place): string {
  const pieces = neutralise(text).split(/([`\\])/)
  const written = pieces.map((piece, index) => {
    if (index % 2 === 1) return `\\${piece}`
    const before = pieces[index - 1] ?? place.before
    const after = pieces[index + 1] ?? place.after
    // A label that reads as an address would be taken for one, and show nothing else.
    return escapeText(piece, { ...place, before, after }, true)
  })
  return written.join('')
}

/** What shows as a mention or hides what stands behind it. Its `<…>` forms are escaped like all markup. */
function neutralise(text: string): string {
  return text.replaceAll(/@(?=everyone|here)|<(?=[@#])|\|(?=\|)/g, (sign) => `${sign}${gap}`)
}

/** Two backticks or more would begin or end code. */
function loosenTicks(text: string): string {
  return text.replaceAll(/`(?=`)/g, `\`${gap}`)
}

/** Around an address Discord looks for the end of a mark in it too. */
function withoutMarks(address: string): string {
  return address.replaceAll('*', '%2A').replaceAll('~~', '%7E%7E')
}

/** Discord hides nothing behind a label that looks like an address itself. */
function masked(inner: string, address: string): string {
  if (/^https?:\/\/\S+$/i.test(inner)) return `<${address}>`
  if (/https?:\/\//i.test(inner)) return `${inner} (<${address}>)`
  return `[${inner}](${address.replaceAll('(', '%28').replaceAll(')', '%29')})`
}

/** Only pages can lie behind a label. */
function withAddress(inner: string, address: string, isBare: boolean, place: Place): string {
  const shown = escapeText(address.replace(/^\w+:/, ''), place)
  return isBare ? shown : `${inner} (${shown})`
}

/** Every line wants the sign and a space, and there are no quotes in quotes. */
function quote(inner: string): string {
  let isCode = false
  const lines = inner.split('\n').map((line) => {
    const words = isCode ? line : line.replace(/^> /, '')
    if (words.startsWith('```')) isCode = !isCode
    return `> ${words}`
  })
  return lines.join('\n')
}
