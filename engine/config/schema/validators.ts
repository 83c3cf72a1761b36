/**
 * Gives the validator of each of our schemas. In a bundle, code that was generated from the same schemas takes the place of this file; see
 * `tools/validators.ts`.
 */

import type { Ajv, ValidateFunction } from 'ajv'
import type { TSchema } from 'typebox'
import { createAjv } from './create-ajv.ts'

/** Schemas never change, so each is compiled once, when it is first needed. */
const validators = new WeakMap<TSchema, ValidateFunction>()
let ajv: Ajv | undefined

export function validatorOf(schema: TSchema): ValidateFunction {
  let validate = validators.get(schema)
  if (!validate) {
    // Optimising the code would take longer at each start than it saves.
    ajv ??= createAjv({ optimize: false })
    validate = ajv.compile(schema)
    validators.set(schema, validate)
  }
  return validate
}
