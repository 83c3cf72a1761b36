/** Compiles a mapping's `schema` once at load. It is checked for each payload that matched. */

import { createRequire } from 'node:module'
import type { Ajv, MissingRefError, Options, ValidateFunction } from 'ajv'
import { isRecord } from '../../config/values/is-record.ts'
import { readPointer } from '../../config/values/path.ts'
import { compileRegex, RegexLimitError } from '../../regex/regex.ts'
import { type Containment, ContainmentLimit, uncontained } from '../../resolve/model/containment.ts'
import type { FieldError } from '../../resolve/model/decision.ts'
import type { CheckPayload } from '../../resolve/model/program.ts'
import type { Report } from '../fields/report.ts'
import { formats } from './formats.ts'
import { type CheckedSchema, checkSchema, type SchemaProblem } from './prepare.ts'
import { uniqueItems } from './unique-items.ts'
import { type Dialect, dialectOf } from './vocabulary.ts'
import { describeErrors } from './words.ts'

/** The library is loaded for the first mapping that has a schema: it takes 40 ms and some megabytes, and a gateway may do without. */
const require = createRequire(import.meta.url)

function ajvOf(dialect: Dialect): typeof Ajv {
  if (dialect === 'draft-07') return (require('ajv') as typeof import('ajv')).Ajv
  // Both classes are created and used alike.
  return (require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')).Ajv2020 as unknown as typeof Ajv
}

interface CompiledSchema {
  readonly check: CheckPayload
  /** True if checking takes linear time. */
  readonly isLinear: boolean
}

/** Keyed by the schema object: a file that several mappings name is one object. */
export type SharedSchemas = Map<object, CompiledSchema>

/** Returns undefined for a schema that every payload satisfies, and for one that was reported. */
export function compilePayloadSchema(
  schema: unknown,
  report: Report,
  known: SharedSchemas = new Map(),
): CompiledSchema | undefined {
  if (schema === undefined || schema === true) return undefined
  const shared = isRecord(schema) ? known.get(schema) : undefined
  if (shared !== undefined) return shared
  const problem = (found: SchemaProblem): void =>
    report.error({ ...found, code: 'INVALID_SCHEMA', path: ['schema', ...found.path] })

  const dialect = dialectOf(schema)
  if (dialect === undefined) {
    const hint = 'Leave $schema out for draft-07, or write "https://json-schema.org/draft/2020-12/schema".'
    problem({ path: ['$schema'], message: 'names a dialect other than draft-07 and 2020-12', hint })
    return undefined
  }
  const broken = brokenRule(schema, dialect)
  if (broken !== undefined) {
    problem(broken)
    return undefined
  }
  const checked = checkSchema(schema as boolean | object, dialect)
  for (const each of checked.problems) problem(each)
  if (checked.problems.length > 0) return undefined
  try {
    const searches = createSearches()
    const validate = createAjv(dialect, searches).compile(schema as object)
    const { isLinear } = checked
    const compiled = { check: checkerOf(validate, isLinear, searches), isLinear }
    if (isRecord(schema)) known.set(schema, compiled)
    return compiled
  } catch (error) {
    problem(compileProblem(error, checked))
    return undefined
  }
}

/** Never throws: an error while checking is a reason to refuse the payload. */
function checkerOf(validate: ValidateFunction, isLinear: boolean, searches: Searches): CheckPayload {
  return (payload, containment) => {
    searches.containment = containment
    try {
      if (!isLinear) containment.beginUnbounded()
      return validate(payload) ? [] : describeErrors(validate.errors ?? [])
    } catch (error) {
      return [{ pointer: '', message: limitOf(error) }]
    } finally {
      // Ajv's errors hold on to the payload.
      validate.errors = null
    }
  }
}

function limitOf(error: unknown): FieldError['message'] {
  if (error instanceof ContainmentLimit) return 'takes more work to check than one request may'
  if (error instanceof RegexLimitError) return error.message
  if (error instanceof RangeError) return 'is nested too deeply to check'
  throw error
}

/** Creates an Ajv for one schema, so that no `$id` conflicts with another's and nothing outlives its snapshot. */
function createAjv(dialect: Dialect, searches: Searches): Ajv {
  const ajv = new (ajvOf(dialect))({
    meta: false,
    validateSchema: false,
    strict: false,
    // JSON has no infinity: `1e999` is none that a `number` may be.
    strictNumbers: true,
    // A payload has its own fields, and none of its prototype.
    ownProperties: true,
    formats: { ...formats() },
    code: { regExp: searches.regExp },
    logger: false,
  })
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword(uniqueItems)
  return ajv
}

type RegExpEngine = NonNullable<NonNullable<Options['code']>['regExp']>

/** The regular expressions of one schema, and the containment while a payload is checked. Checking awaits nothing. */
interface Searches {
  containment: Containment
  readonly regExp: RegExpEngine
}

function createSearches(): Searches {
  const createRegExp = (source: string) => {
    const regex = compileRegex(source)
    const test = (text: string): boolean => {
      if (regex.isSlow(text)) searches.containment.beginUnbounded()
      return regex.test(text)
    }
    return { test, toString: () => `/${source}/` }
  }
  const searches: Searches = { containment: uncontained, regExp: Object.assign(createRegExp, { code: '' }) }
  return searches
}

/** The dialects' own schemas, compiled at the first load that needs them. */
const rulebooks: Partial<Record<Dialect, Ajv>> = {}

function brokenRule(schema: unknown, dialect: Dialect): SchemaProblem | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isRecord(schema))
    return { path: [], message: 'must be a JSON Schema: true, false or a map of keywords' }
  rulebooks[dialect] ??= new (ajvOf(dialect))({ logger: false })
  const rulebook = rulebooks[dialect]
  if (rulebook.validateSchema(schema) === true) return undefined
  const error = rulebook.errors?.at(-1)
  const path = error === undefined ? [] : readPointer(error.instancePath, schema)
  if (path.at(-1) === 'type') return { path, message: `must be ${types}, or a list of them` }
  return { path, message: `${error?.message ?? 'is not valid'} (JSON Schema ${dialect})` }
}

const types = 'string, number, integer, boolean, null, object or array'

function isMissingRef(error: unknown): error is MissingRefError {
  return typeof (error as Partial<MissingRefError>).missingRef === 'string'
}

/** Finds the mistakes that Ajv detects only when it follows references. */
function compileProblem(error: unknown, { references }: CheckedSchema): SchemaProblem {
  if (!isMissingRef(error)) {
    return {
      path: [],
      message: `cannot be compiled: ${error instanceof Error ? error.message : 'unknown error'}`,
    }
  }
  const { missingRef } = error
  const found = references.find(({ target }) => target === missingRef || missingRef.endsWith(target))
  const path = found?.path ?? []
  if (found?.target.startsWith('#')) {
    return {
      path,
      message: 'leads to nothing in this schema',
      hint: 'Write "#/$defs/name" or "#/definitions/name".',
    }
  }
  return {
    path,
    message: 'leads out of this schema, and nothing is fetched',
    hint: 'Copy what it names into $defs.',
  }
}
