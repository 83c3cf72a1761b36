/** Compiles the schemas of queries and bodies, each when a request first needs it, because a start would wait for all of them. */

import { Ajv, type ValidateFunction } from 'ajv'
import type { FastifySchemaCompiler } from 'fastify'

/** Compilers for Fastify. The strings of a query are read as numbers and flags where its schema says so. */
export function createValidatorCompiler(): FastifySchemaCompiler<object> {
  let ofQueries: Ajv | undefined
  let ofBodies: Ajv | undefined
  return ({ schema, httpPart }) => {
    let validate: ValidateFunction | undefined
    return (value: unknown) => {
      if (httpPart === 'querystring') ofQueries ??= createAjv(true)
      else ofBodies ??= createAjv(false)
      validate ??= (httpPart === 'querystring' ? ofQueries : ofBodies)?.compile(schema)
      return validate?.(value) ? { value } : { error: validate?.errors as never }
    }
  }
}

function createAjv(coerceTypes: boolean): Ajv {
  // Optimising the code and checking the schemas would take longer than it saves. Tests check the schemas.
  const speed = { code: { optimize: false }, validateSchema: false, meta: false }
  const created = new Ajv({ ...speed, coerceTypes, allErrors: true, verbose: true })
  created.addKeyword('expects')
  created.addKeyword({ keyword: 'x-wellFormed', type: 'string', validate: isWellFormed, errors: false })
  created.addKeyword({ keyword: 'x-maxBytes', type: 'string', validate: isWithin, errors: false })
  return created
}

function isWellFormed(_: unknown, text: string): boolean {
  return text.isWellFormed()
}

/** True if the string has at most this many bytes in UTF-8. */
function isWithin(maxBytes: number, text: string): boolean {
  return text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes
}
