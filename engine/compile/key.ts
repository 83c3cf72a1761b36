/** Owns keys as mappings write them: a template where there is a placeholder, else an expression, as `vars` are. */

import type { KeyOwner } from '../resolve/key.ts'
import type { KeyField } from '../resolve/program.ts'
import { parseExpression } from './expression/parse.ts'
import { bareExpression, unwrapExpression } from './expression.ts'
import { compileField, compileWhole } from './field.ts'
import type { Report } from './report.ts'
import type { SharedParts } from './shared-parts.ts'

export function isTemplateKey(text: string): boolean {
  return text.includes('{{') && unwrapExpression(text) === undefined
}

/** Reports what is wrong and gives nothing then. */
export function compileKey(
  owner: KeyOwner,
  text: string,
  report: Report,
  shared: SharedParts,
): KeyField | undefined {
  const path = [owner, 'key']
  if (isTemplateKey(text)) {
    const field = compileField(text, path, report, shared)?.field
    return field?.kind === 'literal' ? undefined : field
  }
  const compiled = compileWhole(text, path, report, shared)
  return compiled && { kind: 'expression', evaluate: compiled.evaluate }
}

/** Whether a key that compiles can be but one for all requests: it reads nothing of them, and calls nothing. */
export function isConstantKey(text: string, shared: SharedParts): boolean {
  if (isTemplateKey(text)) return shared.template(text).placeholder === undefined
  const { source, offset } = bareExpression(text)
  return parseExpression(source, offset).nodes.every(
    ({ type }) => typeof type !== 'string' || madeOfConstants.has(type),
  )
}

/** Nodes of an expression that are no more than what they hold. */
const madeOfConstants: ReadonlySet<string> = new Set([
  ...['string', 'number', 'value'],
  ...['unary', 'binary', 'condition', 'block'],
])
