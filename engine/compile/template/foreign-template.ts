/** Recognises the syntax of other template languages, and names the placeholder with the same meaning. */

import { findHint, type Hint, placeholderHints } from '../../config/values/hints.ts'
import { helpers } from './helpers.ts'

const rows = placeholderHints(Object.keys(helpers))

/** Returns the first placeholder in the syntax of another language. `place` is in UTF-16 units of the template. */
export function foreignTemplate(source: string): Hint | undefined {
  // No placeholder extends past the beginning of the next one, since otherwise many without an end would take quadratic
  // time.
  for (const { 0: all, 1: inside = '', index } of source.matchAll(/\{\{~?((?:(?!\}\}|\{\{).)*?)~?\}\}/gs)) {
    const text = inside.trim()
    const found = text.startsWith('!') ? undefined : findHint(rows, text)
    if (found === undefined) continue
    const hint = found.hint.replace(/ +\}\}/g, '}}')
    return { ...found, hint, offset: index + all.indexOf(inside.trimStart()) }
  }
  return undefined
}
