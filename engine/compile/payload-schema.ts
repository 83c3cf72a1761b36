/** Owns a mapping's `schema`: read once at load, asked for each payload that matched. */

import { Ajv, MissingRefError, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { isRecord } from '../config/is-record.ts'
import { readPointer } from '../config/path.ts'
import { regExpEngineForAjv } from '../regex/ajv-engine.ts'
import { RegexLimitError } from '../regex/regex.ts'
import type { FieldError } from '../resolve/decision.ts'
import type { Program } from '../resolve/program.ts'
import type { Report } from './report.ts'
import { formatsFor } from './schema/formats.ts'
import { addKeywords } from './schema/keywords.ts'
import { createSchemaMeter, SchemaLimitError, type SchemaMeter } from './schema/meter.ts'
import { type PreparedSchema, prepareSchema, type SchemaProblem } from './schema/prepare.ts'
import { type Dialect, dialectOf } from './schema/vocabulary.ts'
import { describeErrors } from './schema/words.ts'

/** What searching one character costs the meter: the linear engine may take 100 ns for it. */
const searchedCharacter = 14

type CheckPayload = NonNullable<Program['checkPayload']>

/** Nothing for a schema that everything satisfies, and for one that was reported. */
export function compilePayloadSchema(
  schema: unknown,
  report: Report,
  known: Map<object, CheckPayload> = new Map(),
): Program['checkPayload'] {
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
  const prepared = prepareSchema(schema as boolean | object, dialect)
  for (const each of prepared.problems) problem(each)
  if (prepared.problems.length > 0) return undefined
  const meter = createSchemaMeter()
  try {
    const check = checkerOf(createAjv(dialect, meter).compile(prepared.schema), meter)
    if (isRecord(schema)) known.set(schema, check)
    return check
  } catch (error) {
    problem(compileProblem(error, prepared))
    return undefined
  }
}

/** Never throws: what goes wrong while checking is a reason to refuse the payload. */
function checkerOf(validate: ValidateFunction, meter: SchemaMeter): CheckPayload {
  return (payload) => {
    meter.reset()
    try {
      return validate(payload) ? [] : describeErrors(validate.errors ?? [])
    } catch (error) {
      return [{ pointer: '', message: limitOf(error) }]
    } finally {
      // What was found holds on to the payload.
      validate.errors = null
      meter.counted = undefined
    }
  }
}

function limitOf(error: unknown): FieldError['message'] {
  if (error instanceof SchemaLimitError || error instanceof RegexLimitError) return error.message
  if (error instanceof RangeError) return 'is nested too deeply to check'
  throw error
}

/** One for each schema, so that no `$id` meets another's and nothing outlives its snapshot. */
function createAjv(dialect: Dialect, meter: SchemaMeter): Ajv {
  const ajv = new (dialect === 'draft-07' ? Ajv : Ajv2020)({
    meta: false,
    validateSchema: false,
    strict: false,
    // A payload has the fields that it brought, and none of its prototype's.
    ownProperties: true,
    formats: formatsFor(meter),
    code: { regExp: Object.assign(meteredRegExp(meter), { code: regExpEngineForAjv.code }) },
    logger: false,
  })
  addKeywords(ajv as Ajv, meter)
  return ajv as Ajv
}

function meteredRegExp(meter: SchemaMeter) {
  return (source: string) => {
    const regex = regExpEngineForAjv(source)
    return {
      test: (text: string) => {
        meter.spend(searchedCharacter * (text.length + 1))
        return regex.test(text)
      },
      toString: () => regex.toString(),
    }
  }
}

/** The dialects' own schemas, compiled at the first load that needs them. */
const rulebooks: Partial<Record<Dialect, Ajv>> = {}

function brokenRule(schema: unknown, dialect: Dialect): SchemaProblem | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isRecord(schema))
    return { path: [], message: 'must be a JSON Schema: true, false or a map of keywords' }
  rulebooks[dialect] ??= new (dialect === 'draft-07' ? Ajv : Ajv2020)({ logger: false }) as Ajv
  const rulebook = rulebooks[dialect]
  if (rulebook.validateSchema(schema) === true) return undefined
  const error = rulebook.errors?.at(-1)
  const path = error === undefined ? [] : readPointer(error.instancePath, schema)
  if (path.at(-1) === 'type') return { path, message: `must be ${types}, or a list of them` }
  return { path, message: `${error?.message ?? 'is not valid'} (JSON Schema ${dialect})` }
}

const types = 'string, number, integer, boolean, null, object or array'

/** What Ajv finds only when it follows references. */
function compileProblem(error: unknown, { references }: PreparedSchema): SchemaProblem {
  if (!(error instanceof MissingRefError)) {
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
