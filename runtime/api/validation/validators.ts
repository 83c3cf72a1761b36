/**
 * Gives the validators of queries and bodies. In a bundle, code that was generated from the same schemas takes the place of this file; see
 * `tools/validators.ts`.
 */

import type { Ajv, ValidateFunction } from 'ajv'
import { createApiAjv } from './create-ajv.ts'

/** Schemas never change, so each is compiled once, when it is first needed. */
const validators = new Map<string, ValidateFunction>()
let ajv: Ajv | undefined

/** `name` is that of the schema in `schemasOfRoutes`. */
export function validatorOf(name: string, schema: object): ValidateFunction {
  let validate = validators.get(name)
  if (!validate) {
    ajv ??= createApiAjv({ optimize: false })
    validate = ajv.compile(schema)
    validators.set(name, validate)
  }
  return validate
}
