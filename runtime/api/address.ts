/** Owns an address that takes one method and nothing else. */

import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { takeJson } from './json-body.ts'
import { refuse } from './refusal.ts'

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** What an address that can be read takes besides: a body of JSON, by one method. */
export interface Taking {
  readonly method: 'POST' | 'PUT'
  readonly maxBytes: number
  /** `body`: parsed, and nothing is known of it. */
  readonly answer: (body: unknown, reply: FastifyReply) => Promise<unknown>
}

/** For GET, and HEAD with it. */
export function readable(
  api: FastifyInstance,
  url: string,
  options: RouteShorthandOptions,
  answer: Answer,
  taking?: Taking,
): void {
  api.get(url, options, answer)
  if (taking === undefined) {
    refuseOthers(api, url, ['GET', 'HEAD'], 'This address can only be read.')
    return
  }
  const { method, maxBytes, answer: take } = taking
  api.register(async (scope) => {
    takeJson(scope)
    scope.route({
      method,
      url,
      bodyLimit: maxBytes,
      handler: (request, reply) => take(request.body, reply),
    })
  })
  refuseOthers(api, url, ['GET', 'HEAD', method], `This address takes GET and ${method} only.`)
}

/** For POST, without a body: one that is sent is not looked at. */
export function doable(
  api: FastifyInstance,
  url: string,
  options: RouteShorthandOptions,
  answer: Answer,
): void {
  api.register(async (scope) => {
    // One that is no content type would be refused before the parser is asked.
    scope.addHook('onRequest', async ({ headers }) => {
      delete headers['content-type']
    })
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, body, done) => {
      body.resume()
      done(null)
    })
    scope.post(url, options, answer)
  })
  refuseOthers(api, url, ['POST'], 'This address takes POST only.')
}

/** The `:id` of an address. Ids are compared in lower case; whoever copied one from elsewhere need not care. */
export function idOf({ params }: FastifyRequest): string {
  return (params as { id: string }).id.toLowerCase()
}

/** Other methods are refused as what they are: a 404 would say that the address is wrong. */
function refuseOthers(api: FastifyInstance, url: string, taken: readonly string[], sentence: string): void {
  api.route({
    method: api.supportedMethods.filter((method) => !taken.includes(method)),
    url,
    // Before the body is read, which may be anything.
    onRequest: async (_request, reply) =>
      refuse(reply.header('allow', taken.join(', ')), 'METHOD_NOT_ALLOWED', { sentence }),
    handler: () => {},
  })
}
