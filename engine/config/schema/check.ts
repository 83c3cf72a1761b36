/** Checks a value against its schema, fills in defaults and returns findings. */

import { Ajv, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import type { Finding } from '../file/diagnostic.ts'
import { parseDuration } from '../values/quantities.ts'
import { formats, keywords } from './keywords.ts'
import { expectedValue } from './test-schema.ts'
import { describeViolation } from './violation.ts'

/** Schemas never change, so each is compiled once, when it is first needed. */
const validators = new WeakMap<TSchema, ValidateFunction>()
let ajv: Ajv | undefined

/** Fills in the value's defaults in place, and returns all findings. Two violations of one rule become one finding. */
export function checkValue(schema: TSchema, value: unknown): Finding[] {
  ajv ??= createAjv()
  const validate = validators.get(schema) ?? ajv.compile(outlined(schema, ajv))
  validators.set(schema, validate)
  if (validate(value)) return []
  const findings = new Map<string, Finding>()
  for (const error of validate.errors ?? []) {
    const finding = describeViolation(error, value)
    const rule = finding && JSON.stringify([finding.path, finding.problem])
    if (rule !== undefined && !findings.has(rule)) findings.set(rule, finding as Finding)
  }
  return [...findings.values()]
}

/** Returns the schema with references in place of those within it that have an `$id`, so that each is compiled once. */
function outlined(schema: TSchema, ajv: Ajv): TSchema {
  const reference = (key: string, value: { $id?: string } | undefined) => {
    const id = key === '' ? undefined : value?.$id
    if (value === undefined || id === undefined) return value
    if (ajv.schemas[id] === undefined) ajv.addSchema(outlined(value as TSchema, ajv))
    return { $ref: id }
  }
  return JSON.parse(JSON.stringify(schema, reference))
}

function createAjv(): Ajv {
  const created = new Ajv({
    // Optimising the code and checking the schemas would take longer at each start than it saves. Tests check the schemas.
    code: { optimize: false },
    validateSchema: false,
    meta: false,
    // An inlined definition would be compiled once for each place that refers to it.
    inlineRefs: false,
    allErrors: true,
    verbose: true,
    messages: false,
    useDefaults: true,
    allowUnionTypes: true,
    formats,
  })
  for (const keyword of keywords) created.addKeyword(keyword)
  created.addKeyword({ keyword: 'maxMs', type: 'string', validate: isAtMost, errors: false })
  created.addSchema(expectedValue)
  return created
}

/** A string that is no duration breaks another rule. */
function isAtMost(limit: number, value: string): boolean {
  try {
    return parseDuration(value) <= limit
  } catch {
    return true
  }
}
