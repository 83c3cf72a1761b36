/** Owns breaking a line that is wider than the terminal, by the columns that its characters take. */

/** Breaks between words, else between graphemes; the lines after the first keep the first one's indentation. */
export function wrapLine(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line]
  const indent = /^ */.exec(line)?.[0].slice(0, Math.floor(width / 2)) ?? ''
  const lines: string[] = []
  let current = ''
  let used = 0
  for (const word of line.match(/ *[^ ]+| +$/g) ?? []) {
    const taken = widthOf(word)
    if (used + taken <= width) {
      current += word
      used += taken
      continue
    }
    if (current.trim() !== '') {
      lines.push(current)
      current = indent
      used = indent.length
    }
    for (const grapheme of graphemesOf(lines.length === 0 ? word : word.trimStart())) {
      const columns = columnsOf(grapheme)
      if (used + columns > width) {
        lines.push(current)
        current = indent
        used = indent.length
      }
      current += grapheme
      used += columns
    }
  }
  return current.trim() === '' ? lines : [...lines, current]
}

export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  return graphemesOf(text).reduce((sum, grapheme) => sum + columnsOf(grapheme), 0)
}

function graphemesOf(text: string): string[] {
  return Array.from(new Intl.Segmenter('en').segment(text), (each) => each.segment)
}

const wide =
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u

/** Two for emoji and the scripts of East Asia, none for a mark that stands alone. */
function columnsOf(grapheme: string): number {
  if (wide.test(grapheme)) return 2
  return /^[\p{M}\p{Cf}]/u.test(grapheme) ? 0 : 1
}
