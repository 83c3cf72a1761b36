/** Lists the keywords of JSON Schema, and what each contains. */

import { isRecord } from '../../config/values/is-record.ts'

export type Dialect = 'draft-07' | '2020-12'

/** How the value of a keyword is read. A schema may be a list of schemas, and a value in a map may be a list of names. */
export type Holds = 'schema' | 'map' | 'value'

const shared: Readonly<Record<string, Holds>> = {
  __proto__: null as never,
  additionalProperties: 'schema',
  contains: 'schema',
  else: 'schema',
  if: 'schema',
  not: 'schema',
  propertyNames: 'schema',
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so.
  then: 'schema',
  allOf: 'schema',
  anyOf: 'schema',
  oneOf: 'schema',
  definitions: 'map',
  $defs: 'map',
  patternProperties: 'map',
  properties: 'map',
  ...values(
    'type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern',
    'maxItems minItems uniqueItems maxProperties minProperties required format',
    '$id $schema $ref $comment title description default examples readOnly writeOnly',
    'contentEncoding contentMediaType',
  ),
}

const vocabularies: Readonly<Record<Dialect, Readonly<Record<string, Holds>>>> = {
  'draft-07': {
    __proto__: null as never,
    ...shared,
    items: 'schema',
    additionalItems: 'schema',
    dependencies: 'map',
  },
  '2020-12': {
    __proto__: null as never,
    ...shared,
    items: 'schema',
    prefixItems: 'schema',
    unevaluatedItems: 'schema',
    unevaluatedProperties: 'schema',
    dependentSchemas: 'map',
    ...values('dependentRequired maxContains minContains deprecated contentSchema'),
    ...values('$anchor $dynamicRef $dynamicAnchor $vocabulary'),
  },
}

/** Returns undefined for a keyword that the dialect does not have. */
export function holdsOf(keyword: string, dialect: Dialect): Holds | undefined {
  return vocabularies[dialect][keyword]
}

export function keywordsOf(dialect: Dialect): string[] {
  return Object.keys(vocabularies[dialect])
}

/** Returns the dialect of `$schema`, or undefined for an unsupported one. */
export function dialectOf(schema: unknown): Dialect | undefined {
  const named = isRecord(schema) ? schema.$schema : undefined
  if (named === undefined) return 'draft-07'
  if (typeof named !== 'string') return undefined
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(named)) return 'draft-07'
  return /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(named) ? '2020-12' : undefined
}

function values(...lines: readonly string[]): Record<string, Holds> {
  return Object.fromEntries(lines.flatMap((line) => line.split(' ')).map((word) => [word, 'value' as const]))
}
