/** Owns reading an author's schema before Ajv does: what is wrong with it and where, and what each part costs to check. */

import { isRecord } from '../../config/is-record.ts'
import { nearestName } from '../../config/nearest.ts'
import { compileRegex, RegexSyntaxError } from '../../regex/regex.ts'
import { isFormat } from './formats.ts'
import { type Dialect, type Holds, holdsOf, keywordsOf } from './vocabulary.ts'

/** The word that {@link prepareSchema} adds to every schema: what checking it costs, in the meter's units. */
export const costKeyword = 'reveille-cost'
/** How often checking goes through all keys of an object. */
export const loopsKeyword = 'reveille-loops'

export interface SchemaProblem {
  /** From the schema's root. */
  readonly path: readonly (string | number)[]
  /** Completes a sentence that begins with the place's name. */
  readonly message: string
  readonly hint?: string
  readonly offset?: number
}

export interface PreparedSchema {
  /** A copy that knows its cost. */
  readonly schema: boolean | object
  readonly problems: readonly SchemaProblem[]
  /** Every `$ref` and where it stands. */
  readonly references: readonly { readonly target: string; readonly path: readonly (string | number)[] }[]
}

type Path = readonly (string | number)[]

/** Of a branch that may fail without its schema failing: Ajv makes an error and throws it away. */
const branchCost = 40
const elementCost = 45

export function prepareSchema(written: boolean | object, dialect: Dialect): PreparedSchema {
  const problems: SchemaProblem[] = []
  const references: { target: string; path: Path }[] = []

  function copySchema(schema: unknown, path: Path, extra = 0): unknown {
    if (!isRecord(schema)) return schema
    const copy: Record<string, unknown> = {}
    let cost = extra
    let loops = 0
    for (const [keyword, value] of Object.entries(schema)) {
      const holds = holdsOf(keyword, dialect)
      if (holds === undefined) {
        if (!keyword.startsWith('x-')) problems.push(unknownKeyword(keyword, path, dialect))
        continue
      }
      checkValue(keyword, value, [...path, keyword])
      cost += costOf(keyword, value)
      if (goesThroughKeys(keyword, value)) loops++
      copy[keyword] = copyBelow(holds, keyword, value, [...path, keyword])
    }
    if (cost > 0) copy[costKeyword] = cost
    if (loops > 0) copy[loopsKeyword] = loops
    return copy
  }

  function copyBelow(holds: Holds, keyword: string, value: unknown, path: Path): unknown {
    const list = Array.isArray(value)
    if (holds === 'value' || (holds === 'map-or-names' && list)) return value
    if (list) {
      const extra = keyword === 'anyOf' || keyword === 'oneOf' ? branchCost : 0
      return value.map((each, index) => copySchema(each, [...path, index], extra))
    }
    if (holds === 'schema' || holds === 'schema-or-schemas') {
      return copySchema(value, path, keyword === 'contains' ? elementCost : 0)
    }
    if (!isRecord(value)) return value
    const copies = Object.entries(value).map(([name, each]) => [
      name,
      Array.isArray(each) ? each : copySchema(each, [...path, name]),
    ])
    return Object.fromEntries(copies)
  }

  function checkValue(keyword: string, value: unknown, path: Path): void {
    if ((keyword === '$ref' || keyword === '$dynamicRef') && typeof value === 'string') {
      references.push({ target: value, path })
    }
    if (keyword === 'pattern' && typeof value === 'string') checkPattern(value, path, true)
    if (keyword === 'patternProperties' && isRecord(value)) {
      for (const source of Object.keys(value)) checkPattern(source, [...path, source], false)
    }
    if (keyword === 'format' && typeof value === 'string' && !isFormat(value)) {
      const nearest = nearestName(value, isFormat.names)
      const hint =
        nearest === undefined ? `There are ${isFormat.names.join(', ')}.` : `Did you mean ${nearest}?`
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

  return { schema: copySchema(written, []) as boolean | object, problems, references }
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

function costOf(keyword: string, value: unknown): number {
  switch (keyword) {
    case 'properties':
      return isRecord(value) ? Object.keys(value).length : 1
    case 'required':
    case 'enum':
      return Array.isArray(value) ? value.length : 1
    case '$ref':
    case '$dynamicRef':
      return 4
    default:
      return 1
  }
}

function goesThroughKeys(keyword: string, value: unknown): boolean {
  switch (keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return value !== true
    case 'patternProperties':
    case 'propertyNames':
    case 'minProperties':
    case 'maxProperties':
      return true
    default:
      return false
  }
}
