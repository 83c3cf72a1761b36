/** Owns the shape of an admin surface's error; the same as that of the hook surface. */

import type { FieldError } from '@reveille/engine'
import type { FastifyReply } from 'fastify'
import { type ErrorCode, errorRow } from '../http/errors.ts'

export interface RefusalOptions {
  readonly sentence?: string
  readonly details?: readonly FieldError[]
  /** Seconds to wait. Absent: those of the code. */
  readonly retryAfter?: number
}

/** Without a sentence, that of the code. Details point into the query: `/limit`. */
export function refuse(
  reply: FastifyReply,
  code: ErrorCode,
  { sentence, details, ...told }: RefusalOptions = {},
): FastifyReply {
  const row = errorRow(code)
  const retryAfter = told.retryAfter ?? row.retryAfter
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
