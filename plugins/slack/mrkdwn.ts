/** Owns Slack's own markup, which is older than its Markdown: `*bold* _italic_ ~strike~ <url|label>`, and no escapes. */

import type { Dialect } from '@reveille/kit/markdown'
import { withoutCalls } from './calls.ts'

/**
 * Marks hold at the edges of words alone and do not nest in themselves, so that what stands around them has to be known
 * before they are written. Until then these stand for them: Unicode keeps them for a program's own use, and no text has them.
 */
const signs = [
  { sign: '*', open: '\ufdd0', close: '\ufdd1' },
  { sign: '_', open: '\ufdd2', close: '\ufdd3' },
  { sign: '~', open: '\ufdd4', close: '\ufdd5' },
] as const

type Mark = (typeof signs)[number]

const [bold, italic, struck] = signs
const anySign = /[\ufdd0-\ufdd5]/g

export const mrkdwnDialect: Dialect = {
  text: (text) => harmless(withoutMarks(text)),
  strong: (inner) => mark(inner, bold),
  emphasis: (inner) => mark(inner, italic),
  strike: (inner) => mark(inner, struck),
  code: (text) => (/^[^`\n]*[^`\s][^`\n]*$/.test(text) ? `\`${harmless(text)}\`` : harmless(text)),
  link,
  image: (description, address) => link(harmless(description), address, description === address),
  lineBreak: '\n',
  heading: (inner) => mark(inner, bold),
  // A language would be shown as the first line.
  codeBlock: (text) => `\`\`\`\n${harmless(text.replaceAll('```', '`\u2060`\u2060`'))}\n\`\`\``,
  quote: (inner) => inner.replaceAll(/^/gm, '> '),
  item(inner, { number, checked, depth }) {
    const box = checked === undefined ? '' : checked ? '☑ ' : '☐ '
    const sign = number === undefined ? (depth % 2 === 0 ? '•' : '◦') : `${number}.`
    return `${box === '' || number !== undefined ? `${sign} ` : ''}${box}${inner.replaceAll('\n', '\n    ')}`
  },
  table: ({ head, rows }, write) =>
    [head, ...rows].map((row) => row.map((cell) => write(cell)).join('  ')).join('\n'),
  rule: '———',
}

/** The marks as Slack takes them. Every text that this dialect has written goes through here once. */
export function settleMarks(text: string): string {
  const depths = new Map<Mark, number>()
  return text.replaceAll(anySign, (found, at: number) => {
    const known = signs.find(({ open, close }) => open === found || close === found) as Mark
    const isOpening = found === known.open
    const depth = depths.get(known) ?? 0
    depths.set(known, isOpening ? depth + 1 : depth - 1)
    if (depth !== (isOpening ? 0 : 1)) return ''
    const beside = isOpening ? lastOf(text.slice(0, at)) : firstOf(text.slice(at + 1))
    if (!/[\p{L}\p{N}]/u.test(beside)) return known.sign
    // A space without width makes an edge in the middle of a word.
    return isOpening ? `\u200b${known.sign}` : `${known.sign}\u200b`
  })
}

function firstOf(text: string): string {
  return /^[\ufdd0-\ufdd5]*(.?)/su.exec(text)?.[1] ?? ''
}

function lastOf(text: string): string {
  return /(.?)[\ufdd0-\ufdd5]*$/su.exec(text)?.[1] ?? ''
}

/** Marks end with their line. */
function mark(inner: string, { open, close }: Mark): string {
  return inner.replaceAll(/[^\s](?:.*[^\s])?/g, (line) => `${open}${line}${close}`)
}

function link(inner: string, address: string, isBare: boolean): string {
  const target = withEntities(address.replaceAll(/[|<>\s]/g, encodeURIComponent))
  const label = inner.replaceAll(/\s+/g, ' ').replaceAll(anySign, '').trim()
  return isBare || label === '' ? `<${target}>` : `<${target}|${label}>`
}

/** Of a pair of marks in a text the first is kept from being one. Alone, it is none: a path may begin with `~`. */
function withoutMarks(text: string): string {
  return text.replaceAll(anySign, '').replaceAll(/(?<![\p{L}\p{N}])([*_~`])(?=\S)(?=.*\1)/gu, '$1\u2060')
}

function harmless(text: string): string {
  return withEntities(withoutCalls(text.replaceAll(anySign, '')))
}

function withEntities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
