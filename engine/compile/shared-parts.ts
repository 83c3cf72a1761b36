/** Owns what several mappings of one compilation write alike, which is compiled once: templates, expressions, schemas. */

import type { Expression, Program } from '../resolve/program.ts'
import { compileExpression } from './expression.ts'
import { type CompiledTemplate, compileTemplate } from './template/compile-template.ts'

type CheckPayload = NonNullable<Program['checkPayload']>

/** Lives as long as one compilation: what serves keeps its parts itself. */
export interface SharedParts {
  /** @throws TemplateError */
  template(text: string): CompiledTemplate
  /** @throws ExpressionSyntaxError */
  expression(source: string, offset: number): Expression
  /** By the schemas themselves: a file that several mappings name is one object. */
  readonly schemas: Map<object, CheckPayload>
}

export function createSharedParts(): SharedParts {
  const templates = new Map<string, CompiledTemplate>()
  const expressions = new Map<string, Expression>()
  return {
    template: (text) => remember(templates, text, () => compileTemplate(text)),
    // The offset is part of what its errors say.
    expression: (source, offset) =>
      remember(expressions, `${offset} ${source}`, () => compileExpression(source, offset)),
    schemas: new Map(),
  }
}

function remember<Part>(parts: Map<string, Part>, key: string, make: () => Part): Part {
  const known = parts.get(key)
  if (known !== undefined) return known
  const part = make()
  parts.set(key, part)
  return part
}
