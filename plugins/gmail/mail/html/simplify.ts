/**
 * Reduces a sender's HTML to few tags, all of them closed and none deep. A library then makes text of it, in time
 * that grows with the square of the nesting, and faster within quotes, lists and links.
 */

import { isHidden, readTag, type Tag } from './tag.ts'

/** The budget left for reading the HTML of one mail, over all of its parts. */
export interface Budget {
  /** Characters that may still be passed on. */
  characters: number
  /** Tags and attributes that may still be read. */
  steps: number
  /** Elements that may still be passed on. */
  elements: number
}

/** Marks the beginning of a table cell. */
export const cellMark = '\u001f'

/**
 * Maps an element to the one it is passed on as. Other elements are left out, and their content stays. Cells get a
 * mark instead.
 */
const writtenAs: Readonly<Record<string, string>> = {
  __proto__: null as never,
  ...Object.fromEntries(
    'address article aside caption center dd details div dl dt fieldset figcaption figure footer form header main nav section summary table tr'
      .split(' ')
      .map((name) => [name, 'div']),
  ),
  ...Object.fromEntries('h1 h2 h3 h4 h5 h6'.split(' ').map((name) => [name, 'h2'])),
  ...Object.fromEntries('a blockquote li ol p pre td ul'.split(' ').map((name) => [name, name])),
  dir: 'ul',
  menu: 'ul',
  th: 'td',
}

/** The content of these elements is not shown, and is no markup either. */
const raw: Readonly<Record<string, RegExp>> = {
  __proto__: null as never,
  ...Object.fromEntries(
    'script style title textarea iframe noembed noframes xmp'
      .split(' ')
      .map((name) => [name, new RegExp(`</${name}(?=[\\s/>])`, 'gi')]),
  ),
}

/** The content of these elements is not shown, but is markup. */
const unshown = new Set('audio canvas datalist math object select svg template video'.split(' '))

/** Elements without content, which have no end tag. */
const empty = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))

const maxDepth = 60
/** Each level of quotes or lists changes every line in it. */
const maxLevels = 5
/** The cost of a line break, in elements. */
const costOfBreak = 0.5

interface OpenElement {
  readonly name: string
  readonly as: string
}

