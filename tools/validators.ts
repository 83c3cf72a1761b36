/**
 * Generates the validators of a bundle from the schemas that sources compile when they first need them: compiling took a start 110 ms, and
 * its library 10 MB. Each function here answers the text of the module that takes the place of another one.
 */

import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Ajv } from 'ajv'
import { _Code } from 'ajv/dist/compile/codegen/code.js'
import generateCode from 'ajv/dist/standalone/index.js'
import { configurationShape } from '../engine/config/schema/configuration-schema.ts'
import { createAjv } from '../engine/config/schema/create-ajv.ts'
import { mappingFileShape } from '../engine/config/schema/mapping-schema.ts'
import { expectedValue } from '../engine/config/schema/test-schema.ts'
import { schemasOfRoutes } from '../runtime/api/routes/index.ts'
import { createApiAjv } from '../runtime/api/validation/create-ajv.ts'
import { createCompiler } from '../runtime/plugin/configuration/create-compiler.ts'

/** In place of `engine/config/schema/validators.ts`. */
export function ownValidators(): string {
  const ajv = createAjv({ source: true, esm: true })
  const shapes = { configurationShape, mappingFileShape }
  const schemas = new Map<object, string>()
  for (const [name, { frame, lists }] of Object.entries(shapes)) {
    schemas.set(frame, `${name}.frame`)
    for (const [index, { item }] of lists.entries()) schemas.set(item, `${name}.lists[${index}].item`)
  }
  const names = [...schemas.keys()].map((schema, index) => {
    ajv.addSchema(schema, `own${index}`)
    return `own${index}`
  })
  const code = codeOf(ajv, names, new Map([...schemas, [expectedValue, 'expectedValue']]))
  const entries = [...schemas.values()].map((schema, index) => `[${schema}, own${index}]`)
  return `
    import { configurationShape } from './configuration-schema.ts'
    import { isAtMost } from './keyword-checks.ts'
    import { mappingFileShape } from './mapping-schema.ts'
    import { expectedValue } from './test-schema.ts'
    ${code}
    const validators = new Map([${entries.join(', ')}])
    export const validatorOf = (schema) => validators.get(schema)`
}

/** In place of `runtime/plugin/configuration/known-validators.ts`. */
export function pluginValidators(root: string): string {
  const ajv = createCompiler({ source: true, esm: true })
  const texts = pluginSchemas(root).map((file) => readFileSync(path.join(root, file), 'utf8'))
  const names = texts.map((text, index) => {
    ajv.addSchema(JSON.parse(text), `plugin${index}`)
    return `plugin${index}`
  })
  const code = codeOf(ajv, names)
  const entries = texts.map((text, index) => `[${JSON.stringify(digestOf(text))}, plugin${index}]`)
  return `
    import { createHash } from 'node:crypto'
    import { noteSecret } from './create-compiler.ts'
    ${code}
    const validators = new Map([${entries.join(', ')}])
    export const knownValidator = (text) => validators.get(createHash('sha256').update(text).digest('hex'))`
}

/** In place of `runtime/api/validation/validators.ts`. */
export function apiValidators(): string {
  const ajv = createApiAjv({ source: true, esm: true })
  const names = Object.entries(schemasOfRoutes()).map(([name, schema]) => {
    // Two routes may share a schema, and its code must not be written twice under one name.
    ajv.addSchema({ ...schema }, name)
    return name
  })
  return `
    import { isWellFormed, isWithin } from './text-rules.ts'
    ${codeOf(ajv, names)}
    const validators = new Map(Object.entries({ ${names.join(', ')} }))
    export const validatorOf = (name) => validators.get(name)`
}

/** The configuration schemas of the plugins, relative to the root. */
export function pluginSchemas(root: string): readonly string[] {
  return globSync('plugins/*/config.schema.json', { cwd: root }).sort()
}

/** Schemas that exist at run time are referred to by these expressions, and not written out a second time. */
function codeOf(
  ajv: Ajv,
  names: readonly string[],
  expressions: ReadonlyMap<object, string> = new Map(),
): string {
  for (const name of names) ajv.getSchema(name)
  for (const [schema, expression] of expressions) {
    const value = ajv.scope.getValue('schema', schema)?.value
    if (value !== undefined) value.code = new _Code(expression)
  }
  return generateCode.default(ajv, Object.fromEntries(names.map((name) => [name, name])))
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
