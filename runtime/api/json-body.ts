/** Reads the bodies of the admin surface: JSON objects of a few texts, whatever their content type says. */

import type { FieldError } from '@reveille/engine'
import type { FastifyInstance } from 'fastify'
import { decodeWhole } from '../http/body/decode.ts'
import { RequestError } from '../http/errors.ts'
import { unknownField } from './errors.ts'

/** The rule of one field. */
export interface TextRule {
  readonly isRequired?: boolean
  /** Bytes of UTF-8. */
  readonly maxBytes: number
}

/** The text of each field; an optional field may be absent. */
export type Texts<Rules> = {
  readonly [Name in keyof Rules]: Rules[Name] extends { readonly isRequired: true }
    ? string
    : string | undefined
}

/** Makes the scope take bodies of every content type. Fastify would refuse an invalid one before it asks a parser. */
export function takeAnyType(scope: FastifyInstance): void {
  scope.addHook('onRequest', async ({ headers }) => {
    delete headers['content-type']
  })
  scope.removeAllContentTypeParsers()
}

/** Makes every body in the scope be read as JSON. */
export function parseBodiesAsJson(scope: FastifyInstance): void {
  takeAnyType(scope)
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => decodeWhole('agent', body, undefined).payload,
  )
}

/** @throws RequestError `INVALID_BODY`, or `INVALID_FIELD` with every field that is wrong */
export function textsOf<Rules extends Readonly<Record<string, TextRule>>>(
  body: unknown,
  rules: Rules,
): Texts<Rules> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new RequestError('INVALID_BODY')
  const given = new Map(Object.entries(body).filter(([, value]) => value !== null))
  const details = [
    ...Object.entries(rules).flatMap(([name, rule]) => problem(name, given.get(name), rule)),
    ...[...given.keys()].filter((name) => !Object.hasOwn(rules, name)).map((name) => unknownField(name)),
  ]
  if (details.length > 0) throw new RequestError('INVALID_FIELD', { details })
  return Object.fromEntries(given) as Texts<Rules>
}

function problem(name: string, value: unknown, { isRequired = false, maxBytes }: TextRule): FieldError[] {
  const wrong = (message: string): FieldError[] => [{ pointer: `/${name}`, message }]
  if (value === undefined) return isRequired ? wrong('is required') : []
  if (typeof value !== 'string') return wrong('must be a string')
  if (value.trim() === '')
    return wrong(isRequired ? 'must not be blank' : 'must not be blank; leave it out instead')
  if (!value.isWellFormed()) return wrong('must be well-formed Unicode text')
  return Buffer.byteLength(value) > maxBytes
    ? wrong(`must have at most ${maxBytes.toLocaleString('en')} bytes of UTF-8`)
    : []
}
