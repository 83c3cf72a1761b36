/** Breaks a text into lines that fit a terminal. */

/**
 * wrapWords breaks a text between words. A long word stays whole, so that a key or an address can be copied, and so does a command in
 * backticks. An indented line stays whole too, because broken frames of a stack are unreadable, unless it is a hint, which is prose.
 * Of a long excerpt with a caret below it, the part around the caret is kept.
 */
export function wrapWords(text: string, width: number): string[] {
  const all = text.split('\n')
  return all.flatMap((line, index) => {
    const caret = all[index + 1]
    if (isExcerpt(line, caret)) return cutExcerpt(line, caret, width)
    if (index > 0 && isExcerpt(all[index - 1] ?? '', line)) return []
    if (line.length <= width) return [line]
    if (line.startsWith(hint)) return wrapHint(line.slice(hint.length), width - hint.length)
    return line.startsWith('  ') ? [line] : wrapLine(line, width)
  })
}

const hint = '  hint: '

const gutter = /^ *\d+ \| /

function isExcerpt(line: string, below: string | undefined): below is string {
  return below !== undefined && gutter.test(line) && /^ *\| \s*\^$/.test(below)
}

/** Cuts both lines so that the caret stays below its character. An excerpt is not cut to less than a few words. */
function cutExcerpt(line: string, caret: string, width: number): string[] {
  const head = gutter.exec(line)?.[0] ?? ''
  const room = width - head.length
  const at = caret.length - 1 - head.length
  const text = line.slice(head.length)
  if (text.length <= room || room < minExcerpt || uneven.test(text)) return [line, caret]
  const from = at < room - 1 ? 0 : Math.min(at - Math.floor(room / 2), text.length - room)
  const part = text.slice(from, from + room)
  const start = from > 0 ? `…${part.slice(1)}` : part
  const shown = from + room < text.length ? `${start.slice(0, -1)}…` : start
  return [`${head}${shown}`, `${caret.slice(0, head.length)}${caret.slice(head.length + from)}`]
}

/** Characters that may take no column or two, where the place of the caret would be wrong after a cut. */
const uneven = /[^\x20-\u02ff\u2010-\u2027\u2030-\u205e]/

/** The shortest excerpt, in columns. */
const minExcerpt = 20

function wrapHint(text: string, width: number): string[] {
  return wrapLine(text, width).map((line, index) => (index === 0 ? hint : ' '.repeat(hint.length)) + line)
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = []
  let current = ''
  for (const word of line.match(/ *(?:`[^`]*`|[^ ])+/g) ?? []) {
    if (current !== '' && current.length + word.length > width) {
      lines.push(current)
      current = word.trimStart()
    } else current += word
  }
  return current === '' ? lines : [...lines, current]
}
