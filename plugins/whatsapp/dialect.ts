/** Owns WhatsApp's markup: signs around words, which go over no line and begin or end in no word. */

import {
  alignTable,
  createWriter,
  type Dialect,
  type Inline,
  type Place,
  plainDialect,
  tableRecords,
} from '@reveille/kit/markdown'
import { fence, mapLines } from './fences.ts'
import { flattenHeadings } from './headings.ts'
import { inert, inertAddress, inertLines, isEdge } from './signs.ts'

/** More columns of equal letters break on most phones. */
const widestTable = 34

export const whatsAppDialect: Dialect = {
  text: inert,
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
    return description.trim() === '' ? shown : `${inert(description, place)} (${shown})`
  },
  lineBreak: '\n',
  paragraph: inertLines,
  heading: (inner) => mark('*', inner, alone),
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
  table(table) {
    const write = (children: readonly Inline[]) => writePlain([{ type: 'paragraph', children }])
    const aligned = alignTable(table, write, widestTable)
    return aligned === undefined ? writeRecords(flattenHeadings(tableRecords(table))) : fence(aligned)
  },
  rule: '———',
}

const alone: Place = { before: '', after: '', isInLink: false }
const writePlain = createWriter(plainDialect)
const writeRecords = createWriter(whatsAppDialect)

/** Line by line, and next to the words: a sign beside a space is none. */
function mark(sign: string, inner: string, { before, after }: Place): string {
  // What lies right within a mark that is none would be one within the word no more than that.
  if (!isEdge(before) || !isEdge(after)) return inner.replace(/^([*_~])([^*_~]*)\1$/s, '$2')
  return mapLines(inner, (line) => line.replace(/\S(?:.*\S)?/s, (words) => `${sign}${words}${sign}`))
}

/** As a person would write it. WhatsApp itself makes links of those of pages. */
function shownAddress(address: string): string {
  return /^(mailto|tel):/i.test(address) ? address.replace(/^\w+:/, '') : inertAddress(address)
}
