/** Describes the API as an OpenAPI 3.1 document, from the declarations that also validate requests. */

import type { RouteDeclaration, Routes } from '../runtime/api/routes/declaration.ts'
import { routes as allRoutes } from '../runtime/api/routes/index.ts'
import { health } from '../runtime/api/routes/records.ts'
import {
  componentName,
  contentType,
  exactly,
  isOptional,
  list,
  object,
  optional,
  type Schema,
  text,
} from '../runtime/api/routes/schema.ts'

type Node = Readonly<Record<string | symbol, unknown>>

const description = `The admin API of a Reveille gateway. Times are milliseconds since the Unix epoch. Lists are newest first, and \`next\` is the cursor of the next page.`

const bearer = [{ bearer: [] }, { header: [] }]

/** The document, with every schema that has a name among its components. */
export function openapiDocument(routes: Routes = allRoutes): object {
  const components = new Map<string, object>()
  /** Takes the marks out of a schema, and puts a reference in the place of one with a name. */
  const plain = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(plain)
    if (typeof node !== 'object' || node === null) return node
    const { expects: _expects, ...rest } = node as Node
    const content = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, plain(value)]))
    const name = (node as Node)[componentName]
    if (typeof name !== 'string') return content
    components.set(name, content)
    return { $ref: `#/components/schemas/${name}` }
  }
  const answerOf = (schema: Schema) => {
    const type = (schema as unknown as Node)[contentType] ?? 'application/json'
    const words = typeof schema['description'] === 'string' ? schema['description'] : 'The answer.'
    const { description: _description, ...own } = schema
    const shown =
      type === 'application/json' ? plain(componentName in schema ? schema : own) : { type: 'string' }
    return { description: words, content: { [String(type)]: { schema: shown } } }
  }
  const operation = (name: string, route: RouteDeclaration) => ({
    operationId: name,
    summary: route.summary,
    tags: [route.path.split('/')[1]],
    parameters: [
      ...[...route.path.matchAll(/:(\w+)/g)].map(([, parameter = '']) => ({
        name: parameter,
        in: 'path',
        required: true,
        schema: parameter === 'number' ? { type: 'integer' } : { type: 'string' },
      })),
      ...Object.entries(route.query ?? {}).map(([parameter, schema]) => {
        const { description: words, ...own } = schema
        return {
          name: parameter,
          in: 'query',
          ...(isOptional in schema ? {} : { required: true }),
          ...(words !== undefined && { description: words }),
          schema: plain(own),
        }
      }),
    ],
    ...(route.body && {
      requestBody: { required: true, content: { 'application/json': { schema: plain(route.body) } } },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, schema]) => [status, answerOf(schema)]),
      ),
      default: { $ref: '#/components/responses/Error' },
    },
  })

  const shown = Object.entries(routes).filter(([, { isUndocumented }]) => isUndocumented !== true)
  const byPath = Map.groupBy(shown, ([, { path }]) => `/api${path.replaceAll(/:(\w+)/g, '{$1}')}`)
  const paths = Object.fromEntries(
    [...byPath].map(([path, named]) => [
      path,
      Object.fromEntries(named.map(([name, route]) => [route.method.toLowerCase(), operation(name, route)])),
    ]),
  )
  return {
    openapi: '3.1.0',
    info: { title: 'Reveille', version: '1', description },
    security: bearer,
    paths: { ...paths, ...(plain(probes) as object) },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The gateway token.' },
        header: { type: 'apiKey', in: 'header', name: 'x-gateway-token' },
      },
      responses: {
        Error: {
          description: 'An error. `code` is stable, and `error` is a sentence for people.',
          content: { 'application/json': { schema: plain(error) } },
        },
      },
      schemas: Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1))),
    },
  }
}

/** The form of every error, of the hook surface too. */
const error = object({
  ok: exactly(false),
  error: text('One sentence. It never quotes what was sent.'),
  code: text('A stable code, such as `NOT_FOUND`.'),
  requestId: text('Finds the cause in the log.'),
  ...optional({
    details: list(object({ pointer: text('Into the query or the body: `/limit`.'), message: text() })),
  }),
})

/** What a probe with the token of the gateway or of the metrics is answered besides. */
const details = optional({ details: health })

/** Two addresses outside of `/api`, which need no token. */
const probes = {
  '/healthz': {
    get: {
      operationId: 'readLiveness',
      summary: 'Answers while the process is alive.',
      security: [],
      responses: { 200: probe('The process is alive.', object({ ok: exactly(true) })) },
    },
  },
  '/readyz': {
    get: {
      operationId: 'readReadiness',
      summary: 'Answers whether the gateway can accept.',
      security: [],
      responses: {
        200: probe('It can accept.', object({ ok: exactly(true), ...details })),
        503: probe('It cannot.', object({ ok: exactly(false), reason: text(), ...details })),
      },
    },
  },
}

function probe(words: string, schema: object) {
  return { description: words, content: { 'application/json': { schema } } }
}
