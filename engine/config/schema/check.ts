/** Checks a value against its schema, fills in defaults and returns findings. */

import type { ErrorObject } from 'ajv'
import type { TSchema } from 'typebox'
import type { Finding } from '../diagnostic/diagnostic.ts'
import type { Path } from '../path.ts'
import { validatorOf } from './validators.ts'
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

/** Merges two violations of one rule. */
function worthSaying(findings: readonly Finding[]): Finding[] {
  const said = new Set<string>()
  return findings.filter((finding) => !said.has(finding.message) && said.add(finding.message))
}
