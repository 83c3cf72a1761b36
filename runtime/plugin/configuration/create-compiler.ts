/** Creates the compiler of plugins' configuration schemas. */

import { parseDuration } from '@reveille/engine'
import { Ajv2020 } from 'ajv/dist/2020.js'

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

function noteSecret(isSecret: boolean, value: unknown): true {
  if (isSecret && typeof value === 'string' && !noSecrets.has(value)) secrets.add(value)
  return true
}

export function createCompiler(): Ajv2020 {
  const created = new Ajv2020({
    // Formats are not validated: `format` documents a value, and `pattern` decides.
    validateFormats: false,
    // Optimising the code would take longer than running it.
    code: { optimize: false },
    allErrors: true,
    useDefaults: true,
    verbose: true,
    allowUnionTypes: true,
  })
  created.addKeyword({ keyword: 'x-secret', schemaType: 'boolean', validate: noteSecret, errors: false })
  // Commands that ask a person for a configuration read these two; see commands/channel-offer.ts.
  created.addKeyword({ keyword: 'x-env', schemaType: 'string' })
  created.addKeyword({ keyword: 'x-ask', schemaType: 'boolean' })
  // Says in words what a pattern means; see `problemOf`.
  created.addKeyword({ keyword: 'x-form', schemaType: 'string' })
  created.addKeyword({
    keyword: 'x-max-duration',
    schemaType: 'string',
    validate: (max: string, value: string) => parseDuration(value) <= parseDuration(max),
  })
  // The release that brought a key, for the page that lists them.
  return created
}
