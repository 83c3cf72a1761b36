/** Registers routes that accept certain methods and refuse all others. */

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { refuse } from './errors.ts'
import { parseBodiesAsJson, takeAnyType } from './json-body.ts'

type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** The keys of the query of every list. */
export const pageKeys = {
  limit: { type: 'integer', minimum: 1, maximum: 500 },
  cursor: { type: 'string', minLength: 1, maxLength: 200 },
} as const

/** The options of a route with this query; each property is a JSON Schema. */
export function queryOf(properties: Readonly<Record<string, object>>): RouteShorthandOptions {
  return { schema: { querystring: { type: 'object', properties, additionalProperties: false } } }
}

/** The one method by which an address that can be read is also written to, with a body of JSON. */
export interface WriteRoute {
  readonly method: 'POST' | 'PUT'
  readonly maxBytes: number
  /** `body` is parsed and not checked. */
  readonly answer: (body: unknown, reply: FastifyReply) => Promise<unknown>
}

/** Registers an address for GET and HEAD, and for the method of `write`. */
export function getRoute(
  api: FastifyInstance,
  url: string,
  options: RouteShorthandOptions,
  answer: RouteHandler,
  write?: WriteRoute,
): void {
  api.get(url, options, answer)
  if (write === undefined) {
    refuseOtherMethods(api, url, ['GET', 'HEAD'], 'This address can only be read.')
    return
  }
  const { method, maxBytes, answer: handle } = write
  api.register(async (scope) => {
    parseBodiesAsJson(scope)
    scope.route({
      method,
      url,
      bodyLimit: maxBytes,
      handler: (request, reply) => handle(request.body, reply),
    })
  })
  refuseOtherMethods(api, url, ['GET', 'HEAD', method], `This address takes GET and ${method} only.`)
}

/** Registers an address for POST without a body; a body that is sent is ignored. */
export function postRoute(
  api: FastifyInstance,
  url: string,
  options: RouteShorthandOptions,
  answer: RouteHandler,
): void {
  api.register(async (scope) => {
    takeAnyType(scope)
    scope.addContentTypeParser('*', (_request, body, done) => {
      body.resume()
      done(null)
    })
    scope.post(url, options, answer)
  })
  refuseOtherMethods(api, url, ['POST'], 'This address takes POST only.')
}

/** The `:id` of an address, in lower case, so that ids may be copied in any case. */
export function idOf({ params }: FastifyRequest): string {
  return (params as { id: string }).id.toLowerCase()
}

/** Refuses other methods with 405, because a 404 would say that the address is wrong. */
function refuseOtherMethods(
  api: FastifyInstance,
  url: string,
  allowed: readonly string[],
  sentence: string,
): void {
  api.route({
    method: api.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    // This hook runs before the body is read.
    onRequest: async (_request, reply) =>
      refuse(reply.header('allow', allowed.join(', ')), 'METHOD_NOT_ALLOWED', { sentence }),
    handler: () => {},
  })
}
