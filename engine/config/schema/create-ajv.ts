/** Creates the compiler of our schemas. `tools/validators.ts` generates the validators of the bundle with the same one. */

import { _, Ajv, type Code, type KeywordCxt, type Options } from 'ajv'
import { isAtMost } from './keyword-checks.ts'
import { keywords } from './keywords.ts'
import { expectedValue } from './test-schema.ts'

export function createAjv(code: NonNullable<Options['code']>): Ajv {
  const created = new Ajv({
    code,
    // Checking the schemas would take longer at each start than it saves. Tests check the schemas.
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
    keyword: 'atMostMs',
    type: 'string',
    code: (cxt) => cxt.fail(_`!${functionIn(cxt, isAtMost, _`isAtMost`)}(${cxt.schema}, ${cxt.data})`),
  })
  created.addSchema(expectedValue)
  return created
}

/** Names a function in compiled code. `code` is what generated code calls it. */
function functionIn({ gen }: KeywordCxt, ref: (...given: never[]) => boolean, code: Code): Code {
  return gen.scopeValue('func', { ref, code })
}
