/** Owns how a reply looks: a title, and a bar before every line, which a reply cannot leave. */

import { wrapLine } from './wrap.ts'

export interface BlockOptions {
  readonly title: string
  /** Of the terminal. Absent: lines stay as long as they are, for files and pipes. */
  readonly columns?: number
  readonly colour: boolean
}

/** Below this, wrapping makes a reply unreadable and the terminal may break the lines itself. */
const narrowest = 20
/** A tab's width depends on where it stands, which wrapping cannot follow. */
const tab = '    '

/** Ends with a line feed. `text` is neutralised already. */
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
