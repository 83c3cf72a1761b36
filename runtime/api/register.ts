/** Registers the declared routes: checks queries and bodies, calls handlers, and refuses the methods that an address does not take. */

import type { FieldError } from '@reveille/engine'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { decodeWhole } from '../http/body/decode.ts'
import { RequestError } from '../http/errors.ts'
import { detailsOf, refuse, refuseQuery, unknownFields } from './errors.ts'
import type { Handlers } from './handlers.ts'
import type { Need, RouteDeclaration, Routes } from './routes/declaration.ts'
import { closedObject, type Properties, type Schema } from './routes/schema.ts'
import { validatorOf } from './validation/validators.ts'

const usualBodyBytes = 65_536

/** A handler of any route. */
type AnyHandler = (call: object) => Promise<unknown>

/** Decides who may use a route, and writes down who did. */
export interface RouteGuard {
  /** Refuses a request whose token may not do what is needed, before its body is read. */
  refuseUnlessAllowed(request: FastifyRequest, reply: FastifyReply, needed: Need): FastifyReply | undefined
  /** The name of the token that let a request in. Empty for a sign-in. */
  nameOf(request: FastifyRequest): string
  /** Called once for each request that changed something, or tried to. */
  noteAction(request: FastifyRequest, reply: FastifyReply, name: string): void
}

/** `scope` has the prefix of the routes. */
export function registerRoutes<Of extends Routes>(
  scope: FastifyInstance,
  routes: Of,
  handlers: Handlers<Of>,
  guard: RouteGuard,
): void {
  const all = Object.entries<RouteDeclaration>(routes)
  const add = (into: FastifyInstance, name: string, route: RouteDeclaration) =>
    addRoute(into, name, route, (handlers as Readonly<Record<string, unknown>>)[name] as AnyHandler, guard)
  scope.register(async (json) => {
    parseBodiesAsJson(json)
    for (const [name, route] of all) if (route.body !== undefined) add(json, name, route)
  })
  scope.register(async (bare) => {
    ignoreBodies(bare)
    for (const [name, route] of all) if (route.body === undefined) add(bare, name, route)
  })
}

/**
 * Refuses a request for which there is no route: with 405 where the address takes other methods, or else with 404. A route for each
 * method that an address refuses would do so too, but these are most of all routes, and adding them was a tenth of a start.
 * Returns undefined for a request that has one.
 */
export function refuseUnrouted(
  { method, is404 }: FastifyRequest,
  reply: FastifyReply,
  routes: Routes,
  path: string,
): FastifyReply | undefined {
  const all = Object.values<RouteDeclaration>(routes)
  const exact = all.filter((route) => route.path === path)
  // Without an exact path `GET /requests/replay` would look for the request with the id `replay`.
  if (!is404 && exact.length === 0) return undefined
  const parts = path.split('/')
  const pattern = all.find((route) => isAt(route.path, parts))?.path
  const declared = exact.length > 0 ? exact : all.filter((route) => route.path === pattern)
  const allowed = declared.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : route.method))
  if (allowed.length > 0 && !allowed.includes(method)) return refuseMethod(reply, allowed)
  return is404 ? refuse(reply, 'NOT_FOUND') : undefined
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
  { method, path, needs, needsFor = {}, query, body, maxBodyBytes = usualBodyBytes }: RouteDeclaration,
  handler: AnyHandler,
  guard: RouteGuard,
): void {
  const querySchema = closedObject(query ?? {})
  scope.route({
    method,
    url: path,
    bodyLimit: maxBodyBytes,
    onRequest: async (request, reply) => {
      const asked = request.query as Readonly<Record<string, unknown>>
      const flagged = Object.entries(needsFor).find(([flag]) => String(asked[flag]) === 'true')
      return guard.refuseUnlessAllowed(request, reply, flagged?.[1] ?? needs)
    },
    onResponse: async (request, reply) => {
      if (needs !== 'read') guard.noteAction(request, reply, name)
    },
    handler: async (request, reply) => {
      const given = request.query as Record<string, unknown>
      // Nothing is ignored: a filter in the query of a route that reads its body would let an order be about everything.
      const wrong = query ? faultsOfQuery(name, query, querySchema, given) : unknownParameters(given)
      if (wrong !== undefined) return refuseQuery(reply, wrong)
      const by = guard.nameOf(request)
      const call = { params: paramsOf(request), query: request.query, by, request, reply }
      return handler(body === undefined ? call : { ...call, body: checkedBody(name, body, request.body) })
    },
  })
}

/** Texts of the query are replaced by the numbers and flags that they stand for. Returns undefined where nothing is wrong. */
function faultsOfQuery(
  name: string,
  properties: Properties,
  schema: Schema,
  query: Record<string, unknown>,
): readonly FieldError[] | undefined {
  for (const [key, { type }] of Object.entries(properties)) {
    const given = query[key]
    if (typeof given === 'string') query[key] = readAs(type, given)
  }
  const validate = validatorOf(`${name}_query`, schema)
  return validate(query) ? undefined : detailsOf(validate.errors ?? [], schema)
}

/** Of a route that has no parameters, for which there is no schema. */
function unknownParameters(query: Readonly<Record<string, unknown>>): readonly FieldError[] | undefined {
  const names = Object.keys(query)
  return names.length === 0 ? undefined : unknownFields(names)
}

/** A text that stands for no value of the type stays as it is, so that it breaks the schema. */
function readAs(type: unknown, text: string): unknown {
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return type === 'integer' && text !== '' && Number.isInteger(Number(text)) ? Number(text) : text
}

/** A field that is null counts as absent, and so does a body of which nothing is required. @throws RequestError `INVALID_BODY`, or `INVALID_FIELD` with every field that is wrong */
function checkedBody(name: string, schema: Schema, sent: unknown): unknown {
  const isLeftOut = (sent === undefined || sent === null) && schema['required'] === undefined
  const given = isLeftOut ? {} : sent
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new RequestError('INVALID_BODY')
  const body = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
  const validate = validatorOf(`${name}_body`, schema)
  if (validate(body)) return body
  throw new RequestError('INVALID_FIELD', { details: detailsOf(validate.errors ?? [], schema) })
}

/** Ids may be copied in any case. */
function paramsOf({ params }: FastifyRequest): Readonly<Record<string, string>> {
  const given = params as Readonly<Record<string, string>>
  return given['id'] === undefined ? given : { ...given, id: given['id'].toLowerCase() }
}

/** Bodies of every content type are taken. Fastify would refuse an invalid one before it asks a parser. */
function takeAnyType(scope: FastifyInstance): void {
  scope.addHook('onRequest', async ({ headers }) => {
    delete headers['content-type']
  })
  scope.removeAllContentTypeParsers()
}

function parseBodiesAsJson(scope: FastifyInstance): void {
  takeAnyType(scope)
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => decodeWhole('agent', body, undefined).payload,
  )
}

function ignoreBodies(scope: FastifyInstance): void {
  takeAnyType(scope)
  scope.addContentTypeParser('*', (_request, body, done) => {
    body.resume()
    done(null)
  })
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

function refuseMethod(reply: FastifyReply, allowed: readonly string[]): FastifyReply {
  const named = allowed.filter((method) => method !== 'HEAD')
  const sentence = allowed.every((method) => method === 'GET' || method === 'HEAD')
    ? 'This address can only be read.'
    : `This address takes ${named.join(' and ')} only.`
  return refuse(reply.header('allow', allowed.join(', ')), 'METHOD_NOT_ALLOWED', { sentence })
}
