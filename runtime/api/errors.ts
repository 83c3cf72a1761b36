/** Answers errors of the admin surface in the same shape as those of the hook surface. */

import type { FieldError } from '@reveille/engine'
import type { ErrorObject } from 'ajv'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import {
  type ErrorCode,
  isErrorCode,
  RequestError,
  type RequestErrorOptions,
  statusOf,
} from '../http/errors.ts'
import { describeFault } from '../http/log/fault.ts'
import { errorBody } from '../http/reply/reply.ts'
import { StoreError } from '../store/port.ts'
import type { AdminOptions } from './options.ts'
import { isOptional } from './routes/schema.ts'

/** Ends a hook or a handler. Details point into the query or the body: `/limit`. @throws RequestError */
export function refuse(code: ErrorCode, options: RequestErrorOptions = {}): never {
  throw new RequestError(code, options)
}

/** @throws RequestError `NOT_FOUND` */
export function missing(noun: string): never {
  return refuse('NOT_FOUND', { sentence: `There is no such ${noun}.` })
}

export const queryRefused = 'The query holds something that this address does not take.'

export const badCursor = new RequestError('INVALID_FIELD', {
  sentence: 'The cursor is none that a page of this list answered.',
  details: [{ pointer: '/cursor', message: 'must be the `next` of an earlier page' }],
})

/** Maximum number of faults reported per query or body. */
const maxDetails = 20

export function createFaultHandler(log: AdminOptions['log']) {
  return function replyWithError(error: FastifyError, _request: FastifyRequest, reply: FastifyReply) {
    const requestId = String(reply.getHeader('x-request-id'))
    const { code, message: sentence, details, retryAfter } = refusalOf(error) ?? faultOf(error)
    if (refusalOf(error) === undefined && code !== 'DRAINING')
      log.error({ event: 'api-failed', requestId, code, err: describeFault(error) })
    if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
    return reply.code(statusOf(code)).send(errorBody(requestId, { code, sentence, details }))
  }
}

function faultOf(error: FastifyError): RequestError {
  return new RequestError(error instanceof StoreError && isErrorCode(error.code) ? error.code : 'INTERNAL')
}

/** Undefined for a fault of the gateway. */
function refusalOf(error: FastifyError): RequestError | undefined {
  if (error instanceof RequestError) return error
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return new RequestError('BODY_TOO_LARGE')
  if (error instanceof StoreError && error.code === 'BAD_CURSOR') return badCursor
  if (error.validation === undefined) return undefined
  const details = error.validation.slice(0, maxDetails).map((fault) => detailOf(fault as ErrorObject))
  const sentence = error.validationContext === 'querystring' ? { sentence: queryRefused } : {}
  return new RequestError('INVALID_FIELD', { details, ...sentence })
}

/** Says what breaks a schema. A detail names the field and the rule, never the value. */
function detailOf({ instancePath, keyword, params, parentSchema, schema, message }: ErrorObject): FieldError {
  const at = (text: string, name?: string): FieldError => ({
    pointer: name === undefined ? instancePath : `${instancePath}/${escaped(name)}`,
    message: text,
  })
  const { expects } = parentSchema as { readonly expects?: string }
  switch (keyword) {
    case 'additionalProperties':
      // An unknown field is more likely a mistake than meant for a later version.
      return at('is not known here', params['additionalProperty'])
    case 'required':
      return at('is required', params['missingProperty'])
    case 'type':
      return at(`must be ${expects ?? typeWords[params['type'] as keyof typeof typeWords] ?? params['type']}`)
    case 'enum':
      return at(`must be one of ${params['allowedValues'].join(', ')}`)
    case 'pattern':
      if (expects !== undefined) return at(`must be ${expects}`)
      return at(isOptional(parentSchema) ? 'must not be blank; leave it out instead' : 'must not be blank')
    case 'x-wellFormed':
      return at('must be well-formed Unicode text')
    case 'x-maxBytes':
      return at(`must have at most ${Number(schema).toLocaleString('en')} bytes of UTF-8`)
    default:
      return at(message ?? `breaks the rule ${keyword}`)
  }
}

const typeWords = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
} as const

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
