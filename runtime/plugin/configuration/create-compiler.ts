/**
 * Creates the compiler of plugins' configuration schemas. The schemas of this repository's plugins are compiled when a bundle is made, so that its
 * library is loaded only for others: it takes 40 ms and some megabytes.
 */

import { createRequire } from 'node:module'
import type { Ajv2020, Options } from 'ajv/dist/2020.js'

const require = createRequire(import.meta.url)

/** `none` is written for services that want a credential and check none. */
const noSecrets = new Set(['', 'none'])

/** The secrets of the configuration that is being checked. */
let secrets = new Set<string>()

/** Returns what `check` returns, and the texts under `x-secret: true` in what it checks. */
export function collectSecrets<Result>(check: () => Result): {
  readonly result: Result
  readonly secrets: readonly string[]
} {
  secrets = new Set()
  const result = check()
  return { result, secrets: [...secrets] }
}

/** Compiled and generated code calls it. */
export function noteSecret(value: unknown): void {
  if (typeof value === 'string' && !noSecrets.has(value)) secrets.add(value)
}

export function createCompiler(code: NonNullable<Options['code']>): Ajv2020 {
  const { _, Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const created = new Ajv2020({
    // Formats are not validated: `format` documents a value, and `pattern` decides.
    validateFormats: false,
    code,
    allErrors: true,
    useDefaults: true,
    verbose: true,
  })
  created.addKeyword({
    keyword: 'x-secret',
    schemaType: 'boolean',
    code({ gen, schema, data }) {
      if (schema) gen.code(_`${gen.scopeValue('func', { ref: noteSecret, code: _`noteSecret` })}(${data})`)
    },
  })
  // Commands that ask a person for a configuration read these two; see commands/channel-offer.ts.
  created.addKeyword({ keyword: 'x-env', schemaType: 'string' })
  created.addKeyword({ keyword: 'x-ask', schemaType: 'boolean' })
  // Says in words what a pattern means; see `problemOf`.
  created.addKeyword({ keyword: 'x-form', schemaType: 'string' })
  // The release that brought a key, for the page that lists them.
  created.addKeyword({ keyword: 'x-since', schemaType: 'string' })
  return created
}
