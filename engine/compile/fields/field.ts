/** Compiles one field of a mapping: a literal, a template, or a text that is wholly a `{% … %}` expression. */

import type { Path } from '../../config/values/path.ts'
import type { Field } from '../../resolve/model/program.ts'
import {
  bareExpression,
  type CompiledExpression,
  ExpressionSyntaxError,
  unwrapExpression,
} from '../expression/compile-expression.ts'
import { TemplateError } from '../template/parse.ts'
import type { Report } from './report.ts'
import { createSharedParts, type SharedParts } from './shared-parts.ts'

export interface CompiledField {
  readonly field: Field
  /** The place of the first placeholder in the text. Absent for a literal. */
  readonly placeholder?: number
  /** The literal text before it. */
  readonly prefix: string
  /** The literal texts that an expression chooses between, if it does nothing else. */
  readonly choices?: readonly string[]
}

/** Returns undefined if something is wrong, which is reported. */
export function compileField(
  value: unknown,
  path: Path,
  report: Report,
  shared: SharedParts,
): CompiledField | undefined {
  if (typeof value !== 'string') return { field: { kind: 'literal', value }, prefix: '' }
  if (value.includes('{%') && unwrapExpression(value) === undefined) {
    report.warn({
      code: 'PARTIAL_EXPRESSION',
      path,
      message: 'has an expression in the middle of text, which stays as it is written',
      hint: 'Make the whole text one expression, {% "Review " & title %}, or use {{title}}.',
      offset: value.indexOf('{%'),
    })
  }
  try {
    return compileText(value, path, report, shared)
  } catch (error) {
    if (!reportSyntax(error, path, report)) throw error
    return undefined
  }
}

function compileText(text: string, path: Path, report: Report, shared: SharedParts): CompiledField {
  const expression = unwrapExpression(text)
  if (expression !== undefined) {
    const { evaluate, choices } = compileSource(expression, path, report, shared)
    const field: Field = { kind: 'expression', evaluate, ...(choices && { choices }) }
    return { field, placeholder: text.indexOf('{%'), prefix: '', choices }
  }
  if (!text.includes('{{')) return { field: { kind: 'literal', value: text }, prefix: text }
  const { render, placeholder, prefix, names } = shared.template(text)
  shared.onNames?.(path, names)
  return { field: { kind: 'template', render }, placeholder, prefix }
}

/**
 * Compiles a text that is an expression with or without `{% … %}`. Returns undefined if something is wrong, which is
 * reported.
 */
export function compileWhole(
  text: string,
  path: Path,
  report: Report,
  shared: SharedParts = createSharedParts(),
): CompiledExpression | undefined {
  try {
    return compileSource(bareExpression(text), path, report, shared)
  } catch (error) {
    if (!reportSyntax(error, path, report)) throw error
    return undefined
  }
}

function compileSource(
  { source, offset }: ReturnType<typeof bareExpression>,
  path: Path,
  report: Report,
  shared: SharedParts,
): CompiledExpression {
  const compiled = shared.expression(source, offset)
  shared.onNames?.(path, compiled.names)
  for (const { message, hint, place } of compiled.doubtful)
    report.warn({ code: 'DOUBTFUL_EXPRESSION', path, message, hint, offset: place })
  return compiled
}

/** Reports a mistake of the author, and returns whether the error was one. */
function reportSyntax(error: unknown, path: Path, report: Report): boolean {
  if (!(error instanceof TemplateError || error instanceof ExpressionSyntaxError)) return false
  const code = error instanceof TemplateError ? 'TEMPLATE_SYNTAX' : 'EXPRESSION_SYNTAX'
  report.error({ code, path, message: error.message, hint: error.hint, offset: error.offset })
  return true
}
