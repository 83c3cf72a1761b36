/** Lists the keywords of JSON Schema, and what each contains. */

import { isRecord } from '../../config/values/is-record.ts'

export type Dialect = 'draft-07' | '2020-12'

/** Type of a keyword's value. A schema may be a list of schemas, and a value in a map may be a list of names. */
export type Holds = 'schema' | 'map' | 'value'

const shared = keywords({
  schema: 'additionalProperties contains else if not propertyNames then allOf anyOf oneOf items',
  map: 'definitions $defs patternProperties properties',
  value: `type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern
    maxItems minItems uniqueItems maxProperties minProperties required format
    $id $schema $ref $comment title description default examples readOnly writeOnly contentEncoding contentMediaType`,
})

const vocabularies: Readonly<Record<Dialect, ReadonlyMap<string, Holds>>> = {
  'draft-07': new Map([...shared, ...keywords({ schema: 'additionalItems', map: 'dependencies' })]),
  '2020-12': new Map([
    ...shared,
    ...keywords({
      schema: 'prefixItems unevaluatedItems unevaluatedProperties',
      map: 'dependentSchemas',
      value: `dependentRequired maxContains minContains deprecated contentSchema
        $anchor $dynamicRef $dynamicAnchor $vocabulary`,
    }),
  ]),
}

function keywords(names: Partial<Record<Holds, string>>): (readonly [string, Holds])[] {
  return Object.entries(names).flatMap(([holds, list]) =>
    list.split(/\s+/).map((name) => [name, holds as Holds] as const),
  )
}

/** Returns undefined for a keyword that the dialect does not have. */
export function holdsOf(keyword: string, dialect: Dialect): Holds | undefined {
  return vocabularies[dialect].get(keyword)
}

export function keywordsOf(dialect: Dialect): string[] {
  return [...vocabularies[dialect].keys()]
}

/** Returns the dialect of `$schema`, or undefined for an unsupported one. */
export function dialectOf(schema: unknown): Dialect | undefined {
  const named = isRecord(schema) ? schema.$schema : undefined
  if (named === undefined) return 'draft-07'
  if (typeof named !== 'string') return undefined
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema#?$/.test(named)) return 'draft-07'
  return /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/.test(named) ? '2020-12' : undefined
}
