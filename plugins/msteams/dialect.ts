/**
 * Owns Teams' Markdown: headings, rules and tables are not shown as such, a line's end wants two spaces, and HTML is let
 * through.
 *
 * Sources: learn.microsoft.com, "Format your bot messages" (what text-only messages show, by platform), and for lines
 * github.com/MicrosoftDocs/msteams-docs issue 740.
 */

import {
  alignTable,
  createWriter,
  type Dialect,
  type Inline,
  markdownDialect,
  plainDialect,
  tableRecords,
} from '@reveille/kit/markdown'

const markdown = markdownDialect({
  headings: 'strong',
  tasks: 'plain',
  lineBreak: '  \n',
  rule: '———',
})

export const teamsDialect: Dialect = {
  ...markdown,
  text: (text, place) => withoutTags(markdown.text(text, place)),
  // An address in angle brackets might be taken for a tag.
  link: (inner, address, _isBare, place) => markdown.link(inner, address, false, place),
  image: (description, address, place) =>
    teamsDialect.link(
      teamsDialect.text(description === '' ? 'image' : description, { ...place, isInLink: true }),
      address,
      false,
      place,
    ),
  /** Aligned in a code block, or as lists where that is too wide. */
  table(table) {
    const aligned = alignTable(table, plainCell)
    return aligned === undefined ? writeRecords(tableRecords(table)) : markdown.codeBlock(aligned, '')
  },
  // Not as everywhere else, because the spaces at the end of a line have to stay.
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

/** What would be text if it stood behind a box. */
const beginsBlock = /^(?:```|>|[-*+#]+ |\d+[.)] )/

/** Four spaces: where two are enough, four are read alike. A number of three digits or more wants more. */
const leastIndent = 4

/** Tags, `<at>` among them, are told apart before Markdown is read, and a backslash might not keep one from being one. */
function withoutTags(markup: string): string {
  return markup.replaceAll(/\\([\s\S])/g, (whole, sign: string) => {
    if (sign === '<') return '&lt;'
    return sign === '&' ? '&amp;' : whole
  })
}
