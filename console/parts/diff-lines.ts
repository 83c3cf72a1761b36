/** Compares two texts line by line, and changed lines word by word. */

import { diffWordsWithSpace, structuredPatch } from 'diff'

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'gap'
  readonly before?: number
  readonly after?: number
  /** Pieces; those that are marked changed. */
  readonly parts: readonly { readonly text: string; readonly isChanged: boolean }[]
}

/** A text that is rewritten as a whole is compared no longer than this. Milliseconds. */
const maxMs = 1_000
const contextLines = 3
/** Longer lines are not compared word by word. */
const maxLineLength = 2_000

/** Undefined: it took too long. */
export function diffLinesOf(before: string, after: string): DiffLine[] | undefined {
  const options = { context: contextLines, stripTrailingCr: true, timeout: maxMs }
  const patch = structuredPatch('', '', before, after, undefined, undefined, options)
  if (patch === undefined) return undefined
  const lines: DiffLine[] = []
  for (const { oldStart, newStart, lines: written } of patch.hunks) {
    if (lines.length > 0 || oldStart > 1 || newStart > 1) lines.push({ kind: 'gap', parts: [] })
    let [old, next] = [oldStart, newStart]
    for (let index = 0; index < written.length; ) {
      const removed = runOf(written, index, '-')
      const added = runOf(written, index + removed.length, '+')
      if (removed.length + added.length === 0) {
        const text = written[index++] ?? ''
        // "\ No newline at end of file" is no line.
        if (text.startsWith(' '))
          lines.push({ kind: 'same', before: old++, after: next++, parts: whole(text.slice(1)) })
        continue
      }
      const pairs =
        removed.length === added.length ? removed.map((text, at) => wordsOf(text, added[at] ?? '')) : []
      for (const [at, text] of removed.entries())
        lines.push({ kind: 'removed', before: old++, parts: pairs[at]?.removed ?? whole(text) })
      for (const [at, text] of added.entries())
        lines.push({ kind: 'added', after: next++, parts: pairs[at]?.added ?? whole(text) })
      index += removed.length + added.length
    }
  }
  return lines
}

function runOf(lines: readonly string[], from: number, sign: string): string[] {
  const run: string[] = []
  for (let at = from; lines[at]?.startsWith(sign); at++) run.push((lines[at] ?? '').slice(1))
  return run
}

const whole = (text: string) => [{ text, isChanged: false }]

function wordsOf(before: string, after: string) {
  if (Math.max(before.length, after.length) > maxLineLength)
    return { removed: whole(before), added: whole(after) }
  const changes = diffWordsWithSpace(before, after)
  const side = (left: 'added' | 'removed') =>
    changes
      .filter((change) => !change[left])
      .map(({ value, added, removed }) => ({ text: value, isChanged: added || removed }))
  return { removed: side('added'), added: side('removed') }
}
