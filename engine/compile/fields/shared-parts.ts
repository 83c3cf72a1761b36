/** Compiles templates, expressions and schemas once that several mappings of one compilation share. */

import type { Path } from '../../config/values/path.ts'
import type { CheckPayload } from '../../resolve/model/program.ts'
import type { ScopeNames } from '../../resolve/model/scope.ts'
import { type CompiledExpression, compileExpression } from '../expression/compile-expression.ts'
import type { RootName } from '../expression/names.ts'
import { type CompiledTemplate, compileTemplate } from '../template/compile-template.ts'

/** Exists for one compilation. The snapshot holds what it uses itself. */
export interface SharedParts {
  /** @throws TemplateError */
  template(text: string, names?: ScopeNames): CompiledTemplate
  /** @throws ExpressionSyntaxError */
  expression(source: string, offset: number, names?: ScopeNames): CompiledExpression
  /** Called with the names that a field's text looks up at its root. */
  readonly onNames?: (path: Path, names: readonly RootName[]) => void
  /** Keyed by the schema object: a file that several mappings name is one object. */
  readonly schemas: Map<object, CheckPayload>
}

export interface SharedPartsOptions {
  /** Whether the next template gets its code at once, and not when it is first rendered. Default: never. */
  readonly isWarm?: () => boolean
  /** Whether an expression keeps the tree that it was checked by, because it will be evaluated soon. Default: no. */
  readonly keepsTrees?: boolean
}

export function createSharedParts({
  isWarm = () => false,
  keepsTrees = false,
}: SharedPartsOptions = {}): SharedParts {
  const templates = new Map<string, CompiledTemplate>()
  const expressions = new Map<string, CompiledExpression>()
  return {
    template: (text, names) =>
      remember(templates, `${names?.key ?? ''} ${text}`, () => {
        const template = compileTemplate(text, names)
        if (isWarm()) template.warmUp()
        return template
      }),
    // The offset is part of the cache key, because errors contain it.
    expression: (source, offset, names) =>
      remember(expressions, `${names?.key ?? ''} ${offset} ${source}`, () =>
        compileExpression(source, offset, names, keepsTrees),
      ),
    schemas: new Map(),
  }
}

/** Returns the same parts for the texts of one mapping, with the meanings of its names. */
export function partsWithNames(
  shared: SharedParts,
  names: ScopeNames,
  onNames: NonNullable<SharedParts['onNames']>,
  onExpression: () => void,
): SharedParts {
  return {
    template: (text) => shared.template(text, names),
    expression: (source, offset) => {
      onExpression()
      return shared.expression(source, offset, names)
    },
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
