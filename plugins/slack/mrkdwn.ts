/** Owns Slack's own markup, which is older than its Markdown: `*bold* _italic_ ~strike~ <url|label>`, and no escapes. */

import {
  alignTable,
  createWriter,
  type Dialect,
  indentItem,
  type Place,
  plainDialect,
  plainMarker,
  tableRecords,
} from '@reveille/kit/markdown'
import { withoutCalls } from './calls.ts'

export const mrkdwn: Dialect = {
  text: (text, { before }) => withEntities(withoutCalls(withoutMarks(text, before))),
  strong: (inner, place) => mark(inner, '*', place),
  emphasis: (inner, place) => mark(inner, '_', place),
  strike: (inner, place) => mark(inner, '~', place),
  code: (text, { isInLink }) => {
    const written = withEntities(withoutCalls(text))
    return isInLink || /[`\n]/.test(text) || text.trim() === '' ? written : `\`${written}\``
  },
  link,
  image: (description, address, place) =>
    link(withEntities(withoutCalls(description)), address, description === address, place),
  lineBreak: '\n',
  // Marks do not nest in themselves: a heading that has bold words is as good as bold.
  heading: (inner) => (inner.includes('*') ? inner : mark(inner, '*', alone)),
  // A language would be shown as the first line.
  codeBlock: (text) => `\`\`\`\n${withEntities(withoutCalls(withoutFences(text)))}\n\`\`\``,
  quote: (inner) => inner.replace(/^/gm, '> ').replace(/^> $/gm, '>'),
  item: (inner, marker) => indentItem(`${plainMarker(marker)} `, inner, 4),
  table(table) {
    const aligned = alignTable(table, (cell) => writePlain([{ type: 'paragraph', children: cell }]))
    return aligned === undefined ? writeRecords(tableRecords(table)) : mrkdwn.codeBlock(aligned, '')
  },
  rule: '———',
}

const writePlain = createWriter(plainDialect)
const writeRecords = createWriter(mrkdwn)
const alone: Place = { before: '', after: '', isInLink: false }

const word = /^[\p{L}\p{N}]/u
/** Makes an edge in the middle of a word, where marks would be none. U+200B ZERO WIDTH SPACE. */
const edge = '\u200b'

/** Marks end with their line, and are none in the label of a link. */
function mark(inner: string, sign: string, { before, after, isInLink }: Place): string {
  if (isInLink) return inner
  const marked = inner.replaceAll(/\S(?:.*\S)?/g, (line) => `${sign}${line}${sign}`)
  return `${word.test(before) ? edge : ''}${marked}${word.test(after) ? edge : ''}`
}

/** Of a bare one Slack shows what stands in the brackets, `mailto:` too. */
function link(inner: string, address: string, isBare: boolean, _place: Place): string {
  const target = withEntities(address.replaceAll(/[|<>\s]/g, encodeURIComponent))
  const label = inner.replaceAll(/\s+/g, ' ').trim()
  return label === '' || (isBare && /^https?:/i.test(address)) ? `<${target}>` : `<${target}|${label}>`
}

/** A sign that opens a mark has a character after it that nobody sees. Alone it is none: a path may begin with `~`. */
function withoutMarks(text: string, before: string): string {
  return text.replaceAll(/([*_~`])(?=\S)(?=.*\1)/gu, (sign, _, at: number) => {
    const previous = at === 0 ? before : text.slice(0, at)
    return /[\p{L}\p{N}]$/u.test(previous) ? sign : `${sign}\u2060`
  })
}

function withoutFences(text: string): string {
  return text.replaceAll('```', '`\u2060`\u2060`')
}

function withEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
