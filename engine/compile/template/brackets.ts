/** Rewrites `messages[0]` to `messages.[0]`, as the grammar requires. */

export interface Rewritten {
  readonly text: string
  /** The positions in `text` where a dot was inserted, ascending. */
  readonly insertions: readonly number[]
}

/** Rewrites only inside mustaches, and there neither in strings nor in `[…]` itself. */
export function rewriteBrackets(source: string): Rewritten {
  if (!source.includes('[')) return { text: source, insertions: [] }
  const insertions: number[] = []
  let text = ''
  let position = 0
  while (position < source.length) {
    const open = source.indexOf('{{', position)
    if (open === -1) break
    const end = endOfMustache(source, open)
    text += source.slice(position, open)
    const inside = source.slice(open, end)
    text += isLiteralText(source, open) ? inside : rewriteInside(inside, text.length, insertions)
    position = end
  }
  return { text: text + source.slice(position), insertions }
}

/** Whether the place is in a comment, or in a mustache that a backslash escapes. */
function isLiteralText(source: string, open: number): boolean {
  const escaped = source[open - 1] === '\\' && source[open - 2] !== '\\'
  return escaped || /^\{\{~?!/.test(source.slice(open, open + 4))
}

function endOfMustache(source: string, open: number): number {
  const comment = /^\{\{~?!--/.test(source.slice(open, open + 6))
  const mark = comment ? '--' : '}}'
  const end = source.indexOf(mark, open + (comment ? 5 : 2))
  const close = end === -1 ? -1 : source.indexOf('}}', end)
  return close === -1 ? source.length : close + 2
}

/** Texts in quotes and `[…]`, either of which may lack its end. */
const quotedOrBracketed = /"[^"]*"?|'[^']*'?|\[[^\]]*\]?/g
/** Characters that cannot end a name, by the grammar's own rule. */
const endsNoName = /[\s!"#%&'()*+,./;<=>@[\\^`{|}~]/

function rewriteInside(inside: string, start: number, insertions: number[]): string {
  let inserted = 0
  return inside.replace(quotedOrBracketed, (found, at: number) => {
    if (!found.startsWith('[') || endsNoName.test(inside.charAt(at - 1))) return found
    insertions.push(start + at + inserted)
    inserted += 1
    return `.${found}`
  })
}
