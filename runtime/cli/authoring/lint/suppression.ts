/** Reads the comment by which an author suppresses one finding of lint. */

import { readFileSync } from 'node:fs'
import type { Diagnostic } from '@reveille/engine'

/** `# reveille-lint-disable-next-line CODE, CODE`, among the comments right above the finding's line. */
export function isSuppressed({ code, place }: Diagnostic): boolean {
  if (place === undefined) return false
  const lines = linesOf(place.file)
  for (let line = place.line - 2; line >= 0; line--) {
    const comment = /^\s*#(.*)$/.exec(lines[line] ?? '')?.[1]
    if (comment === undefined) return false
    const codes = /\breveille-lint-disable-next-line\b(.*)$/.exec(comment)?.[1]?.match(/[A-Z_]+/g)
    if (codes?.includes(code)) return true
  }
  return false
}

/** A file that has gone since it was loaded suppresses nothing. */
function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/)
  } catch {
    return []
  }
}
