/** Converts HTML to text, in time that is linear in its length. */

import { Parser } from 'htmlparser2'
import type { Cut } from '../text/cut.ts'
import { isHidden } from './hidden.ts'
import { createWriter } from './writer.ts'

/** The budget left for reading the HTML of one mail, over all of its parts. */
export interface Budget {
  /** Characters that may still be written. */
  characters: number
  /** Tags and attributes that may still be read. */
  steps: number
}

interface Element {
  readonly hides?: boolean
  /** Line breaks around it. */
  readonly breaks?: number
  /** Undoes what its beginning did. */
  readonly end?: (() => void) | undefined
}

const named = (names: string) => new Set(names.split(' '))
const blocks = named(
  'address article aside caption center dd details div dl dt fieldset figcaption figure footer form header li main nav section summary table tr',
)
const paragraphs = named('blockquote h1 h2 h3 h4 h5 h6 hr p pre')
const lists = named('dir menu ol ul')
const unshown = named(
  'audio canvas datalist iframe math noembed noframes object script select style svg template textarea title video xmp',
)
/** Deeper levels of quotes or lists have no mark. */
const maxLevels = 5
/** The parser takes time for each open element. */
const maxDepth = 1_000
const chunkLength = 4_096

/**
 * Writes paragraphs, lists, quotes, links as `text [address]`, and rows of tables as `one | two`. Leaves out pictures
 * and hidden elements. Subtracts its cost from the budget; `isCut` tells whether part of the HTML was not read.
 */
export function textOfHtml(html: string, budget: Budget): Cut {
  const { handler, writer, isSpent } = createHandler(budget)
  const parser = new Parser(handler)
  let isCut = false
  for (let at = 0; at < html.length && !isCut; at += chunkLength) {
    const chunk = html.slice(at, at + chunkLength)
    // The parser does not tell of ends of what never began.
    budget.steps -= chunk.split('</').length - 1
    parser.write(chunk)
    isCut = isSpent()
  }
  if (!isCut) parser.end()
  return { text: writer.text(), isCut: isCut || isSpent() }
}

/** Decodes entities in a text without markup, such as Gmail's snippets. */
export function decodeEntities(text: string): string {
  return textOfHtml(text.replaceAll('<', '&lt;'), { characters: text.length, steps: 0 }).text
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the elements of one page share its state
function createHandler(budget: Budget) {
  const writer = createWriter()
  const open: Element[] = []
  /** The number of the next item of each open list; undefined for lists without numbers. */
  const counters: (number | undefined)[] = []
  let quotes = 0
  let hiding = 0
  let verbatim = 0
  let link: { readonly address: string; text: string } | undefined

  const isSpent = () => budget.characters < 0 || budget.steps < 0 || open.length > maxDepth

  function write(text: string): void {
    if (hiding > 0 || isSpent()) return
    const piece = text.slice(0, budget.characters)
    // Layouts are indented by far more than their text is long.
    if (verbatim > 0 || text.trim() !== '') budget.characters -= text.length
    if (link) link.text += piece.trim()
    if (verbatim === 0) writer.write(piece)
    else
      for (const [index, line] of piece.split(/\r?\n/).entries()) {
        if (index > 0) writer.addBreak()
        writer.writeVerbatim(line)
      }
  }

  /** The address is left out if the text is the same, and if there is no text to follow. */
  function endLink(): void {
    const { address = '', text = '' } = link ?? {}
    link = undefined
    if (text === '' || bare(text) === bare(address)) return
    writer.append(` [${address}]`)
    budget.characters -= address.length
  }

  function beginItem(): Element['end'] {
    const number = counters.at(-1)
    if (counters.length === 0 || counters.length > maxLevels) return undefined
    const mark = number === undefined ? '- ' : `${number}. `
    if (number !== undefined) counters[counters.length - 1] = number + 1
    writer.indent(mark, ' '.repeat(mark.length))
    return writer.outdent
  }

  function beginQuote(): () => void {
    quotes += 1
    const isMarked = quotes <= maxLevels
    if (isMarked) writer.indent('> ', '> ')
    return () => {
      quotes -= 1
      if (isMarked) writer.outdent()
    }
  }

  function begin(name: string, attributes: Readonly<Record<string, string>>): Element {
    if (name === 'br') writer.addBreak()
    if (name === 'img' && link) write(attributes['alt'] ?? '')
    if (unshown.has(name) || isHidden(attributes)) return { hides: true }
    const isNested = counters.length > 0
    const isParagraph = paragraphs.has(name) || (lists.has(name) && !isNested)
    const breaks = isParagraph ? 2 : lists.has(name) || blocks.has(name) ? 1 : 0
    if (breaks > 0) writer.separate(breaks)
    if (name === 'hr') writer.write('---')
    if (name === 'td' || name === 'th') writer.beginCell()
    return { breaks, end: beginContent(name, attributes) }
  }

  function beginContent(name: string, attributes: Readonly<Record<string, string>>): Element['end'] {
    if (name === 'li') return beginItem()
    if (name === 'blockquote') return beginQuote()
    if (lists.has(name)) {
      counters.push(name === 'ol' ? startOf(attributes['start']) : undefined)
      return () => void counters.pop()
    }
    if (name === 'pre') {
      verbatim += 1
      return () => {
        verbatim -= 1
      }
    }
    const address = name === 'a' ? addressOf(attributes['href']) : undefined
    if (address === undefined) return undefined
    endLink()
    link = { address, text: '' }
    return endLink
  }

  const handler = {
    onattribute(): void {
      budget.steps -= 1
    },
    onopentag(name: string, attributes: Readonly<Record<string, string>>): void {
      budget.steps -= 1
      const element = hiding > 0 || isSpent() ? {} : begin(name, attributes)
      if (element.hides || hiding > 0) hiding += 1
      open.push(element)
    },
    onclosetag(): void {
      const element = open.pop()
      if (hiding > 0) hiding -= 1
      element?.end?.()
      if (element?.breaks) writer.separate(element.breaks)
    },
    ontext: write,
  }
  return { handler, writer, isSpent }
}

function startOf(start: string | undefined): number {
  return start !== undefined && /^\d{1,6}$/.test(start) ? Number(start) : 1
}

/** An address up to this length is passed on whole; of a longer one only the beginning, which says where it leads. */
const maxLinkLength = 500
const shownOfLongLink = 120

/** Returns undefined for anchors within the mail, scripts and attached pictures, which cannot be followed. */
function addressOf(href = ''): string | undefined {
  const address = href.trim()
  if (!/^(?:https?:|mailto:|tel:)/i.test(address)) return undefined
  const shown = address.length <= maxLinkLength ? address : `${address.slice(0, shownOfLongLink)}…`
  return shown.replace(/^(?:mailto|tel):/i, '')
}

function bare(address: string): string {
  return address.replace(/^https?:\/\//i, '').replace(/\/$/, '')
}
