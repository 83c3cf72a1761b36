/** Compiles templates, expressions and schemas once that several mappings of one compilation have in common. */

import type { Path } from '../config/path.ts'
import type { CheckPayload } from '../resolve/program.ts'
import type { ScopeNames } from '../resolve/scope.ts'
import type { RootName } from './expression/names.ts'
import { type CompiledExpression, compileExpression } from './expression.ts'
import { type CompiledTemplate, compileTemplate } from './template/compile-template.ts'

/** Lives as long as one compilation; the snapshot holds what it uses itself. */
export interface SharedParts {
  /** @throws TemplateError */
  template(text: string, names?: ScopeNames): CompiledTemplate
  /** @throws ExpressionSyntaxError */
  expression(source: string, offset: number, names?: ScopeNames): CompiledExpression
  /** Is given the names that a field's text looks up at its root. */
  readonly onNames?: (path: Path, names: readonly RootName[]) => void
  /** By the schemas themselves: a file that several mappings name is one object. */
  readonly schemas: Map<object, CheckPayload>
}

export function createSharedParts(): SharedParts {
  const templates = new Map<string, CompiledTemplate>()
  const expressions = new Map<string, CompiledExpression>()
  return {
    template: (text, names) =>
      remember(templates, `${names?.key ?? ''} ${text}`, () => compileTemplate(text, names)),
    // The offset is part of what its errors say.
    expression: (source, offset, names) =>
      remember(expressions, `${names?.key ?? ''} ${offset} ${source}`, () =>
        compileExpression(source, offset, names),
      ),
    schemas: new Map(),
  }
}

/** The same for the texts of one mapping, in which names mean what they mean there. */
export function partsWithNames(
  shared: SharedParts,
  names: ScopeNames,
  onNames: NonNullable<SharedParts['onNames']>,
): SharedParts {
  return {
    template: (text) => shared.template(text, names),
    expression: (source, offset) => shared.expression(source, offset, names),
    onNames,
    schemas: shared.schemas,
  }
}

function remember<Part>(parts: Map<string, Part>, key: string, make: () => Part): Part {
  const known = parts.get(key)
  if (known !== undefined) return known
  const part = make()
  parts.set(key, part)
  return part
}
