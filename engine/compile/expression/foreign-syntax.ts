/** Recognises the syntax of other languages in an expression, and suggests the JSONata with the same meaning. */

import jsonata from 'jsonata'
import {
  asLike,
  asPrefix,
  asRegex,
  asSuffix,
  callFixes,
  expressionHints,
  type Hint,
  type HintRow,
  inLowerCase,
  lastExpressionHints,
} from '../../config/values/hints.ts'

/** Rewrites calls of other languages, and returns the expression if JSONata can then read it. */
export function withoutMethods(source: string): string | undefined {
  const hidden = hideLiterals(source)
  const text = writeRegexes(hidden.restore(fixMethods(hidden.text)))
  return text === source ? undefined : fixed(text)
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const regexOf: Readonly<Record<string, (text: string) => string>> = {
  [asRegex]: (text) => text,
  [asPrefix]: (text) => `^${escaped(text)}`,
  [asSuffix]: (text) => `${escaped(text)}$`,
  [asLike]: (text) =>
    `^${escaped(text).replaceAll('%', '.*').replaceAll('_', '.')}$`.replace(/^\^\.\*|\.\*\$$/g, ''),
}

/** Writes the strings that were marked as regular expressions. */
function writeRegexes(text: string): string {
  const marked = /([\uf8f0-\uf8f3])(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')?/g
  return text.replace(marked, (_all, mark: string, double?: string, single?: string) => {
    const literal = double ?? single
    if (literal === undefined) return ''
    return `/${regexOf[mark]?.(literal.replaceAll('\\\\', '\\')).replaceAll('/', '\\/')}/`
  })
}

function fixMethods(text: string): string {
  return callFixes.reduce((before, [find, fix]) => before.replace(find, fix), text)
}

/** Suggests what the author of an unreadable expression probably meant. */
export function foreignSyntax(source: string): Hint | undefined {
  const hidden = hideLiterals(source)
  const rows = [...expressionHints, ...lastExpressionHints]
  const found = rows.find(([find]) => hidden.text.search(find) !== -1)
  if (found === undefined) return undefined
  const [find, message, hint] = found
  const offset = hidden.restore(hidden.text.slice(0, hidden.text.search(find))).length
  const all = rows.filter((each) => each === found || !lastExpressionHints.includes(each))
  const text = fixed(writeRegexes(hidden.restore(fixMethods(all.reduce(fixOne, hidden.text)))))
  return { message, hint: text === undefined ? hint : writeHint(text, source), offset }
}

/** `includes` asks a list or a string, and only the payload shows which. */
export function writeHint(text: string, source: string): string {
  const isEither = /\.(?:includes|contains|has|indexOf)\(/.test(source)
  return `Write \`${text}\`.${isEither ? ' That asks a list; a string is asked with `$contains(field, "x")`.' : ''}`
}

function fixOne(text: string, [find, , , fix]: HintRow): string {
  if (fix === undefined) return text
  return fix === inLowerCase ? text.replace(find, (word) => word.toLowerCase()) : text.replace(find, fix)
}

/** Returns the text in one line, if JSONata can read it. */
export function fixed(text: string): string | undefined {
  try {
    jsonata(text)
  } catch {
    return undefined
  }
  return text.trim().replace(/\s+/g, ' ')
}

const literals =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|\/\*[\s\S]*?\*\/|(?<=(?:^|[(,=~[:?]|\b(?:and|or|matches|MATCHES))\s*)\/(?![/*])(?:[^/\\\n]|\\.)+\/[im]*/g

/** Replaces each literal by one character of the private use area, so that nothing is found inside it. */
function hideLiterals(source: string): { readonly text: string; restore(text: string): string } {
  const kept: string[] = []
  const text = source.replace(literals, (literal) => {
    kept.push(literal)
    return String.fromCharCode(0xe000 + kept.length - 1)
  })
  return {
    text,
    restore: (part) => part.replace(/[\ue000-\uf8ff]/g, (mark) => kept[mark.charCodeAt(0) - 0xe000] ?? mark),
  }
}
