/** Owns breaking a log line's text to the room that a terminal has for it. */

/**
 * Breaks between words. A word without room stays whole, so that a key or an address can be copied, and so does a command
 * in backticks; a line that is set in stays whole too, because the caret below an excerpt and the frames of a stack mean nothing when they move; but for a
 * hint, which is prose.
 */
export function wrapWords(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    if (line.length <= width) return [line]
    if (line.startsWith(hint)) return wrapHint(line.slice(hint.length), width - hint.length)
    return line.startsWith('  ') ? [line] : wrapLine(line, width)
  })
}

const hint = '  hint: '

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
