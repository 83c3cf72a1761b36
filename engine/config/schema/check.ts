/** Checks a value against its schema, fills in defaults and returns findings. */

import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import type { Finding } from '../file/diagnostic.ts'
import { parseDuration } from '../values/duration.ts'
import type { Path } from '../values/path.ts'
import { type FormName, forms, keywords } from './keywords.ts'
import { expectedValue } from './test-schema.ts'
import { describeViolation } from './violation.ts'

/** Schemas never change, so each is compiled once, when it is first needed. */
const validators = new WeakMap<TSchema, ValidateFunction>()
let ajv: Ajv | undefined

/** Fills in the value's defaults in place. {@link describeErrors} describes the errors. */
export function validateValue(schema: TSchema, value: unknown): readonly ErrorObject[] {
  let validate = validators.get(schema)
  if (!validate) {
    ajv ??= createAjv()
    validate = ajv.compile(schema)
    validators.set(schema, validate)
  }
  return validate(value) ? [] : (validate.errors ?? [])
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
  created.addKeyword({ keyword: 'maxMs', type: 'string', validate: isAtMost, errors: false })
  created.addKeyword({ keyword: 'form', type: 'string', validate: hasForm, errors: false })
  created.addSchema(expectedValue)
  return created
}

function hasForm(name: FormName, value: string): boolean {
  return forms[name](value)
}

/** A string that is no duration breaks another rule. */
function isAtMost(limit: number, value: string): boolean {
  try {
    return parseDuration(value) <= limit
  } catch {
    return true
  }
}

/** Returns all findings about a value at `above`. Two violations of one rule become one finding. */
export function describeErrors(errors: readonly ErrorObject[], value: unknown, above: Path = []): Finding[] {
  const findings = new Map<string, Finding>()
  for (const error of errors) {
    const finding = describeViolation(error, value, above)
    if (finding && !findings.has(finding.message)) findings.set(finding.message, finding)
  }
  return [...findings.values()]
}
