/** Reads an author's schema before Ajv does: finds mistakes with their places, and whether checking is linear. */

import { isRecord } from '../../config/values/is-record.ts'
import { nearestName } from '../../config/values/nearest.ts'
import { compileRegex, RegexSyntaxError } from '../../regex/regex.ts'
import { formats } from './formats.ts'
import { type Dialect, type Holds, holdsOf, keywordsOf } from './vocabulary.ts'

export interface SchemaProblem {
  /** The path from the schema's root. */
  readonly path: readonly (string | number)[]
  /** Completes a sentence that begins with the place's name. */
  readonly message: string
  readonly hint?: string
  readonly offset?: number
}

export interface CheckedSchema {
  readonly problems: readonly SchemaProblem[]
  /** Every `$ref` with its place. */
  readonly references: readonly Reference[]
  /** True if checking takes linear time, because no part of the schema can refer back to itself. */
  readonly isLinear: boolean
}

interface Reference {
  readonly target: string
  readonly path: Path
}

type Path = readonly (string | number)[]

export function checkSchema(written: boolean | object, dialect: Dialect): CheckedSchema {
  const problems: SchemaProblem[] = []
  const references: Reference[] = []

  function checkBelow(schema: unknown, path: Path): void {
    if (!isRecord(schema)) return
    for (const [keyword, value] of Object.entries(schema)) {
      const holds = holdsOf(keyword, dialect)
      if (holds === undefined) {
        if (!keyword.startsWith('x-')) problems.push(unknownKeyword(keyword, path, dialect))
        continue
      }
      checkValue(keyword, value, [...path, keyword])
      checkSchemasIn(holds, value, [...path, keyword])
    }
  }

  function checkSchemasIn(holds: Holds, value: unknown, path: Path): void {
    if (holds === 'value') return
    if (Array.isArray(value)) for (const [index, each] of value.entries()) checkBelow(each, [...path, index])
    else if (holds === 'schema') checkBelow(value, path)
    else if (isRecord(value))
      for (const [name, each] of Object.entries(value)) checkBelow(each, [...path, name])
  }

  function checkValue(keyword: string, value: unknown, path: Path): void {
    if ((keyword === '$ref' || keyword === '$dynamicRef') && typeof value === 'string') {
      references.push({ target: value, path })
    }
    if (keyword === 'pattern' && typeof value === 'string') checkPattern(value, path, true)
    if (keyword === 'patternProperties' && isRecord(value)) {
      for (const source of Object.keys(value)) checkPattern(source, [...path, source], false)
    }
    if (keyword === 'format' && typeof value === 'string' && !Object.hasOwn(formats(), value)) {
      const names = Object.keys(formats())
      const nearest = nearestName(value, names)
      const hint = nearest === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${nearest}?`
      problems.push({ path, message: 'names a format that there is not', hint })
    }
  }

  function checkPattern(source: string, path: Path, located: boolean): void {
    try {
      compileRegex(source)
    } catch (error) {
      if (!(error instanceof RegexSyntaxError)) throw error
      problems.push({
        path,
        message: error.message,
        hint: error.hint,
        ...(located && { offset: error.offset }),
      })
    }
  }

  checkBelow(written, [])
  return { problems, references, isLinear: !references.some(mayRecur) }
}

/** A reference inside a definition may be recursive, and so may one to the whole schema. */
function mayRecur({ target, path }: Reference): boolean {
  return path[0] === '$defs' || path[0] === 'definitions' || !/^#\/(?:\$defs|definitions)\//.test(target)
}

function unknownKeyword(keyword: string, path: Path, dialect: Dialect): SchemaProblem {
  const message = `is no keyword of JSON Schema ${dialect}`
  const newer = dialect === 'draft-07' && holdsOf(keyword, '2020-12') !== undefined
  const nearest = nearestName(keyword, keywordsOf(dialect))
  const hint = newer
    ? 'It is one of 2020-12: write $schema: "https://json-schema.org/draft/2020-12/schema" at the top.'
    : nearest === undefined
      ? 'Keywords of your own begin with x-.'
      : `Did you mean ${nearest}?`
  return { path: [...path, keyword], message, hint }
}
