/** Checks requests against the vendors' published descriptions, which do not depend on our fake servers. */

import type { ErrorObject, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { FakeServerRequest } from '../../plugins/kit/fake-server/index.ts'
import { specification } from '../sample-data.ts'

export interface Spec {
  /** Returns a sentence for each violation of the description; none if it allows the request. */
  problems(request: FakeServerRequest): string[]
}

// biome-ignore lint/suspicious/noExplicitAny: descriptions as their vendors publish them
type Description = any

/** Reads a description in OpenAPI 3.1 or JSON-RPC by its file name, or returns undefined if it is not available. */
export function openSpec(name: string): Spec | undefined {
  const document: Description = specification(name)
  if (document === undefined) return undefined
  return 'paths' in document ? openHttpSpec(document) : openRpcSpec(document)
}

interface Route {
  readonly method: string
  readonly pattern: RegExp
  readonly names: readonly string[]
  /** Number of literal segments of the path; of two matching paths, the more exact one counts. */
  readonly literals: number
  readonly operation: Description
  readonly parameters: readonly { readonly parameter: Description; readonly pointer: string }[]
  readonly pointer: string
}

function openHttpSpec(document: Description): Spec {
  const check = createChecks(document)
  const base = new URL(document.servers?.[0]?.url ?? 'http://vendor').pathname.replace(/\/$/, '')
  const routes = routesOf(document)

  function securityProblems({ security = [] }: Description, request: FakeServerRequest): string[] {
    return security
      .flatMap((each: object) => Object.keys(each))
      .flatMap((name: string) => {
        const scheme = document.components?.securitySchemes?.[name]
        const given = request.headers['authorization'] ?? ''
        if (scheme?.type === 'http') return /^Bearer \S+$/.test(given) ? [] : ['it has no bearer token']
        const header = scheme?.in === 'header' ? scheme.name?.toLowerCase() : undefined
        return header === undefined || request.headers[header] ? [] : [`it has no header ${header}`]
      })
  }

  function bodyProblems({ operation, pointer }: Route, request: FakeServerRequest): string[] {
    const { requestBody } = operation
    if (requestBody === undefined)
      return /^(\{\})?$/.test(request.text) ? [] : ['it has a body, and may have none']
    if (request.text === '') return requestBody.required ? ['it has no body'] : []
    const type = request.headers['content-type']?.split(';', 1)[0]?.trim() ?? ''
    if (!(type in requestBody.content)) return [`its body is ${type || 'of no type'}`]
    const isForm = type === 'application/x-www-form-urlencoded'
    const body = isForm ? Object.fromEntries(new URLSearchParams(request.text)) : request.json
    const kind = isForm ? 'texts' : 'values'
    return check(kind, `${pointer}/requestBody/content/${step(type)}/schema`, body, 'body')
  }

  return {
    problems(request) {
      if (!request.path.startsWith(`${base}/`)) return [`${request.path} is not below ${base}`]
      const path = request.path.slice(base.length)
      const fitting = routes.filter(({ method, pattern }) => method === request.method && pattern.test(path))
      const [route] = fitting.sort((left, right) => right.literals - left.literals)
      if (route === undefined) return [`${request.method} ${path} is no operation`]
      const values = route.pattern.exec(path)?.slice(1) ?? []
      const inPath = Object.fromEntries(route.names.map((name, index) => [name, values[index]]))
      const parameters = route.parameters.flatMap(({ parameter, pointer }) => {
        const { name, required = false, in: place } = parameter
        const all: Readonly<Record<string, string | undefined>> = {
          path: inPath[name],
          query: request.query.get(name) ?? undefined,
          header: request.headers[name.toLowerCase()],
        }
        const value = all[place]
        if (value !== undefined) return check('texts', `${pointer}/schema`, value, `${place} ${name}`)
        return required ? [`it has no ${place} ${name}`] : []
      })
      const known = new Set(route.parameters.map(({ parameter }) => parameter.name))
      const unknown = [...request.query.keys()].filter((name) => !known.has(name))
      return [
        ...parameters,
        ...unknown.map((name) => `there is no query ${name}`),
        ...securityProblems(route.operation, request),
        ...bodyProblems(route, request),
      ]
    },
  }
}

const methods = ['get', 'post', 'put', 'patch', 'delete']

function routesOf(document: Description): Route[] {
  return Object.entries<Description>(document.paths).flatMap(([template, item]) => {
    const segments = template.split('/')
    const source = segments.map((segment) =>
      segment
        .split(/\{[^}]+\}/)
        .map(literally)
        .join('([^/]+)'),
    )
    const common = {
      pattern: new RegExp(`^${source.join('/')}$`),
      names: [...template.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name),
      literals: segments.filter((segment) => !segment.includes('{')).length,
    }
    const pointer = `#/paths/${step(template)}`
    const ofPath = parametersOf(document, item, pointer)
    return methods.flatMap((method) => {
      const operation = item[method]
      if (operation === undefined) return []
      const own = `${pointer}/${method}`
      const parameters = [...ofPath, ...parametersOf(document, operation, own)]
      return [{ ...common, method: method.toUpperCase(), operation, parameters, pointer: own }]
    })
  })
}

/** The headers whose descriptions are to be ignored, as OpenAPI says. */
const ignored = ['accept', 'content-type', 'authorization']

function parametersOf(
  document: Description,
  { parameters = [] }: Description,
  pointer: string,
): Route['parameters'] {
  const all: Route['parameters'] = parameters.map((each: Description, index: number) => {
    if (each.$ref === undefined) return { parameter: each, pointer: `${pointer}/parameters/${index}` }
    const parameter = document.components?.parameters?.[each.$ref.split('/').at(-1)]
    if (parameter === undefined) throw new Error(`${each.$ref} is not there`)
    return { parameter, pointer: each.$ref }
  })
  return all.filter(({ parameter: { name } }) => !ignored.includes(name.toLowerCase()))
}

/** Reads a description with one method for each definition; the daemon takes all of them at one path. */
function openRpcSpec(document: Description): Spec {
  const check = createChecks(document)
  return {
    problems({ json }) {
      const { method } = (json ?? {}) as { method?: unknown }
      if (typeof method !== 'string' || !(method in document.$defs)) return [`${method} is no method`]
      return check('values', `#/$defs/${step(method)}`, json, 'body')
    },
  }
}

/** Validates values. In paths, queries, headers and forms, a text that reads as a number is a number. */
function createChecks(document: object) {
  const open = (coerceTypes: boolean) => {
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      coerceTypes,
      validateSchema: false,
      logger: false,
    })
    for (const format of ['snowflake', 'nonce', 'int32', 'int64']) ajv.addFormat(format, true)
    return ajv.addSchema(document, 'vendor')
  }
  const checkers = { values: open(false), texts: open(true) }
  const compiled = new Map<string, ValidateFunction>()
  return (kind: 'values' | 'texts', pointer: string, value: unknown, where: string): string[] => {
    const name = `${kind} ${pointer}`
    const validate = compiled.get(name) ?? checkers[kind].compile({ $ref: `vendor${pointer}` })
    compiled.set(name, validate)
    if (validate(value)) return []
    return (validate.errors ?? []).map((error) => describe(error, where))
  }
}

function describe({ instancePath, message, params }: ErrorObject, where: string): string {
  const facts = Object.values(params).map(String).join(', ')
  return `${where}${instancePath} ${message}${facts === '' ? '' : ` (${facts})`}`
}

function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** Decodes one step of a JSON pointer in a URI. */
function step(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
}
