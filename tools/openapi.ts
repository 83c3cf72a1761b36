/** Describes the API as an OpenAPI 3.1 document, from the declarations that also validate requests. */

import swagger from '@fastify/swagger'
import { Type } from '@reveille/engine/schema'
import Fastify, { type FastifyInstance, type FastifySchema } from 'fastify'
import type { RouteDeclaration } from '../runtime/api/routes/declaration.ts'
import { routes } from '../runtime/api/routes/index.ts'
import { health } from '../runtime/api/routes/records.ts'
import { optional } from '../runtime/api/routes/schema.ts'

const description = `The admin API of a Reveille gateway. Times are milliseconds since the Unix epoch. Lists are newest first, and \`next\` is the cursor of the next page.`

/** The document, with every schema that has a name among its components. */
export async function openapiDocument(): Promise<object> {
  const app = Fastify({ exposeHeadRoutes: false })
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Reveille', version: '1', description },
      security: [{ bearer: [] }, { header: [] }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'The gateway token.' },
          header: { type: 'apiKey', in: 'header', name: 'x-gateway-token' },
        },
      },
    },
    refResolver: { buildLocalReference: (schema) => String(schema.$id) },
    convertConstToEnum: false,
  })
  // Nothing is asked of these routes, so that nothing is compiled.
  app.setValidatorCompiler(() => () => true)
  app.setSerializerCompiler(() => () => '')
  const plain = createReferences(app)
  for (const [name, route] of Object.entries<RouteDeclaration>(routes)) {
    const schema = plain(schemaOf(name, route)) as FastifySchema
    app.route({ method: route.method, url: `/api${route.path}`, schema, handler: () => {} })
  }
  for (const [url, schema] of Object.entries(probes))
    app.get(url, { schema: plain(schema) as FastifySchema }, () => {})
  await app.ready()
  return app.swagger()
}

/** Puts a reference in the place of each schema that has a name, and adds it to the components. */
function createReferences(app: FastifyInstance): (node: unknown) => unknown {
  const names = new Set<string>()
  const plain = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(plain)
    if (typeof node !== 'object' || node === null) return node
    const { expects: _expects, ...rest } = node as { readonly $id?: string; readonly expects?: string }
    const content = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, plain(value)]))
    const { $id } = rest
    if ($id === undefined) return content
    if (!names.has($id)) app.addSchema(content)
    names.add($id)
    return { $ref: `${$id}#` }
  }
  return plain
}

function schemaOf(name: string, { path, summary, query, body, answers, isUndocumented }: RouteDeclaration) {
  const parameters = [...path.matchAll(/:(\w+)/g)].map(([, parameter = '']) => parameter)
  const types = parameters.map((each) => [each, each === 'number' ? Type.Integer() : Type.String()])
  return {
    operationId: name,
    summary,
    tags: [path.split('/')[1]],
    hide: isUndocumented === true,
    ...(types.length > 0 && { params: Type.Object(Object.fromEntries(types)) }),
    ...(query && { querystring: Type.Object(query) }),
    ...(body && { body }),
    response: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerOf(answer)])),
      default: error,
    },
  }
}

/** An answer that is not JSON is described with its content type. */
function answerOf(answer: { readonly description?: string; readonly contentMediaType?: string }) {
  const { description: words = 'The answer.', contentMediaType: type } = answer
  return type === undefined
    ? { ...answer, description: words }
    : { description: words, content: { [type]: { schema: { type: 'string' } } } }
}

/** The form of every error, of the hook surface too. */
const error = Type.Object(
  {
    ok: Type.Literal(false),
    error: Type.String({ description: 'One sentence. It never quotes what was sent.' }),
    code: Type.String({ description: 'A stable code, such as `NOT_FOUND`.' }),
    requestId: Type.String({ description: 'Finds the cause in the log.' }),
    ...optional({
      details: Type.Array(
        Type.Object({
          pointer: Type.String({ description: 'Into the query or the body: `/limit`.' }),
          message: Type.String(),
        }),
      ),
    }),
  },
  { $id: 'Error', description: 'An error. `code` is stable, and `error` is a sentence for people.' },
)

/** Further properties of the answer to a probe with the token of the gateway or of the metrics. */
const details = optional({ details: health })

/** Two addresses outside of `/api`, which need no token. */
const probes = {
  '/healthz': {
    operationId: 'readLiveness',
    summary: 'Answers while the process is alive.',
    security: [],
    response: { 200: Type.Object({ ok: Type.Literal(true) }, { description: 'The process is alive.' }) },
  },
  '/readyz': {
    operationId: 'readReadiness',
    summary: 'Answers whether the gateway can accept.',
    security: [],
    response: {
      200: Type.Object({ ok: Type.Literal(true), ...details }, { description: 'It can accept.' }),
      503: Type.Object(
        { ok: Type.Literal(false), reason: Type.String(), ...details },
        { description: 'It cannot.' },
      ),
    },
  },
}
