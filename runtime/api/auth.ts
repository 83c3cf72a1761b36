/** Authenticates requests to the admin surface. */

import { type CurrentLive, createSecretMatcher, type Settings } from '@reveille/engine'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientOf } from '../http/clients/client.ts'
import { createTries } from '../http/clients/throttle.ts'
import { onceForEach } from '../once-for-each.ts'
import type { MintId } from '../store/id.ts'
import { refuse } from './errors.ts'

/**
 * The token comes as `Authorization: Bearer` or `x-gateway-token`, never in the address, which proxies log. It is checked before
 * anything else, so that a stranger cannot learn which addresses there are. A client that was wrong too often has to wait, unless it
 * sends the right token in the end.
 */
export function createAdminAuth(options: { current: CurrentLive; mintId: MintId }) {
  const matcherOf = onceForEach(({ gateway }: Settings) => createSecretMatcher(gateway.tokens))
  const tries = createTries()

  return async function authenticate(request: FastifyRequest, reply: FastifyReply) {
    reply.header('x-request-id', options.mintId()).header('cache-control', 'no-store')
    const settings = options.current().snapshot.settings
    if (settings.gateway.tokens.length === 0) return refuse(reply, 'NOT_FOUND')
    const matches = matcherOf(settings)
    const given = givenToken(request)
    const client = clientOf(request)
    if (given === undefined || matches(given) === undefined) {
      // A request without a token guesses nothing.
      const retryAfter = await (given === undefined ? tries.blocked(client) : tries.wrong(client))
      if (retryAfter !== undefined) return refuse(reply, 'TOO_MANY_TRIES', { retryAfter })
      reply.header('www-authenticate', 'Bearer')
      return refuse(reply, 'UNAUTHORIZED', { sentence: 'The admin surface wants the gateway token.' })
    }
    tries.right(client)
    // It is refused here, because Fastify would read the body on the way to a handler.
    if (request.is404) return refuse(reply, 'NOT_FOUND')
  }
}

function givenToken(request: FastifyRequest): string | undefined {
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (bearer) return bearer
  const header = request.headers['x-gateway-token']
  return typeof header === 'string' ? header : undefined
}
