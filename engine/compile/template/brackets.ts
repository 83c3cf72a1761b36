/** Rewrites `messages[0]` to `messages.[0]`, as the grammar requires. */

export interface Rewritten {
  readonly text: string
  /** The positions in `text` where a dot was inserted, ascending. */
  readonly insertions: readonly number[]
}

/** A comment, or any other mustache. Either may lack its end. */
const mustache = /\{\{~?!--[\s\S]*?(?:--~?\}\}|$)|\{\{[\s\S]*?(?:\}\}|$)/g
/** Texts in quotes and `[…]`, either of which may lack its end. */
const quotedOrBracketed = /"[^"]*"?|'[^']*'?|\[[^\]]*\]?/g
/** Characters that cannot end a name, by the grammar's own rule. */
const endsNoName = /[\s!"#%&'()*+,./;<=>@[\\^`{|}~]/

/** Rewrites only inside mustaches, and there neither in strings nor in `[…]` itself. */
export function rewriteBrackets(source: string): Rewritten {
  const insertions: number[] = []
  if (!source.includes('[')) return { text: source, insertions }
  const text = source.replace(mustache, (whole, at: number) => {
    const isEscaped = source[at - 1] === '\\' && source[at - 2] !== '\\'
    if (isEscaped || /^\{\{~?!/.test(whole)) return whole
    return whole.replace(quotedOrBracketed, (found, inside: number) => {
      if (!found.startsWith('[') || endsNoName.test(whole.charAt(inside - 1))) return found
      insertions.push(at + inside + insertions.length)
      return `.${found}`
    })
  })
  return { text, insertions }
}
