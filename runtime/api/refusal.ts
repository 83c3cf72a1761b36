/** Owns the shape of an admin surface's error; the same as that of the hook surface. */

import type { FastifyReply } from 'fastify'
import { type ErrorCode, statusOf } from '../http/errors.ts'

export function refuse(reply: FastifyReply, code: ErrorCode, sentence: string): FastifyReply {
  return reply
    .code(statusOf(code))
    .send({ ok: false, error: sentence, code, requestId: String(reply.getHeader('x-request-id')) })
}
