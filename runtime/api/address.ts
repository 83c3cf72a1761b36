/** Owns an address that can be read and nothing else. */

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { refuse } from './refusal.ts'

/** Other methods are refused as what they are: a 404 would say that the address is wrong. */
export function readable(
  api: FastifyInstance,
  url: string,
  options: RouteShorthandOptions,
  answer: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  api.get(url, options, answer)
  api.route({
    method: api.supportedMethods.filter((method) => method !== 'GET' && method !== 'HEAD'),
    url,
    // Before the body is read, which may be anything.
    onRequest: async (_request, reply) =>
      refuse(reply.header('allow', 'GET, HEAD'), 'METHOD_NOT_ALLOWED', {
        sentence: 'This address can only be read.',
      }),
    handler: () => {},
  })
}
