/** Owns how a throw inside the admin surface ends: in our shape, and with its cause in the log alone. */

import type { FieldError } from '@reveille/engine'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isErrorCode, RequestError } from '../http/errors.ts'
import { describeFault } from '../http/log/fault.ts'
import { StoreError } from '../store/port.ts'
import { refuse } from './refusal.ts'

/** What the surface needs of a log; pino's has it. */
export interface ApiLog {
  info(facts: object): void
  error(facts: object): void
}

type Violation = NonNullable<FastifyError['validation']>[number]

export function createFaultHandler(log: ApiLog) {
  return function answerFault(error: FastifyError, _request: FastifyRequest, reply: FastifyReply) {
    if (error.validation) {
      return refuse(reply, 'INVALID_FIELD', {
        sentence: 'The query holds something that this address does not take.',
        details: error.validation.map(detailOf),
      })
    }
    if (error instanceof StoreError && error.code === 'BAD_CURSOR') {
      return refuse(reply, 'INVALID_FIELD', {
        sentence: 'The cursor is none that a page of this list answered.',
        details: [{ pointer: '/cursor', message: 'must be the `next` of an earlier page' }],
      })
    }
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

/** Tells names and rules, never the value. */
function detailOf({ instancePath, keyword, params, message }: Violation): FieldError {
  switch (keyword) {
    case 'additionalProperties': {
      const name = String(params['additionalProperty']).replaceAll('~', '~0').replaceAll('/', '~1')
      return { pointer: `${instancePath}/${name}`, message: 'is not known here' }
    }
    case 'enum':
      return {
        pointer: instancePath,
        message: `must be one of ${(params['allowedValues'] as unknown as string[]).join(', ')}`,
      }
    default:
      return { pointer: instancePath, message: message ?? `breaks the rule ${keyword}` }
  }
}
