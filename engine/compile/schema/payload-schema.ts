/** Compiles a mapping's `schema` once at load. It is checked for each payload that matched. */

import { createRequire } from 'node:module'
import type { Ajv, MissingRefError, ValidateFunction } from 'ajv'
import { isRecord } from '../../config/values/is-record.ts'
import { didYouMean } from '../../config/values/nearest.ts'
import { type Path, readPointer } from '../../config/values/path.ts'
import { compileRegex, RegexLimitError, RegexSyntaxError } from '../../regex/regex.ts'
import type { FieldError } from '../../resolve/model/decision.ts'
import type { CheckPayload } from '../../resolve/model/program.ts'
import type { Report } from '../fields/report.ts'
import { uniqueItems } from './unique-items.ts'
import { describeErrors } from './words.ts'

/** The libraries are loaded for the first mapping that has a schema: they take 40 ms and some megabytes, and a gateway may do without. */
const require = createRequire(import.meta.url)

type Dialect = 'draft-07' | '2020-12'

function ajvOf(dialect: Dialect): typeof Ajv {
  if (dialect === 'draft-07') return (require('ajv') as typeof import('ajv')).Ajv
  // Both classes are created and used alike.
  return (require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')).Ajv2020 as unknown as typeof Ajv
}

/** Returns undefined for an unsupported dialect. */
function dialectOf(schema: unknown): Dialect | undefined {
  const named = isRecord(schema) ? schema['$schema'] : undefined
  if (named === undefined) return 'draft-07'
  if (typeof named !== 'string') return undefined
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(named)) return 'draft-07'
  return /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(named) ? '2020-12' : undefined
}

interface SchemaProblem {
  /** The path from the schema's root. */
  readonly path: Path
  /** Completes a sentence that begins with the place's name. */
  readonly message: string
  readonly hint?: string
  readonly offset?: number
}

/** Keyed by the schema object: a file that several mappings name is one object. */
export type SharedSchemas = Map<object, CheckPayload>

/** Returns undefined for a schema that every payload satisfies, and for one that was reported. */
export function compilePayloadSchema(
  schema: unknown,
  report: Report,
  known: SharedSchemas = new Map(),
): CheckPayload | undefined {
  if (schema === undefined || schema === true) return undefined
  const shared = isRecord(schema) ? known.get(schema) : undefined
  if (shared !== undefined) return shared
  const problem = (found: SchemaProblem): void =>
    report.error({ ...found, code: 'INVALID_SCHEMA', path: ['schema', ...found.path] })

  const dialect = dialectOf(schema)
  if (dialect === undefined) {
    const hint = `Leave $schema out for draft-07, or write ${newerDialect}.`
    problem({ path: ['$schema'], message: 'names a dialect other than draft-07 and 2020-12', hint })
    return undefined
  }
  const broken = brokenRule(schema, dialect)
  if (broken !== undefined) {
    problem(broken)
    return undefined
  }
  try {
    const unknown: string[] = []
    const ajv = createAjv(dialect, unknown)
    const check = checkerOf(ajv.compile(schema as object))
    for (const keyword of unknown) problem(unknownKeyword(keyword, schema, ajv))
    if (unknown.length > 0) return undefined
    if (isRecord(schema)) known.set(schema, check)
    return check
  } catch (error) {
    problem(compileProblem(error, schema))
    return undefined
  }
}

const newerDialect = '"https://json-schema.org/draft/2020-12/schema"'

