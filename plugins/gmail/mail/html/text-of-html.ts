/** Converts HTML to text. */

import { compile, type DomNode, type FormatCallback } from 'html-to-text'
import type { Cut } from '../text/cut.ts'
import { type Budget, cellMark, simplify } from './simplify.ts'

/**
 * Writes paragraphs, lists, quotes, links as `text [address]`, and rows of tables as `one | two`. Leaves out pictures
 * and hidden elements.
 */
export function textOfHtml(html: string, budget: Budget): Cut {
  const simplified = simplify(html, budget)
  const text = convert(simplified.html)
    .split('\n')
    .map(joinCells)
    .filter((line) => line !== undefined)
    .join('\n')
    .replaceAll(/[ \u00a0]{2,}/g, (run) => (run.includes('\u00a0') ? ' ' : run))
    .replaceAll('\u00a0', ' ')
  return { text, isCut: simplified.isCut }
}

/** Decodes entities in a text without markup, such as Gmail's snippets. */
export function decodeEntities(text: string): string {
  return convert(text.replaceAll('<', '&lt;'))
}

/** Returns undefined for a line of empty cells. A mark of a list or a quote may be before the first cell. */
function joinCells(line: string): string | undefined {
  if (!line.includes(cellMark)) return line
  const [before = '', ...cells] = line.split(cellMark).map((cell) => cell.trim())
  const filled = cells.filter((cell) => cell !== '')
  if (filled.length === 0 && before === '') return undefined
  return `${line.slice(0, line.indexOf(cellMark))}${filled.join(' | ')}`
}

/** Leaves the address out if the text is the same, and if there is no text to follow. */
const link: FormatCallback = (element, walk, builder) => {
  let text = ''
  builder.pushWordTransform((word) => {
    text += word
    return word
  })
  walk(element.children, builder)
  builder.popWordTransform()
  const address = addressOf(element)
  if (text === '' || bare(text) === bare(address)) return
  builder.addInline(` [${address}]`, { noWordTransform: true })
}

function addressOf({ attribs }: DomNode): string {
  const { href = '' } = attribs as { href?: string }
  return href.replace(/^(?:mailto|tel):/i, '')
}

function bare(address: string): string {
  return address.replace(/^https?:\/\//i, '').replace(/\/$/, '')
}

const convert = compile({
  wordwrap: false,
  formatters: { link },
  // The simplified HTML has no body element to look for.
  baseElements: { selectors: [] },
  selectors: [
    { selector: 'a', format: 'link' },
    { selector: 'h2', options: { uppercase: false, leadingLineBreaks: 2 } },
    { selector: 'hr', options: { length: 3 } },
    { selector: 'ul', options: { itemPrefix: '- ' } },
  ],
})
