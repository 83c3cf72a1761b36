/** Owns telling what the parser refuses in one file. */

import type { Diagnostic } from '../diagnostic/diagnostic.ts'
import { type Lines, lineAt } from './lines.ts'
import type { Places } from './places.ts'
import { createExplainer, type Fault } from './syntax.ts'

/** One mistake often makes several errors on its line; the first is the one to mend. */
export function problemsOf(
  faults: readonly Fault[],
  places: Places,
  lines: Lines,
  text: string,
): Diagnostic[] {
  const explain = createExplainer(text)
  const seen = new Set<number>()
  return faults.flatMap(({ code, offset }) => {
    const { line } = lineAt(lines, Math.min(offset, text.length))
    if (seen.has(line)) return []
    seen.add(line)
    const place = places.at(offset, true)
    return [{ severity: 'error' as const, place, ...explain(code, place.text, offset) }]
  })
}