/**
 * Simplifies HTML to div, p, h2, br, hr, ul, ol, li, blockquote, pre and a, whose only attributes are `href` and `start`, and
 * subtracts its cost from the budget.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one pass over the markup, whose steps share its stack and its budget
export function simplify(html: string, budget: Budget) {
  const source = html.replaceAll(cellMark, ' ')
  const written: string[] = []
  const open: OpenElement[] = []
  let isCut = false
  let hidden: { readonly names: Map<string, number>; readonly root: string } | undefined

  function write(text: string) {
    written.push(text)
    budget.characters -= text.length
  }

  function writeText(text: string) {
    if (hidden !== undefined || text === '') return
    // Layouts are indented by far more than their text is long.
    const content = text.trim() === '' && !has('pre') ? ' ' : text
    if (content.length <= budget.characters) return write(content)
    isCut = true
    // Half an entity would be read as text.
    write(content.slice(0, Math.max(0, budget.characters)).replace(/&[^;\s]{0,40}$/, ''))
    budget.characters = 0
  }

  function breakLine() {
    budget.elements -= costOfBreak
    write('<br>')
  }

  function has(as: string): boolean {
    return open.some((element) => element.as === as)
  }

  function levels(...kinds: readonly string[]): number {
    return open.filter(({ as }) => kinds.includes(as)).length
  }

  function close(position: number) {
    if (position < 0) return
    while (open.length > position) {
      const as = open.pop()?.as
      if (as !== undefined && as !== 'td') write(`</${as}>`)
    }
  }

  /** Returns the position of the innermost open element that is sought, without looking beyond a wall. */
  function find(
    isSought: (element: OpenElement) => boolean,
    isWall: (element: OpenElement) => boolean,
  ): number {
    for (let at = open.length - 1; at >= 0; at--) {
      const element = open[at]
      if (element === undefined || isSought(element)) return at
      if (isWall(element)) return -1
    }
    return -1
  }

  /** Closes the element that another one ends by beginning: paragraphs, items, cells and rows are often left open. */
  function closeBefore(name: string, as: string) {
    if (as === 'td') close(find(isCell, (element) => isTable(element) || isRow(element)))
    else if (name === 'tr') close(find(isRow, isTable))
    else if (as === 'li') close(find(isItem, (element) => isList(element) || isCell(element)))
    else if (as === 'a') close(find(isLink, isCell))
    if (as !== 'a' && open.at(-1)?.as === 'p') close(open.length - 1)
  }

  function begin(tag: Tag) {
    const { name, attributes } = tag
    const as = writtenAs[name]
    if (as === undefined || (as === 'a' && !leadsSomewhere(attributes['href']))) return
    closeBefore(name, as)
    const isBlock = as !== 'a' && as !== 'td'
    // If the nesting is too deep, only the content stays, on a line of its own.
    if (open.length >= maxDepth || (as === 'a' && has('a'))) {
      if (isBlock) breakLine()
      return
    }
    budget.elements -= 1
    const shown = shownAs(as)
    open.push({ name, as: shown })
    if (shown === 'td') write(cellMark)
    else if (shown === 'a') write(`<a href="${shortLink(attributes['href'] ?? '')}">`)
    else if (shown === 'ol') write(`<ol${startAttribute(attributes['start'])}>`)
    else write(`<${shown}>`)
  }

  function shownAs(as: string): string {
    if (as === 'li') return ['ul', 'ol'].includes(open.at(-1)?.as ?? '') ? 'li' : 'div'
    if (as === 'ul' || as === 'ol') return levels('ul', 'ol') < maxLevels ? as : 'div'
    if (as === 'blockquote') return levels(as) < maxLevels ? as : 'div'
    return as
  }

  function end(name: string) {
    const as = writtenAs[name]
    if (as === undefined) return
    const isSame = (element: OpenElement) => element.name === name
    close(find(isSame, name === 'table' ? () => false : as === 'td' || name === 'tr' ? isTable : isCell))
  }

  /** Skips a tag inside a hidden element. The end of an element around it ends it too. */
  function passHidden(tag: Tag) {
    if (hidden === undefined) return
    const { name, isClosing } = tag
    const { names, root } = hidden
    const count = names.get(name) ?? 0
    if (!isClosing) {
      if (endsByBeginning(root, name, names)) {
        hidden = isHidden(tag.attributes) ? hiddenElement(name) : undefined
        if (hidden === undefined) begin(tag)
      } else if (!empty.has(name)) names.set(name, count + 1)
    } else if (count > 0) {
      names.set(name, count - 1)
      if (name === root && count === 1) hidden = undefined
    } else if (open.some((element) => element.name === name)) {
      hidden = undefined
      end(name)
    }
  }

  let at = 0
  while (at < source.length) {
    if (budget.characters <= 0 || budget.steps <= 0 || budget.elements <= 0) break
    const next = source.indexOf('<', at)
    writeText(source.slice(at, next < 0 ? source.length : next))
    if (next < 0) {
      at = source.length
      break
    }
    const tag = readTag(source, next)
    if (tag === undefined) {
      writeText('&lt;')
      at = next + 1
      continue
    }
    at = tag.end
    budget.steps -= tag.steps
    const { name, isClosing, attributes } = tag
    const content = isClosing ? undefined : raw[name]
    if (content !== undefined) {
      content.lastIndex = at
      at = content.exec(source)?.index ?? source.length
    } else if (hidden !== undefined) passHidden(tag)
    else if (name === 'br') breakLine()
    else if (isClosing) end(name)
    else if (empty.has(name)) {
      if (name === 'hr') write('<hr>')
      // A picture is no text, but in a link it is the name of the link.
      if (name === 'img' && has('a')) writeText(attributes['alt']?.replaceAll('<', '&lt;') ?? '')
    } else if (unshown.has(name) || isHidden(attributes)) hidden = hiddenElement(name)
    else begin(tag)
  }
  close(0)
  // `isCut` tells whether part of the HTML was not read.
  return { html: written.join(''), isCut: isCut || at < source.length }
}

function hiddenElement(root: string) {
  return { names: new Map([[root, 1]]), root }
}

const isCell = ({ as }: OpenElement) => as === 'td'
const isTable = ({ name }: OpenElement) => name === 'table'
const isRow = ({ name }: OpenElement) => name === 'tr'
const isItem = ({ name }: OpenElement) => name === 'li'
const isList = ({ name }: OpenElement) => writtenAs[name] === 'ul' || name === 'ol'
const isLink = ({ as }: OpenElement) => as === 'a'

/** Returns whether a hidden element that was left open ends where another element begins. */
function endsByBeginning(root: string, name: string, names: ReadonlyMap<string, number>): boolean {
  const as = writtenAs[name]
  const hasNone = (...within: readonly string[]) => within.every((each) => !names.get(each))
  if (root === 'p') return as !== undefined && as !== 'a'
  if (root === 'li') return name === 'li' && hasNone('ul', 'ol')
  if (root === 'td' || root === 'th') return (as === 'td' || name === 'tr') && hasNone('table')
  return root === 'tr' && name === 'tr' && hasNone('table')
}

/** Anchors within the mail, scripts and attached pictures cannot be followed. */
function leadsSomewhere(href: string | undefined): boolean {
  return href !== undefined && /^\s*(?:https?:|mailto:|tel:)/i.test(href)
}

/** An address up to this length is passed on whole; of a longer one only the beginning, which says where it leads. */
const maxLinkLength = 500
const shownOfLongLink = 120

function shortLink(href: string): string {
  const address = href.trim()
  const shown = address.length <= maxLinkLength ? address : `${address.slice(0, shownOfLongLink)}…`
  return shown.replaceAll('"', '&quot;')
}

function startAttribute(start: string | undefined): string {
  return start !== undefined && /^\d{1,6}$/.test(start) ? ` start="${start}"` : ''
}
