/** Owns Slack's own markup, which is older than its Markdown: `*bold* _italic_ ~strike~ <url|label>`, and no escapes. */

import {
  alignTable,
  createWriter,
  type Dialect,
  type Place,
  plainDialect,
  plainMarker,
  tableRecords,
} from '@reveille/kit/markdown'
import { withoutCalls } from './calls.ts'

export const mrkdwn: Dialect = {
  text: (text, place) => withEntities(withoutCalls(withoutMarks(text, place))),
  strong: (inner, place) => mark(inner, '*', place),
  emphasis: (inner, place) => mark(inner, '_', place),
  strike: (inner, place) => mark(inner, '~', place),
  code: (text, place) =>
    /[`\n]/.test(text) || text.trim() === ''
      ? mrkdwn.text(text, place)
      : mark(withEntities(withoutCalls(text)), '`', place),
  link,
  image: (description, address, place) =>
    link(withEntities(withoutCalls(description)), address, description === address, place),
  lineBreak: '\n',
  heading: (inner) => mark(inner, '*', alone),
  // A language would be shown as the first line.
  codeBlock: (text) => `\`\`\`\n${withEntities(withoutCalls(withoutFences(text)))}\n\`\`\``,
  quote: (inner) =>
    outsideCode(inner, (text) => text.replace(/^(?=.)/gm, '> ').replaceAll(/\n\n(?=> )/g, '\n>\n')),
  item(inner, marker) {
    const indented = outsideCode(inner, (text) => text.replaceAll(/\n(?=.)/g, '\n    '))
    return `${plainMarker(marker)}${indented.startsWith('```') ? '\n' : ' '}${indented}`
  },
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
/** Not an edge, so that no mark begins behind it or ends before it, and nobody sees it. U+2060 WORD JOINER. */
const joiner = '\u2060'

/** Marks end with their line, hold no sign of their own, and are none in the label of a link. */
function mark(inner: string, sign: string, { before, after, isInLink }: Place): string {
  if (isInLink || inner.includes(sign)) return inner
  const marked = inner.replaceAll(/\S(?:.*\S)?/g, (line) => `${sign}${line}${sign}`)
  return `${isEdge(before) ? '' : edge}${marked}${isEdge(after) ? '' : edge}`
}

/** A sign in the text beside it has a joiner around it. */
function isEdge(beside: string): boolean {
  return !word.test(beside) && !/[*_~`\u2060]/.test(beside)
}

/** Of a bare one Slack shows what stands in the brackets, `mailto:` too. */
function link(inner: string, address: string, isBare: boolean, _place: Place): string {
  const target = withEntities(address.replaceAll(/[|<>\s]/g, encodeURIComponent))
  const label = inner.replaceAll(/\s+/g, ' ').trim()
  return label === '' || (isBare && /^https?:/i.test(address)) ? `<${target}>` : `<${target}|${label}>`
}

/** Between spaces, inside a word and at the beginning of a path (`~/notes`) a sign is no mark in any case. */
function withoutMarks(text: string, { before, after }: Place): string {
  const hasPaths = !/~(?!\/)/.test(text)
  return text.replaceAll(/[*_~`]/g, (sign, at: number) => {
    const previous = text[at - 1] ?? before
    const next = text[at + 1] ?? after
    if (sign === '~' && hasPaths) return sign
    // Code may begin and end with a space.
    const opens = !word.test(previous) && (sign === '`' || !isGap(next))
    // With a joiner before it, a sign that could not end a mark could.
    const closes = !word.test(next) && (opens || sign === '`' || !isGap(previous))
    return `${opens ? joiner : ''}${sign}${closes ? joiner : ''}`
  })
}

function isGap(sign: string): boolean {
  return sign === '' || /\s/.test(sign)
}

/** Whatever stands before a line of code would be shown in it: code in a list or a quote is neither indented nor marked. */
function outsideCode(inner: string, change: (text: string) => string): string {
  const pieces = inner.split(/^(```\n[\s\S]*?\n```)$/m)
  return pieces.map((piece, index) => (index % 2 === 1 ? piece : change(piece))).join('')
}

function withoutFences(text: string): string {
  return text.replaceAll('```', `\`${joiner}\`${joiner}\``)
}

function withEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