/** Never throws: an error while checking is a reason to refuse the payload. Only a thread may check, which can be ended. */
function checkerOf(validate: ValidateFunction): CheckPayload {
  return (payload, containment) => {
    try {
      containment.beginUnbounded()
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
  if (error instanceof RegexLimitError) return error.message
  if (error instanceof RangeError) return 'is nested too deeply to check'
  throw error
}

/**
 * Creates an Ajv for one schema, so that no `$id` conflicts with another's and nothing outlives its snapshot. `unknown` receives
 * the names of unknown keywords.
 */
function createAjv(dialect: Dialect, unknown: string[]): Ajv {
  const { default: addFormats } = require('ajv-formats') as typeof import('ajv-formats')
  const warn = (message: string): void => {
    const keyword = /unknown keyword: "(.*)"$/.exec(message)?.[1]
    if (keyword !== undefined && !keyword.startsWith('x-')) unknown.push(keyword)
  }
  const ajv = new (ajvOf(dialect))({
    meta: false,
    validateSchema: false,
    strict: false,
    strictSchema: 'log',
    // JSON has no infinity: `1e999` is none that a `number` may be.
    strictNumbers: true,
    // A payload has its own fields, and none of its prototype.
    ownProperties: true,
    code: { regExp: Object.assign(createRegExp, { code: '' }) },
    logger: { log: warn, warn, error: warn },
  })
  ajv.removeKeyword('$async')
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword(uniqueItems)
  return addFormats(ajv)
}

/** Thrown for a pattern that cannot be read. */
class PatternError extends Error {
  readonly source: string
  override readonly cause: RegexSyntaxError

  constructor(source: string, cause: RegexSyntaxError) {
    super(cause.message)
    this.source = source
    this.cause = cause
  }
}

function createRegExp(source: string): { test(text: string): boolean; toString(): string } {
  try {
    const regex = compileRegex(source)
    return { test: (text) => regex.test(text), toString: () => `/${source}/` }
  } catch (error) {
    throw error instanceof RegexSyntaxError ? new PatternError(source, error) : error
  }
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

/** Returns the first place of which `isFound` is true, or the root. */
function findPath(schema: unknown, isFound: (key: string, value: unknown) => boolean): Path {
  const search = (value: unknown, path: Path): Path | undefined => {
    if (typeof value !== 'object' || value === null) return undefined
    for (const [key, inner] of Object.entries(value)) {
      const below = [...path, Array.isArray(value) ? Number(key) : key]
      const found = isFound(key, inner) ? below : search(inner, below)
      if (found !== undefined) return found
    }
    return undefined
  }
  return search(schema, []) ?? []
}

function unknownKeyword(keyword: string, schema: unknown, { RULES }: Ajv): SchemaProblem {
  return {
    path: findPath(schema, (key) => key === keyword),
    message: 'is no keyword of its dialect of JSON Schema',
    hint: didYouMean(
      keyword,
      Object.keys(RULES.all),
      `Keywords of your own begin with x-; those of 2020-12 need $schema: ${newerDialect} at the top.`,
    ),
  }
}

/** Describes a mistake that Ajv detects only when it compiles. */
function compileProblem(error: unknown, schema: unknown): SchemaProblem {
  if (error instanceof PatternError) {
    const { source, message, cause } = error
    const path = findPath(schema, (key, value) => (key === 'pattern' && value === source) || key === source)
    return { path, message, hint: cause.hint, ...(path.at(-1) === 'pattern' && { offset: cause.offset }) }
  }
  const { missingRef, message } = error as Partial<MissingRefError>
  if (missingRef === undefined) {
    const format = /^unknown format "(.*?)"/.exec(message ?? '')?.[1]
    return {
      path:
        format === undefined ? [] : findPath(schema, (key, value) => key === 'format' && value === format),
      message: `cannot be compiled: ${message ?? 'unknown error'}`,
    }
  }
  const isInside = missingRef.startsWith('#')
  return {
    path: findPath(
      schema,
      (key, value) => /^\$(ref|dynamicRef)$/.test(key) && value !== '' && missingRef.endsWith(String(value)),
    ),
    message: isInside
      ? 'leads to nothing in this schema'
      : 'leads out of this schema, and nothing is fetched',
    hint: isInside ? 'Write "#/$defs/name" or "#/definitions/name".' : 'Copy what it names into $defs.',
  }
}
