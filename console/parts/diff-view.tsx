/** Shows how two texts differ, as a unified diff. */

import { structuredPatch } from 'diff'
import { useMemo } from 'preact/hooks'
import { shown } from './marked.tsx'
import { piecesOf } from './pieces.ts'

interface DiffProps {
  readonly name: string
  readonly before: string
  readonly after: string
}

/** A text that is rewritten as a whole is compared no longer than this. Milliseconds. */
const maxMs = 1_000
const options = { context: 3, stripTrailingCr: true, timeout: maxMs }

/** The element of a line, by its sign. Other lines are the same in both texts. */
const elements: Readonly<Record<string, 'ins' | 'del'>> = { '+': 'ins', '-': 'del' }

export function DiffView({ name, before, after }: DiffProps) {
  const patch = useMemo(
    () => structuredPatch('', '', before, after, undefined, undefined, options),
    [before, after],
  )
  if (patch === undefined) {
    return <p class="quiet">The two texts have too little in common to be compared line by line.</p>
  }
  if (patch.hunks.length === 0) {
    return <p class="quiet">They differ only in values that are hidden here, or in line ends.</p>
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard.
    <section class="text-block diff" aria-label={`Changes of ${name}`} tabIndex={0}>
      {patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => (
        <div key={oldStart}>
          <div class="quiet">{`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`}</div>
          {lines.map((line, index) => {
            const Line = elements[line.charAt(0)] ?? 'div'
            return <Line key={index}>{shown(piecesOf(line, { isLine: true }))}</Line>
          })}
        </div>
      ))}
    </section>
  )
}
