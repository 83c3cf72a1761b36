/** Creates the compiler of the API's schemas. `tools/validators.ts` generates the validators of the bundle with the same one. */

import { _, Ajv, type Code, type KeywordCxt, type Options } from 'ajv'
import { isWellFormed, isWithin } from './text-rules.ts'

export function createApiAjv(code: NonNullable<Options['code']>): Ajv {
  // Checking the schemas would take longer than it saves. Tests check the schemas.
  const ajv = new Ajv({ code, allErrors: true, validateSchema: false, meta: false })
  ajv.addKeyword('expects')
  ajv.addKeyword({
    keyword: 'x-wellFormed',
    type: 'string',
    code: (cxt) => cxt.fail(_`!${functionIn(cxt, isWellFormed, _`isWellFormed`)}(${cxt.data})`),
  })
  ajv.addKeyword({
    keyword: 'x-maxBytes',
    type: 'string',
    code: (cxt) => cxt.fail(_`!${functionIn(cxt, isWithin, _`isWithin`)}(${cxt.schema}, ${cxt.data})`),
  })
  return ajv
}

/** Names a function in compiled code. `code` is what generated code calls it. */
function functionIn({ gen }: KeywordCxt, ref: (...given: never[]) => boolean, code: Code): Code {
  return gen.scopeValue('func', { ref, code })
}
