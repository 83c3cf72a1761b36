/** Owns what of a stranger's text is passed on: what a reader can see, in the order in which it is written. */

/** Lines of text: at most so many blank ones in a row, none at the ends, no white space at the end of any. */
export function cleanText(text: string, mostBlankLines = 2): string {
  const kept: string[] = []
  let blank = 0
  for (const line of visible(text).split('\n')) {
    const content = line.trimEnd()
    blank = content === '' ? blank + 1 : 0
    if (blank <= mostBlankLines && (blank === 0 || kept.length > 0)) kept.push(content)
  }
  return kept.join('\n').trimEnd()
}

/** One line. */
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

/** Line feeds, tabs and printable ASCII are all that most mails are made of. */
const suspicious = /[^\n\t\x20-\x7e]/

/**
 * Control characters, unassigned to anything a reader sees; marks that turn the reading order; characters without width
 * or ink. Joiners are not among them: Persian and families of emoji are written with them.
 */
const unseen =
  /(?![\n\t])\p{Cc}|\u034f|[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu

/** An alphabet that nobody sees, in which orders to a model can be written; it is of use in three flags only. */
const tags = /(\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{1,6}\u{e007f})|[\u{e0000}-\u{e007f}]/gu

/** One chooses a form of the character before it; a row of them is another such alphabet. */
const selectors = /([\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu

/** Newsletters fill the rest of a preview with them, between spaces. */
function withoutIdleJoiners(run: string): string {
  return /\s/.test(run) ? run.replaceAll(/[\u200c\u200d]/g, '') : run
}
