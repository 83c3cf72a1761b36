/** Prints a reply as a block with a title and a bar before every line, which the text of the reply cannot break out of. */

import { graphemesOf, widthOf } from '@reveille/kit'

interface BlockOptions {
  readonly title: string
  /** The width of the terminal; absent for files and pipes, whose lines are not wrapped. */
  readonly columns?: number
  readonly colour: boolean
}

/** Minimum width for wrapping, in columns. In a narrower terminal, wrapping makes a reply unreadable. */
const narrowest = 20
/** Replaces a tab, whose width depends on its column. */
const tab = '    '

/** Returns the block of a neutralised text, ending with a line feed. */
export function setBlock(text: string, { title, columns, colour }: BlockOptions): string {
  const bar = colour ? '\x1b[36m│\x1b[39m' : '│'
  const heading = colour ? `\x1b[36m╭\x1b[39m \x1b[1m${title}\x1b[22m` : `╭ ${title}`
  const lines = columns === undefined || columns < narrowest ? text.split('\n') : wrap(text, columns - 2)
  const body = lines.map((line) => (line === '' ? bar : `${bar} ${line}`))
  return `${[heading, ...body, colour ? '\x1b[36m╰\x1b[39m' : '╰'].join('\n')}\n`
}

function wrap(text: string, width: number): string[] {
  return text
    .replaceAll('\t', tab)
    .split('\n')
    .flatMap((line) => wrapLine(line, width))
}

/** Breaks a line between words, or else between graphemes. All lines keep the indentation of the first. */
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
    for (const character of graphemesOf(lines.length === 0 ? word : word.trimStart())) {
      const columns = widthOf(character)
      if (used + columns > width) {
        lines.push(current)
        current = indent
        used = indent.length
      }
      current += character
      used += columns
    }
  }
  return current.trim() === '' ? lines : [...lines, current]
}

/**
 * Removes what a text could do to a terminal: move the cursor, set a title or hide a word. Line breaks and tabs stay. Every
 * other control character is replaced by its visible picture, and characters that change the reading order by U+FFFD.
 */
export function neutralise(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?|[\u0085\u2028\u2029]/g, '\n')
    .replaceAll(controls, picture)
    .replaceAll(directions, '\ufffd')
}

/** C0 without line feed and tab, DEL, and C1, which some terminals read like ESC and a letter. */
const controls = /(?![\n\t])\p{Cc}/gu
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

function picture(character: string): string {
  const code = character.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : '\ufffd'
}
