/** Writes lines of text with the marks of quotes, lists and tables. */

interface Level {
  /** Written before the first line of the level, then equal to `rest`. */
  mark: string
  readonly rest: string
}

/** More line breaks in a row are not needed. */
const maxBreaks = 3

export function createWriter() {
  const lines: string[] = []
  const levels: Level[] = []
  let line: string | undefined
  /** Line breaks before the next text, and the number of levels that blank lines between are in. */
  let breaks = 0
  let shared = 0
  let isSpaced = false
  let isCell = false

  function begin(): string {
    if (line !== undefined) lines.push(line)
    const blank = levels.slice(0, shared).map(({ rest }) => rest)
    if (line !== undefined) for (let left = breaks; left > 1; left--) lines.push(blank.join('').trimEnd())
    const marks = levels.map(({ mark }) => mark)
    for (const level of levels) level.mark = level.rest
    return marks.join('')
  }

  function breakLine(count: number): void {
    shared = breaks === 0 ? levels.length : Math.min(shared, levels.length)
    breaks = Math.min(count, maxBreaks)
  }

  return {
    /** Writes text without line breaks; white space at its ends counts once. */
    write(text: string): void {
      const content = text.trim()
      if (/^\s/.test(text)) isSpaced = true
      if (content === '') return
      if (line === undefined || breaks > 0) line = begin()
      else if (isCell) line += ' | '
      else if (isSpaced) line += ' '
      line += content.replaceAll(/\s+/g, ' ')
      breaks = 0
      isCell = false
      isSpaced = /\s$/.test(text)
    },
    /** Writes a line as it is, blanks included. */
    writeVerbatim(text: string): void {
      if (text === '') return
      if (line === undefined || breaks > 0) line = begin()
      line += text
      breaks = 0
      isCell = false
    },
    /** Adds to what was written last, whatever ended since. */
    append(text: string): void {
      if (line !== undefined) line += text
    },
    /** Ends a block, before which and after which are this many line breaks at least. */
    separate(count: number): void {
      breakLine(Math.max(breaks, count))
      isCell = false
    },
    /** Adds a line break. */
    addBreak: () => breakLine(breaks + 1),
    beginCell(): void {
      isCell = true
    },
    /** Begins a quote or an item of a list, with this mark before its first line. */
    indent(mark: string, rest: string): void {
      levels.push({ mark, rest })
    },
    outdent: () => void levels.pop(),
    text: () => [...lines, line ?? ''].join('\n'),
  }
}
