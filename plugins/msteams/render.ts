/**
 * Renders a reply in Teams' Markdown, which shows no headings, rules and tables as such, wants two spaces at the end of a
 * line, and lets HTML through.
 *
 * Sources: learn.microsoft.com, "Format your bot messages" (what text-only messages show, by platform), and for lines
 * github.com/MicrosoftDocs/msteams-docs issue 740.
 */

import { createTextRenderer, type Dialect, markdownDialect } from '@reveille/kit/markdown'

const markdown = markdownDialect({
  headings: 'strong',
  tables: 'code',
  tasks: 'plain',
  lineBreak: '  \n',
  rule: '———',
})

const teamsDialect: Dialect = {
  ...markdown,
  text: (text, place) => withoutTags(markdown.text(text, place)),
  // An address in angle brackets might be read as a tag.
  link: (inner, address, _isBare, place) => markdown.link(inner, address, false, place),
  // The kit's own item would remove the spaces at the end of a line.
  item(inner, { checked, ...marker }) {
    const bullet = markdown.item('', marker)
    const box = checked === undefined ? '' : `${checked ? '☑' : '☐'} `
    const [first = '', ...others] =
      box !== '' && beginsBlock.test(inner) ? ['', '', ...inner.split('\n')] : inner.split('\n')
    const indent = ' '.repeat(Math.max(minIndent, bullet.length + 1))
    const lines = [`${bullet} ${box}${first}`, ...others.map((line) => indent + line)]
    return lines.map((line) => (line.trim() === '' ? '' : line)).join('\n')
  },
}

/** Matches a block that would be read as text after a task box. */
const beginsBlock = /^(?:```|>|[-*+#]+ |\d+[.)] )/

/** Minimum indentation of a nested block, which every reader accepts. A number of three or more digits needs more. */
const minIndent = 4

/** Writes `<` and `&` as entities. Teams reads tags such as `<at>` before Markdown, so a backslash may not escape them. */
function withoutTags(markup: string): string {
  return markup.replaceAll(/\\([\s\S])/g, (whole, sign: string) => {
    if (sign === '<') return '&lt;'
    return sign === '&' ? '&amp;' : whole
  })
}

/**
 * Teams takes about 100 KB of UTF-16 for a whole message, and took 40 KB until 2024. Source: "Format your bot messages". Of a
 * reply in more than ten parts the last one says where the rest can be read.
 */
export const limits = { part: 20_000, unit: 'utf16', parts: 10 } as const

/** Returns the reply as messages in order; none for blank text. */
export const renderReply = createTextRenderer(teamsDialect, limits)
