/** Cleans a sender's text, so that only what a reader can see is passed on, in the order in which it is written. */

/**
 * Returns lines of text with at most this many blank lines in a row, none at the ends, and no white space at the end
 * of a line.
 */
export function cleanText(text: string, maxBlankLines = 2): string {
  const lines: string[] = []
  let blank = 0
  for (const line of visible(text).split('\n')) {
    const content = line.trimEnd()
    blank = content === '' ? blank + 1 : 0
    if (blank <= maxBlankLines && (blank === 0 || lines.length > 0)) lines.push(content)
  }
  return lines.join('\n').trimEnd()
}

/** Returns the text as one line. */
export function cleanLine(text: string): string {
  return visible(text).replaceAll(/\s+/g, ' ').trim()
}

function visible(text: string): string {
  const broken = text.replaceAll(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
  if (!suspicious.test(broken)) return broken
  return broken
    .toWellFormed()
    .replaceAll(unseen, '')
    .replaceAll(tags, '$1')
    .replaceAll(selectors, '$1')
    .replaceAll(/[\s\u200c\u200d]{2,}/g, withoutIdleJoiners)
}

/** Most mails consist of line feeds, tabs and printable ASCII alone. */
const suspicious = /[^\n\t\x20-\x7e]/

/**
 * Control characters, marks that turn the reading order, and characters without width or ink. Joiners are not among
 * them, because Persian and families of emoji need them.
 */
const unseen =
  /(?![\n\t])\p{Cc}|\u034f|[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu

/** An invisible alphabet in which orders to a model can be written. Three flags alone need it. */
const tags = /(\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,6}\u{e007f})|[\u{e0000}-\u{e007f}]/gu

/** A selector chooses a form of the character before it; a row of selectors is another invisible alphabet. */
const selectors = /([\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu

/** Newsletters fill the rest of a preview with joiners between spaces. */
function withoutIdleJoiners(run: string): string {
  return /\s/.test(run) ? run.replaceAll(/[\u200c\u200d]/g, '') : run
}
