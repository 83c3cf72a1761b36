/**
 * Checks that a request is as Google describes it: each parameter and field is known, of its type, and present if
 * required. The messages are those of Google's servers.
 */

import type { Violation } from '../refusal.ts'
import type { Operation } from './operations.ts'
import type { Field, Fields, Type } from './typings.ts'

export type Values = Readonly<Record<string, unknown>>

/** The query parameters as values of their types. */
export function readQuery(
  operation: Operation,
  query: URLSearchParams,
): { values: Values; violations: Violation[] } {
  const values: Record<string, unknown> = {}
  const violations: Violation[] = []
  for (const name of new Set(query.keys())) {
    const field = operation.inQuery.get(name)
    const texts = query.getAll(name)
    if (field === undefined) {
      const description = `Invalid JSON payload received. Unknown name "${name}": Cannot bind query parameter. Field '${name}' could not be found in request message.`
      violations.push({ field: '', description })
      continue
    }
    if (field.type.kind === 'list') {
      const { of } = field.type
      values[name] = texts.map((text) => readText(name, text, of, violations))
      continue
    }
    const [text = ''] = texts
    if (texts.length > 1) violations.push(invalid(name, field.type, texts))
    values[name] = readText(name, text, field.type, violations)
  }
  for (const [name, field] of operation.inQuery) {
    if (isRequired(field) && (values[name] === undefined || values[name] === '')) {
      violations.push({ field: name, description: `Missing required field: ${name}` })
    }
  }
  return { values, violations }
}

function readText(name: string, text: string, type: Type, violations: Violation[]): unknown {
  switch (type.kind) {
    case 'number':
      if (isInteger(text)) return Number(text)
      break
    case 'boolean':
      if (/^(true|false)$/.test(text)) return text === 'true'
      break
    case 'string':
      if (type.values === undefined || type.values.includes(text)) return text
      break
  }
  violations.push(invalid(name, type, text))
  return undefined
}

export interface Bodies {
  readonly schemas: ReadonlyMap<string, Fields>
  /** Fields that the path supplies. */
  readonly bound: readonly string[]
}

/** `body` is the parsed JSON, or undefined if the request has no body. */
export function checkBody(operation: Operation, body: unknown, { schemas, bound }: Bodies): Violation[] {
  const { body: type } = operation
  if (type === undefined) {
    const isEmpty =
      body === undefined ||
      (typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0)
    return isEmpty ? [] : [{ field: '', description: 'Request body must be empty.' }]
  }
  return checkValue(body ?? {}, type, '', schemas, bound)
}

/** Returns what of an answer differs from its description. The fake's own answers are checked as well. */
export function checkAnswer(
  { answer }: Operation,
  value: unknown,
  schemas: ReadonlyMap<string, Fields>,
): Violation[] {
  return checkValue(value, answer, '', schemas).filter(
    ({ description }) => !description.startsWith('Missing'),
  )
}

function checkValue(
  value: unknown,
  type: Type,
  at: string,
  schemas: ReadonlyMap<string, Fields>,
  bound: readonly string[] = [],
): Violation[] {
  // In the JSON of protocol buffers, null means an absent field. https://protobuf.dev/programming-guides/json/
  if (value === null && at !== '') return []
  switch (type.kind) {
    case 'any':
      return []
    case 'nothing':
      return [invalid(at, type, value)]
    case 'string': {
      const isKnown = type.values === undefined || type.values.includes(String(value))
      return typeof value === 'string' && isKnown ? [] : [invalid(at, type, value)]
    }
    case 'number':
      return typeof value !== 'boolean' && isInteger(String(value)) ? [] : [invalid(at, type, value)]
    case 'boolean':
      return typeof value === 'boolean' ? [] : [invalid(at, type, value)]
    case 'list':
      if (!Array.isArray(value)) return [invalid(at, type, value)]
      return value.flatMap((each, index) =>
        each === null
          ? [invalid(`${at}[${index}]`, type.of, each)]
          : checkValue(each, type.of, `${at}[${index}]`, schemas),
      )
    case 'map':
      if (!isRecord(value)) return [notRepeating(at, value) ?? invalid(at, type, value)]
      return Object.entries(value).flatMap(([key, each]) =>
        checkValue(each, type.of, `${at}[${key}]`, schemas),
      )
    case 'object':
      return checkFields(value, type.fields, at, schemas, bound)
    case 'schema': {
      const fields = schemas.get(type.name)
      if (fields === undefined) throw new Error(`The typings do not describe ${type.name}.`)
      return checkFields(value, fields, at, schemas, bound)
    }
  }
}

function checkFields(
  value: unknown,
  fields: Fields,
  at: string,
  schemas: ReadonlyMap<string, Fields>,
  bound: readonly string[],
): Violation[] {
  if (!isRecord(value)) return [notRepeating(at, value) ?? invalid(at, { kind: 'object', fields }, value)]
  const violations: Violation[] = []
  for (const [name, each] of Object.entries(value)) {
    const field = fields.get(name)
    if (field !== undefined) {
      violations.push(...checkValue(each, field.type, pathOf(at, name), schemas))
      continue
    }
    const where = at === '' ? '' : ` at '${at}'`
    const description = `Invalid JSON payload received. Unknown name "${name}"${where}: Cannot find field.`
    violations.push({ field: at, description })
  }
  for (const [name, field] of fields) {
    if (!isRequired(field) || bound.includes(name)) continue
    const given = value[name]
    const isThere = Array.isArray(given)
      ? given.length > 0
      : given !== undefined && given !== null && given !== ''
    if (!isThere) {
      const path = pathOf(at, name)
      violations.push({ field: path, description: `Missing required field: ${path}` })
    }
  }
  return violations
}

/** The discovery documents say this in words. */
function isRequired({ description }: Field): boolean {
  return /^required[.:]/i.test(description)
}

function invalid(field: string, type: Type, value: unknown): Violation {
  return {
    field,
    description: `Invalid value at '${field}' (${nameOf(type)}), ${JSON.stringify(value)}`,
  }
}

function notRepeating(at: string, value: unknown): Violation | undefined {
  if (!Array.isArray(value)) return undefined
  const where = at === '' ? '' : ` at '${at}'`
  return {
    field: at,
    description: `Invalid JSON payload received. Unknown name ""${where}: Proto field is not repeating, cannot start list.`,
  }
}

function nameOf(type: Type): string {
  switch (type.kind) {
    case 'string':
      return type.values === undefined ? 'TYPE_STRING' : 'TYPE_ENUM'
    case 'number':
      return 'TYPE_INT32'
    case 'boolean':
      return 'TYPE_BOOL'
    default:
      return 'TYPE_MESSAGE'
  }
}

/** All numbers in requests are whole ones of 32 bits. Google accepts them as texts too. */
function isInteger(text: string): boolean {
  return /^-?\d+$/.test(text) && Math.abs(Number(text)) < 2 ** 31
}

/** Google accepts `pushConfig.oidcToken` as `push_config.oidc_token` too. */
function pathOf(at: string, name: string): string {
  const inSnakeCase = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return at === '' ? inSnakeCase : `${at}.${inSnakeCase}`
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
