/** Compiles the keys of `dedupe` and `coalesce`: a template where there is a placeholder, otherwise an expression. */

import type { KeyField } from '../../resolve/model/program.ts'
import type { KeyOwner } from '../../resolve/render/keys.ts'
import { bareExpression, unwrapExpression } from '../expression/compile-expression.ts'
import { parseExpression } from '../expression/parse.ts'
import { compileField, compileWhole } from './field.ts'
import type { Report } from './report.ts'
import type { SharedParts } from './shared-parts.ts'

export function isTemplateKey(text: string): boolean {
  return text.includes('{{') && unwrapExpression(text) === undefined
}

/** Returns undefined if something is wrong, which is reported. */
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

/** Whether a compiled key is the same for all requests, because it reads nothing of them and calls no function. */
export function isConstantKey(text: string, shared: SharedParts): boolean {
  if (isTemplateKey(text)) return shared.template(text).placeholder === undefined
  const { source, offset } = bareExpression(text)
  return parseExpression(source, offset).nodes.every(
    ({ type }) => typeof type !== 'string' || madeOfConstants.has(type),
  )
}

/** The types of nodes whose value depends only on their child nodes. */
const madeOfConstants: ReadonlySet<string> = new Set([
  ...['string', 'number', 'value'],
  ...['unary', 'binary', 'condition', 'block'],
])
