/** Checks a value against its schema, fills in defaults and returns findings. */

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import type { Finding } from '../diagnostic/diagnostic.ts'
import { parseDuration } from '../duration.ts'
import { type Path, touches } from '../path.ts'
import { keywords } from './keywords.ts'
import { expectedValue } from './test-schema.ts'
import { describeViolation } from './violation.ts'

/** Fills in the value's defaults in place. {@link describeErrors} describes the errors. */
export function validateValue(schema: TSchema, value: unknown): readonly ErrorObject[] {
  const validate = validatorOf(schema)
  return validate(value) ? [] : (validate.errors ?? [])
}

/** Returns all findings about a value at `above`. */
export function describeErrors(errors: readonly ErrorObject[], value: unknown, above: Path = []): Finding[] {
  const findings = errors.map((error) => describeViolation(error, value, above))
  return worthSaying(findings.filter((finding) => finding !== undefined))
}

/** Drops findings inside of a value that is refused as a whole, and merges two violations of one rule. */
function worthSaying(findings: readonly Finding[]): Finding[] {
  const early = findings.filter(({ code }) => code === 'NOT_YET_SUPPORTED')
  const said = new Set<string>()
  return findings.filter((finding) => {
    if (early.some(({ path }) => path !== finding.path && covers(path, finding.path))) {
      if (finding.code !== 'NOT_YET_SUPPORTED') return false
    }
    return !said.has(finding.message) && said.add(finding.message)
  })
}

function covers(outer: Finding['path'], inner: Finding['path']): boolean {
  return outer.length <= inner.length && touches(outer, inner)
}

/** Schemas never change, so each is compiled once, when it is first needed. */
const validators = new WeakMap<TSchema, ValidateFunction>()
let ajv: Ajv | undefined

function validatorOf(schema: TSchema): ValidateFunction {
  let validate = validators.get(schema)
  if (!validate) {
    ajv ??= createAjv()
    validate = ajv.compile(schema)
    validators.set(schema, validate)
  }
  return validate
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
    useDefaults: true,
    allowUnionTypes: true,
  })
  for (const keyword of keywords) created.addKeyword(keyword)
  created.addKeyword({
    keyword: 'later',
    validate: (_: true, value: unknown) => isEmpty(value),
  })
  created.addSchema(expectedValue)
  created.addKeyword({
    keyword: 'atMostMs',
    type: 'string',
    validate: (limit: number, value: string) => {
      try {
        return parseDuration(value) <= limit
      } catch {
        return true
      }
    },
  })
  return created
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}
