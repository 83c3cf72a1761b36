/**
 * Checks the queries of routes against their schemas, which use a few words of JSON Schema only. Fastify's own way compiles each schema at a start,
 * with a library that nothing else of a gateway needs.
 */

import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify'

interface Rule {
  readonly type: 'string' | 'integer' | 'boolean'
  readonly enum?: readonly string[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

interface QuerySchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, Rule>>
  readonly additionalProperties: false
}

type Value = string | number | boolean | readonly string[]
type Violation = Omit<FastifySchemaValidationError, 'instancePath' | 'schemaPath'>

/** The validator of a query replaces texts by what the rules say that they stand for, and reports the first violation. */
export const compileQuery: FastifySchemaCompiler<unknown> = ({ schema }) => {
  const { properties } = schema as QuerySchema
  return (query: Record<string, Value>) => {
    const unknown = Object.keys(query).find((name) => !Object.hasOwn(properties, name))
    if (unknown !== undefined) {
      const message = 'must NOT have additional properties'
      return refusal({ keyword: 'additionalProperties', params: { additionalProperty: unknown }, message })
    }
    for (const [name, rule] of Object.entries(properties)) {
      const given = query[name]
      if (given === undefined) continue
      const value = readAs(given, rule.type)
      const violation = violationOf(value, rule)
      if (violation !== undefined) return refusal(violation, name)
      query[name] = value as Value
    }
    return { value: query }
  }
}

function refusal(violation: Violation, name?: string) {
  const place = name === undefined ? '' : `/${name}`
  return { error: [{ ...violation, instancePath: place, schemaPath: '' }] as never }
}

/** Returns undefined where the text stands for no value of the type. A name that was given once may come as a list. */
function readAs(given: Value, type: Rule['type']): Value | undefined {
  const text = Array.isArray(given) && given.length === 1 ? given[0] : given
  if (typeof text !== 'string') return undefined
  if (type === 'string') return text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined
  return text !== '' && Number.isInteger(Number(text)) ? Number(text) : undefined
}

function violationOf(value: Value | undefined, rule: Rule): Violation | undefined {
  if (value === undefined) {
    return { keyword: 'type', params: { type: rule.type }, message: `must be ${rule.type}` }
  }
  const limited = (keyword: string, limit: number, message: string, params: object = {}): Violation => ({
    keyword,
    params: { ...params, limit },
    message,
  })
  if (typeof value === 'string') {
    const { enum: values, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = rule
    const length = [...value].length
    if (length > maxLength) {
      return limited('maxLength', maxLength, `must NOT have more than ${maxLength} characters`)
    }
    if (length < minLength)
      return limited('minLength', minLength, `must NOT have fewer than ${minLength} characters`)
    if (values?.includes(value) === false) {
      const message = 'must be equal to one of the allowed values'
      return { keyword: 'enum', params: { allowedValues: [...values] }, message }
    }
  }
  if (typeof value === 'number') {
    const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = rule
    if (value > maximum) return limited('maximum', maximum, `must be <= ${maximum}`, { comparison: '<=' })
    if (value < minimum) return limited('minimum', minimum, `must be >= ${minimum}`, { comparison: '>=' })
  }
  return undefined
}
