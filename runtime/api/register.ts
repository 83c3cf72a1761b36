/** Registers the declared routes, and refuses the methods that an address does not accept. */

import { type Right, rights } from '@reveille/engine'
import { type TObject, Type } from '@reveille/engine/schema'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { decodeWhole } from '../http/body/decode.ts'
import { RequestError } from '../http/errors.ts'
import { refuse } from './errors.ts'
import type { Handlers } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import type { RouteDeclaration, Routes } from './routes/declaration.ts'
import { createValidatorCompiler } from './validators.ts'

const usualBodyBytes = 65_536

/** A handler of any route. */
type AnyHandler = (call: object) => Promise<unknown>

/** `scope` has the prefix of the routes. */
export function registerRoutes<Of extends Routes>(
  scope: FastifyInstance,
  routes: Of,
  handlers: Handlers<Of>,
  log: AdminOptions['log'],
): void {
  scope.setValidatorCompiler(createValidatorCompiler())
  scope.addHook('onRequest', async ({ headers }) => {
    // Bodies of every content type are accepted. Fastify would refuse an invalid one before it asks a parser.
    delete headers['content-type']
  })
  scope.removeAllContentTypeParsers()
  const all = Object.entries<RouteDeclaration>(routes)
  const add = (into: FastifyInstance, [name, route]: (typeof all)[number]) =>
    addRoute(into, name, route, (handlers as Readonly<Record<string, unknown>>)[name] as AnyHandler, log)
  scope.register(async (json) => {
    json.addContentTypeParser(
      '*',
      { parseAs: 'buffer' },
      async (_request: unknown, body: Buffer) => decodeWhole('agent', body, undefined).payload,
    )
    for (const route of all) if (route[1].body !== undefined) add(json, route)
  })
  scope.register(async (bare) => {
    bare.addContentTypeParser('*', (_request, body, done) => {
      body.resume()
      done(null)
    })
    for (const route of all) if (route[1].body === undefined) add(bare, route)
  })
}

/**
 * Refuses a request for which there is no route: with 405 where the address takes other methods, or else with 404. A route for each
 * method that an address refuses would do so too, but these are most of all routes, and adding them was a tenth of a start.
 */
export function refuseUnrouted(
  { method, is404 }: FastifyRequest,
  reply: FastifyReply,
  routes: Routes,
  path: string,
): void {
  const all = Object.values<RouteDeclaration>(routes)
  const exact = all.filter((route) => route.path === path)
  // Without an exact path `GET /requests/replay` would look for the request with the id `replay`.
  if (!is404 && exact.length === 0) return
  const parts = path.split('/')
  const pattern = all.find((route) => isAt(route.path, parts))?.path
  const declared = exact.length > 0 ? exact : all.filter((route) => route.path === pattern)
  const allowed = declared.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : route.method))
  if (allowed.length > 0 && !allowed.includes(method)) refuseMethod(reply, allowed)
  if (is404) refuse('NOT_FOUND')
}

function isAt(path: string, parts: readonly string[]): boolean {
  const declared = path.split('/')
  return (
    declared.length === parts.length &&
    declared.every((part, index) => (part.startsWith(':') ? parts[index] !== '' : part === parts[index]))
  )
}

function addRoute(
  scope: FastifyInstance,
  name: string,
  route: RouteDeclaration,
  handler: AnyHandler,
  log: AdminOptions['log'],
): void {
  const { method, path, needs, needsFor = {}, query = {}, body, maxBodyBytes = usualBodyBytes } = route
  scope.route({
    method,
    url: path,
    bodyLimit: maxBodyBytes,
    // Nothing is ignored: a filter in the query of a route that reads its body would make a command be about everything.
    schema: { querystring: Type.Object(query, { additionalProperties: false }), ...(body && { body }) },
    onRequest: async (request) => {
      const flags = request.query as Readonly<Record<string, unknown>>
      const flagged = Object.entries(needsFor).find(([flag]) => String(flags[flag]) === 'true')
      refuseUnlessAllowed(request, flagged?.[1] ?? needs)
    },
    preValidation: async (request) => {
      if (body) request.body = givenBody(body, request.body)
    },
    handler: async (request, reply) => {
      const { query, body, admission } = request
      return handler({ params: paramsOf(request), query, body, by: admission?.name ?? '', request, reply })
    },
    onResponse: async ({ admission, params }, reply) => {
      if (needs === 'read' || admission === null) return
      const requestId = reply.getHeader('x-request-id')
      const facts = { ...(params as object), status: reply.statusCode, requestId, by: admission.name }
      log.info({ event: 'admin-action', action: name, ...facts })
    },
  })
}

/** Refuses a request whose token may not do what is needed, before its body is read. A sign-in has none yet. */
function refuseUnlessAllowed({ admission }: FastifyRequest, needed: Right): void {
  if (admission === null || rights.indexOf(admission.may) >= rights.indexOf(needed)) return
  const sentence = `This needs a token that may ${needed}, and "${admission.name}" may only ${admission.may}.`
  refuse('RIGHT_MISSING', { sentence })
}

/** A field that is null counts as absent, and so does a body of which nothing is required. @throws RequestError `INVALID_BODY` */
function givenBody({ required }: TObject, sent: unknown): object {
  const body = (sent === undefined || sent === null) && required === undefined ? {} : sent
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new RequestError('INVALID_BODY')
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
}

/** Ids may be copied in any case. */
function paramsOf({ params }: FastifyRequest): Readonly<Record<string, string>> {
  const values = params as Readonly<Record<string, string>>
  return values['id'] === undefined ? values : { ...values, id: values['id'].toLowerCase() }
}

/** Refuses other methods with 405, because a 404 would say that the address is wrong. */
export function refuseOtherMethods(scope: FastifyInstance, url: string, allowed: readonly string[]): void {
  scope.route({
    method: scope.supportedMethods.filter((method) => !allowed.includes(method)),
    url,
    // This hook runs before the body is read.
    onRequest: async (_request, reply: FastifyReply) => refuseMethod(reply, allowed),
    handler: () => {},
  })
}

function refuseMethod(reply: FastifyReply, allowed: readonly string[]): never {
  const named = allowed.filter((method) => method !== 'HEAD')
  const sentence = allowed.every((method) => method === 'GET' || method === 'HEAD')
    ? 'This address can only be read.'
    : `This address takes ${named.join(' and ')} only.`
  reply.header('allow', allowed.join(', '))
  return refuse('METHOD_NOT_ALLOWED', { sentence })
}
