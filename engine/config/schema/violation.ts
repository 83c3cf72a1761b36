/** Describes a value that violates its schema. */

import type { ErrorObject } from 'ajv'
import type { Finding } from '../file/diagnostic.ts'
import { foreignComment } from '../file/syntax.ts'
import { didYouMean } from '../values/nearest.ts'
import { type Path, readPointer } from '../values/path.ts'
import { inLargestUnit } from '../values/quantities.ts'
import { foreignKey, foreignName, shorthand } from './foreign-keys.ts'
import type { SchemaNode } from './keywords.ts'

/** The blocks of a configuration, which may be pasted with their indentation. */
const topLevel: ReadonlySet<string> = new Set(['gateway', 'hooks', 'agents', 'channels', 'sources'])

type Properties = Readonly<Record<string, SchemaNode>>

/** Turns one of the schema's errors into a finding. `root` is the checked value. The finding quotes no value. */
export function describeViolation(error: ErrorObject, root: unknown): Finding | undefined {
  const path = readPointer(error.instancePath, root)
  const schema = (error.parentSchema ?? {}) as SchemaNode
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownKey(
        [...path, String(error.params['additionalProperty'])],
        schema.properties ?? {},
        error.data as Readonly<Record<string, unknown>>,
      )
    case 'propertyNames': {
      const hint = `Names are ${(error.schema as SchemaNode).expects}.`
      const key = [...path, String(error.params['propertyName'])]
      return { path: key, at: 'key', code: 'INVALID_NAME', problem: 'is not a good name', hint }
    }
    case 'required': {
      const missing = String(error.params['missingProperty'])
      const hint = `Write \`${missing}:\` here; it has no default.`
      return { path: [...path, missing], code: 'MISSING_KEY', problem: 'is missing', hint }
    }
    case 'pattern':
      // The pattern is that of a name, which `propertyNames` has reported.
      return error.propertyName === undefined ? invalid(path, schema, error.data) : undefined
    case 'minItems':
      return empty(path, 'list', 'Write what belongs into it, or remove the key.')
    case 'minProperties':
      return empty(path, 'map', knownHere(schema.properties ?? {}))
    case 'maxMs':
      return {
        ...invalid(path, schema, error.data),
        hint: `At most ${inLargestUnit(error.schema as number)}.`,
      }
    default:
      return invalid(path, schema, error.data)
  }
}

function unknownKey(
  path: Path,
  known: Properties,
  beside: Readonly<Record<string, unknown>>,
): Finding | undefined {
  const foreign = foreignKey(path, beside)
  if (foreign !== undefined) return foreign === 'none' ? undefined : foreign
  return { path, at: 'key', code: 'UNKNOWN_KEY', problem: 'is not a known key', hint: guess(path, known) }
}

function guess(path: Path, known: Properties): string {
  const name = String(path.at(-1))
  if (/^\/[/*]/.test(name)) return foreignComment
  if (/^[\w$-]+:[^:]/.test(name)) return 'Write a space after the colon, or quotes around the key.'
  const foreign = foreignName(path)
  if (foreign !== undefined) return foreign
  if (path.length === 2 && topLevel.has(name))
    return `Begin it in the first column: it belongs beside \`${path[0]}\`.`
  const names = Object.keys(known)
  // The key belongs to a neighbouring map, and is one level too high.
  const owners = names.filter((each) => Object.hasOwn(known[each]?.properties ?? {}, name))
  if (owners.length > 0) return `It belongs under ${owners.map((each) => `\`${each}\``).join(' or ')}.`
  return didYouMean(name, names, knownHere(known))
}

function knownHere(properties: Properties): string {
  return `Known here: ${Object.keys(properties).join(', ')}.`
}

function empty(path: Path, kind: 'list' | 'map', hint: string): Finding {
  return { path, code: 'INVALID_VALUE', problem: `must be a ${kind} with something in it`, hint }
}

function invalid(path: Path, schema: SchemaNode, value: unknown): Finding {
  const problem = `must be ${expectation(schema)}`
  return { path, code: 'INVALID_VALUE', problem, hint: schema.hint ?? remedy(path, schema, value) }
}

function expectation(schema: SchemaNode): string {
  if (schema.expects) return schema.expects
  if (schema.enum) return `one of ${schema.enum.join(', ')}`
  switch (schema.type) {
    case 'integer':
      return wholeNumber(schema)
    case 'boolean':
      return 'true or false'
    case 'array':
      return 'a list'
    case 'object':
      return 'a map of keys'
    default:
      return schema.minLength ? 'a string that is not blank' : 'a string'
  }
}

function wholeNumber({ minimum, maximum }: SchemaNode): string {
  if (minimum === undefined) return 'a whole number'
  return maximum === undefined
    ? `a whole number of at least ${minimum}`
    : `a whole number from ${minimum} to ${maximum}`
}

function remedy(path: Path, schema: SchemaNode, value: unknown): string | undefined {
  const takes = (type: string) =>
    schema.type === type || (Array.isArray(schema.type) && schema.type.includes(type))
  if (schema.enum && typeof value === 'string') {
    if (schema.enum.some((each) => typeof each === 'number' && String(each) === value)) return bare
    return didYouMean(
      value,
      schema.enum.filter((each) => typeof each === 'string'),
    )
  }
  if (takes('boolean') && typeof value === 'string')
    return 'Write it without quotes; yes, no, on and off are strings.'
  if (takes('integer') && typeof value === 'string') return bare
  const isUnquoted =
    (typeof value === 'boolean' && !takes('boolean')) ||
    (typeof value === 'number' && !takes('integer') && !takes('number'))
  if (takes('string') && isUnquoted)
    return isGoodText(schema, String(value)) ? 'Put it in quotes.' : undefined
  if (schema.type === 'string' && Array.isArray(value)) return 'Write one string here, not a list.'
  const primary = (value as { primary?: unknown } | null)?.primary
  if (path.at(-1) === 'model' && typeof primary === 'string')
    return `Write \`model: ${primary}\`; \`fallbacks\` of OpenClaw have no counterpart here.`
  if (takes('array') && typeof value === 'string') return 'Write `[one, two]`, or one `- item` per line.'
  const longhand = schema.type === 'object' ? shorthand(path) : undefined
  if (longhand !== undefined) return longhand
  if (takes('object') && Array.isArray(value)) return 'Write keys here, not a list.'
  if (schema.type === 'object' && schema.properties && typeof value !== 'object')
    return knownHere(schema.properties)
  return undefined
}

const bare = 'Write it without quotes and without a unit.'

function isGoodText(schema: SchemaNode, text: string): boolean {
  if (schema.enum) return schema.enum.includes(text)
  return schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(text)
}
