/** Compiles the texts of a mapping: literals, templates, texts that are wholly a `{% … %}` expression, and keys. */

import type { Path } from '../../config/values/path.ts'
import type { Field, KeyField } from '../../resolve/model/program.ts'
import type { ScopeNames } from '../../resolve/model/scope.ts'
import {
  bareExpression,
  type CompiledExpression,
  compileExpression,
  ExpressionSyntaxError,
  unwrapExpression,
} from '../expression/compile-expression.ts'
import type { RootName } from '../expression/names.ts'
import { parseExpression } from '../expression/parse.ts'
import { type CompiledTemplate, compileTemplate } from '../template/compile-template.ts'
import { TemplateError } from '../template/parse.ts'
import type { Report } from './report.ts'

/** Templates and expressions that several mappings of one compilation share. A snapshot holds what it uses itself. */
export interface SharedTexts {
  readonly templates: Map<string, CompiledTemplate>
  readonly expressions: Map<string, CompiledExpression>
  /** True if an expression keeps the tree that it was checked by, because it will be evaluated soon. Default: no. */
  readonly keepsTrees?: boolean
}

export function createSharedTexts(options: Pick<SharedTexts, 'keepsTrees'> = {}): SharedTexts {
  return { templates: new Map(), expressions: new Map(), ...options }
}

/** A name that one of a mapping's texts looks up at its root. */
export interface ReadName extends RootName {
  /** The path of the field from the entry. */
  readonly path: Path
}

/** State that the texts of a mapping share. */
interface Common {
  readonly shared: SharedTexts
  readonly report: Report
  /** Receives the names that the texts look up. */
  readonly read: ReadName[]
  /** Called for a text that may take long: an expression, or loops within loops. */
  readonly onUnbounded: () => void
}

export interface CompiledField {
  readonly field: Field
  /** The place of the first placeholder in the text. Absent for a literal. */
  readonly placeholder?: number
  /** The literal text before it. */
  readonly prefix: string
}

/** Each returns undefined if something is wrong, which is reported. */
export interface Texts {
  field(value: unknown, path: Path): CompiledField | undefined
  /** Compiles a text that is an expression with or without `{% … %}`. */
  expression(text: string, path: Path): CompiledExpression | undefined
  /** Compiles a key: a template where there is a placeholder, otherwise an expression. */
  key(text: string, path: Path): KeyField | undefined
}

/** `names` are the meanings of the names at the root of the texts. */
export function createTexts(common: Common, names: ScopeNames): Texts {
  const { shared, report, read, onUnbounded } = common
  const note = (path: Path, found: readonly RootName[]): void =>
    void read.push(...found.map((name) => ({ ...name, path })))

  function compileSource({ source, offset }: ReturnType<typeof bareExpression>, path: Path) {
    onUnbounded()
    // The offset is part of the key, because errors contain it.
    const compiled = remember(shared.expressions, `${names.key} ${offset} ${source}`, () =>
      compileExpression(source, offset, names, shared.keepsTrees),
    )
    note(path, compiled.names)
    for (const { message, hint, offset } of compiled.doubtful)
      report.warn({ code: 'DOUBTFUL_EXPRESSION', path, message, hint, offset })
    return compiled
  }

  function compileField(value: unknown, path: Path): CompiledField {
    const expression = typeof value === 'string' ? unwrapExpression(value) : undefined
    if (typeof value === 'string' && expression !== undefined) {
      const { evaluate, choices } = compileSource(expression, path)
      const field: Field = { kind: 'expression', evaluate, ...(choices && { choices }) }
      return { field, placeholder: value.indexOf('{%'), prefix: '' }
    }
    if (typeof value !== 'string' || !value.includes('{{'))
      return { field: { kind: 'literal', value }, prefix: String(value) }
    const template = remember(shared.templates, `${names.key} ${value}`, () => compileTemplate(value, names))
    note(path, template.names)
    if (template.isNested) onUnbounded()
    const { render, placeholder, prefix } = template
    return { field: { kind: 'template', render }, placeholder, prefix }
  }

  const texts: Texts = {
    field(value, path) {
      if (typeof value === 'string' && value.includes('{%') && unwrapExpression(value) === undefined) {
        report.warn({
          code: 'PARTIAL_EXPRESSION',
          path,
          message: 'has an expression in the middle of text, which stays as it is written',
          hint: 'Make the whole text one expression, {% "Review " & title %}, or use {{title}}.',
          offset: value.indexOf('{%'),
        })
      }
      return reporting(report, path, () => compileField(value, path))
    },
    expression: (text, path) => reporting(report, path, () => compileSource(bareExpression(text), path)),
    key(text, path) {
      if (!isTemplateKey(text)) {
        const compiled = texts.expression(text, path)
        return compiled && { kind: 'expression', evaluate: compiled.evaluate }
      }
      const field = texts.field(text, path)?.field
      return field?.kind === 'literal' ? undefined : field
    },
  }
  return texts
}

function reporting<Made>(report: Report, path: Path, compile: () => Made): Made | undefined {
  try {
    return compile()
  } catch (error) {
    if (!(error instanceof TemplateError || error instanceof ExpressionSyntaxError)) throw error
    const code = error instanceof TemplateError ? 'TEMPLATE_SYNTAX' : 'EXPRESSION_SYNTAX'
    report.error({ code, path, message: error.message, hint: error.hint, offset: error.offset })
    return undefined
  }
}

export function isTemplateKey(text: string): boolean {
  return text.includes('{{') && unwrapExpression(text) === undefined
}

/** True if a valid key is the same for all requests, because it reads nothing of them and calls no function. */
export function isConstantKey(text: string): boolean {
  if (isTemplateKey(text)) return compileTemplate(text).placeholder === undefined
  const { source, offset } = bareExpression(text)
  return parseExpression(source, offset).nodes.every(
    ({ type }) => typeof type !== 'string' || madeOfConstants.has(type),
  )
}

/** The types of nodes whose value depends only on their child nodes. */
const madeOfConstants: ReadonlySet<string> = new Set(
  'string number value unary binary condition block'.split(' '),
)

function remember<Made>(known: Map<string, Made>, key: string, make: () => Made): Made {
  const made = known.get(key) ?? make()
  known.set(key, made)
  return made
}
