/** Compiles the schemas of queries and bodies, each when it is first needed. */

import { Ajv, type ValidateFunction } from 'ajv'

const validators = new Map<string, ValidateFunction>()
let ajv: Ajv | undefined

/** `name` is that of the schema in `schemasOfRoutes`. */
export function validatorOf(name: string, schema: object): ValidateFunction {
  let validate = validators.get(name)
  if (!validate) {
    ajv ??= createAjv()
    validate = ajv.compile(schema)
    validators.set(name, validate)
  }
  return validate
}

function createAjv(): Ajv {
  // Optimising the code and checking the schemas would take longer than it saves. Tests check the schemas.
  const created = new Ajv({ code: { optimize: false }, allErrors: true, validateSchema: false, meta: false })
  created.addKeyword('expects')
  created.addKeyword({ keyword: 'x-wellFormed', type: 'string', validate: isWellFormed, errors: false })
  created.addKeyword({ keyword: 'x-maxBytes', type: 'string', validate: isWithin, errors: false })
  return created
}

function isWellFormed(_: unknown, text: string): boolean {
  return text.isWellFormed()
}

/** Whether the string has at most this many bytes in UTF-8. */
function isWithin(maxBytes: number, text: string): boolean {
  return text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes
}
