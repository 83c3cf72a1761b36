/** Answers errors of the admin surface in the same shape as those of the hook surface. */

import type { FieldError } from '@reveille/engine'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, errorRow, isErrorCode, RequestError } from '../http/errors.ts'
import { describeFault } from '../http/log/fault.ts'
import { StoreError } from '../store/port.ts'
import type { AdminOptions } from './options.ts'

export interface RefusalOptions {
  readonly sentence?: string
  readonly details?: readonly FieldError[]
  /** Seconds to wait. Default: those of the code. */
  readonly retryAfter?: number
}

/** Refuses a request with a code. Default of the sentence: that of the code. Details point into the query or the body: `/limit`. */
export function refuse(
  reply: FastifyReply,
  code: ErrorCode,
  { sentence, details, ...options }: RefusalOptions = {},
): FastifyReply {
  const row = errorRow(code)
  const retryAfter = options.retryAfter ?? row.retryAfter
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  return reply.code(row.status).send({
    ok: false,
    error: sentence ?? row.sentence,
    code,
    requestId: String(reply.getHeader('x-request-id')),
    ...(details && { details }),
  })
}

export function missing(reply: FastifyReply, noun: string): FastifyReply {
  return refuse(reply, 'NOT_FOUND', { sentence: `There is no such ${noun}.` })
}

export function refuseQuery(reply: FastifyReply, details: readonly FieldError[]): FastifyReply {
  const sentence = 'The query holds something that this address does not take.'
  return refuse(reply, 'INVALID_FIELD', { sentence, details })
}

export function refuseCursor(reply: FastifyReply): FastifyReply {
  return refuse(reply, 'INVALID_FIELD', {
    sentence: 'The cursor is none that a page of this list answered.',
    details: [{ pointer: '/cursor', message: 'must be the `next` of an earlier page' }],
  })
}

/** An unknown field is more likely a mistake than meant for a later version. `within` is the pointer of its object. */
export function unknownField(name: string, within = ''): FieldError {
  const segment = name.replaceAll('~', '~0').replaceAll('/', '~1')
  return { pointer: `${within}/${segment}`, message: 'is not known here' }
}

type Violation = NonNullable<FastifyError['validation']>[number]

export function createFaultHandler(log: AdminOptions['log']) {
  return function replyWithError(error: FastifyError, _request: FastifyRequest, reply: FastifyReply) {
    if (error.validation) return refuseQuery(reply, error.validation.map(detailOf))
    if (error instanceof StoreError && error.code === 'BAD_CURSOR') return refuseCursor(reply)
    if (error instanceof RequestError) {
      const { code, details } = error
      return refuse(reply, code, details.length > 0 ? { details } : {})
    }
    if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') return refuse(reply, 'BODY_TOO_LARGE')
    const code = error instanceof StoreError && isErrorCode(error.code) ? error.code : 'INTERNAL'
    const requestId = reply.getHeader('x-request-id')
    if (code !== 'DRAINING') log.error({ event: 'api-failed', requestId, code, err: describeFault(error) })
    return refuse(reply, code)
  }
}

/** A detail names the field and the rule, never the value. */
function detailOf({ instancePath, keyword, params, message }: Violation): FieldError {
  switch (keyword) {
    case 'additionalProperties':
      return unknownField(String(params['additionalProperty']), instancePath)
    case 'enum':
      return {
        pointer: instancePath,
        message: `must be one of ${(params['allowedValues'] as unknown as string[]).join(', ')}`,
      }
    default:
      return { pointer: instancePath, message: message ?? `breaks the rule ${keyword}` }
  }
}
