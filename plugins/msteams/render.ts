/**
 * Renders a reply in Teams' Markdown, which shows no headings, rules and tables as such, wants two spaces at the end of a
 * line, and lets HTML through.
 *
 * Sources: learn.microsoft.com, "Format your bot messages" (what text-only messages show, by platform), and for lines
 * github.com/MicrosoftDocs/msteams-docs issue 740.
 */

import type { Part } from '@reveille/kit'
import {
  alignTable,
  createWriter,
  type Dialect,
  type Inline,
  markdownDialect,
  plainDialect,
  renderParts,
  tableRecords,
} from '@reveille/kit/markdown'

const markdown = markdownDialect({
  headings: 'strong',
  tasks: 'plain',
  lineBreak: '  \n',
  rule: '———',
})

const teamsDialect: Dialect = {
  ...markdown,
  text: (text, place) => withoutTags(markdown.text(text, place)),
  // An address in angle brackets might be read as a tag.
  link: (inner, address, _isBare, place) => markdown.link(inner, address, false, place),
  image: (description, address, place) =>
    teamsDialect.link(
      teamsDialect.text(description === '' ? 'image' : description, { ...place, isInLink: true }),
      address,
      false,
      place,
    ),
  // A table is aligned in a code block, or written as lists if it is too wide for that.
  table(table) {
    const aligned = alignTable(table, plainCell)
    return aligned === undefined ? writeRecords(tableRecords(table)) : markdown.codeBlock(aligned, '')
  },
  // The kit's own item would remove the spaces at the end of a line.
  item(inner, { checked, ...marker }) {
    const bullet = markdown.item('', marker)
    const box = checked === undefined ? '' : `${checked ? '☑' : '☐'} `
    const [first = '', ...others] =
      box !== '' && beginsBlock.test(inner) ? ['', '', ...inner.split('\n')] : inner.split('\n')
    const indent = ' '.repeat(Math.max(leastIndent, bullet.length + 1))
    const lines = [`${bullet} ${box}${first}`, ...others.map((line) => indent + line)]
    return lines.map((line) => (line.trim() === '' ? '' : line)).join('\n')
  },
}

const writeRecords = createWriter(teamsDialect)
const writePlain = createWriter(plainDialect)

function plainCell(children: readonly Inline[]): string {
  return writePlain([{ type: 'paragraph', children }])
}

/** Matches a block that would be read as text after a task box. */
const beginsBlock = /^(?:```|>|[-*+#]+ |\d+[.)] )/

/** The least indentation of a nested block, which every reader accepts. A number of three or more digits needs more. */
const leastIndent = 4

/** Writes `<` and `&` as entities. Teams reads tags such as `<at>` before Markdown, so a backslash may not escape them. */
function withoutTags(markup: string): string {
  return markup.replaceAll(/\\([\s\S])/g, (whole, sign: string) => {
    if (sign === '<') return '&lt;'
    return sign === '&' ? '&amp;' : whole
  })
}

/**
 * The most UTF-16 units of a part. Teams takes about 100 KB of UTF-16 for a whole message, and took 40 KB until 2024. Source:
 * "Format your bot messages".
 */
export const partLimit = 20_000
/** The most messages that one reply becomes; the last of them says where the rest can be read. */
export const mostParts = 10

const write = createWriter(teamsDialect)

/** Returns the reply as messages in order; none for blank text. */
export function renderReply(markdown: string): Part[] {
  return renderParts<Part>(markdown, {
    limit: partLimit,
    measure: ({ text }) => text.length,
    write: (blocks) => ({ text: write(blocks) }),
  })
}
