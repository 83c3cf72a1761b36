/** Owns the frame around a text of many lines, as the channel `terminal` has it around a reply. */

import type { Paint } from '../../../observe/paint.ts'
import { printable } from '../../../observe/printable.ts'
import { wrapWords } from '../../../observe/wrap-words.ts'

/** Lines. The text may come from a payload and cannot leave its bar. */
export function frame(
  title: string,
  text: string,
  paint: Paint,
  columns = Number.POSITIVE_INFINITY,
): string[] {
  const bar = paint.cyan('│')
  const lines = text
    .split(/\r?\n/)
    .map(printable)
    .flatMap((line) => wrapWords(line, Math.max(columns - 2, 20)))
  return [
    `${paint.cyan('╭')} ${paint.bold(title)}`,
    ...lines.map((line) => (line === '' ? bar : `${bar} ${line}`)),
    paint.cyan('╰'),
  ]
}
