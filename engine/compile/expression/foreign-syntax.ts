/** Recognises the syntax of other languages in an expression that JSONata cannot read. */

import { expressionHints, findHint, type Hint } from '../../config/values/hints.ts'

const literals =
  /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|\/\*[\s\S]*?\*\/|(?<=(?:^|[(,=~[:?]|\b(?:and|or|matches|MATCHES))\s*)\/(?![/*])(?:[^/\\\n]|\\.)+\/[im]*/g

/** Suggests what the author of an unreadable expression probably meant. Nothing is found inside of literals. */
export function foreignSyntax(source: string): Hint | undefined {
  return findHint(
    expressionHints,
    source.replace(literals, (literal) => '\ue000'.repeat(literal.length)),
  )
}
