/** Owns how Markdown looks in Signal, which knows four styles and nothing else. */

import { alignTable, createWriter, type Dialect, plainMarker, tableRecords } from '@reveille/kit/markdown'
import { mark, readMarks, withoutMarks } from './marks.ts'

/** Of lists in no list, and so on; `plainMarker` has the first. */
const deeperBullets = ['◦', '▪']
/** What of a line a telephone shows before it breaks it. Columns. */
const widestTable = 36

/** Styles are written as marks, of which `readMarks` makes ranges. */
export const markedDialect: Dialect = {
  // Nobody is called by words: Signal has mentions only as parameters of their own.
  text: withoutMarks,
  strong: (inner) => mark('BOLD', inner),
  emphasis: (inner) => mark('ITALIC', inner),
  strike: (inner) => mark('STRIKETHROUGH', inner),
  code: (text) => mark('MONOSPACE', withoutMarks(text)),
  // Signal links addresses that it finds in the text, and has no links with words of their own.
  link: (inner, address, isBare) => (isBare ? inner : `${inner} (${shownAddress(address)})`),
  image: (description, address) => {
    const label = withoutMarks(description)
    return label.trim() === '' ? shownAddress(address) : `${label} (${shownAddress(address)})`
  },
  lineBreak: '\n',
  heading: (inner) => mark('BOLD', inner),
  codeBlock: (text) => mark('MONOSPACE', withoutMarks(text)),
  quote: (inner) =>
    inner.replaceAll(/^(?=(\n|$)?)/gm, (_, end) => mark('PLAIN', end === undefined ? '> ' : '>')),
  item(inner, marker) {
    const sign = plainMarker(marker)
    const bullet = deeperBullets[Math.min(marker.depth, deeperBullets.length) - 1]
    const indented = inner.replaceAll(/\n(?=[^\n])/g, `\n${mark('PLAIN', '   ')}`)
    return `${sign === '•' ? (bullet ?? sign) : sign} ${indented}`
  },
  table(table, write) {
    const aligned = alignTable(table, (cell) => readMarks(write(cell)).text, widestTable)
    return aligned === undefined ? writeRecords(tableRecords(table)) : mark('MONOSPACE', aligned)
  },
  rule: '———',
}

const writeRecords = createWriter(markedDialect)

function shownAddress(address: string): string {
  return address.replace(/^(mailto|tel):/i, '')
}
