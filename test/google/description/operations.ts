/** Lists Google's operations as Google describes them. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { readPlaces, readScopes } from './gmail-client.ts'
import { pubsubPaths, pubsubScopes } from './pubsub-paths.ts'
import { type Fields, type Method, parseTypings, type Type } from './typings.ts'

export type Service = 'gmail' | 'pubsub'

export interface Operation {
  /** `gmail.users.history.list`. */
  readonly id: string
  readonly service: Service
  readonly method: string
  /** The path as it is described: `/gmail/v1/users/{userId}/history`. */
  readonly path: string
  /** Matches the path of a request. Its groups are the parameters, in the order of `inPath`. */
  readonly pattern: RegExp
  /** The names of the parameters in the path. */
  readonly inPath: readonly string[]
  readonly inQuery: Fields
  readonly body?: Type
  readonly answer: Type
  /** Any one of these scopes is enough. */
  readonly scopes: readonly string[]
}

export interface Description {
  readonly operations: readonly Operation[]
  readonly schemas: Readonly<Record<Service, ReadonlyMap<string, Fields>>>
  /** The revision of the discovery documents: `20260307`. */
  readonly revisions: Readonly<Record<Service, string>>
}

const require = createRequire(import.meta.url)

let known: Description | undefined

/** Reads the descriptions, once in each process, in about twenty milliseconds. */
export function describeGoogle(): Description {
  known ??= read()
  return known
}

function read(): Description {
  const [gmail, pubsub] = (['gmail', 'pubsub'] as const).map((service) =>
    parseTypings(readText(`@maxim_mazurok/gapi.client.${service}-v1/index.d.ts`), service),
  )
  if (gmail === undefined || pubsub === undefined) throw new Error('A description is missing.')
  // The client's package exports only files inside `build`, such as its main file.
  const build = dirname(require.resolve('@googleapis/gmail'))
  const places = readPlaces(readFileSync(join(build, 'v1.js'), 'utf8'))
  const scopes = readScopes(readFileSync(join(build, 'v1.d.ts'), 'utf8'))

  const operations: Operation[] = []
  for (const [name, method] of gmail.methods) {
    const id = `gmail.${name}`
    const place = places.get(id.toLowerCase())
    if (place === undefined) throw new Error(`Nobody says where ${id} is.`)
    operations.push(operationOf(id, 'gmail', place.method, place.path, method, scopes.get(id) ?? []))
  }
  for (const [name, method] of pubsub.methods) {
    const [verb, path] = pubsubPaths[name]?.split(' ') ?? []
    if (verb === undefined || path === undefined) throw new Error(`Nobody says where pubsub.${name} is.`)
    operations.push(operationOf(`pubsub.${name}`, 'pubsub', verb, path, method, pubsubScopes))
  }
  return {
    operations,
    schemas: { gmail: gmail.schemas, pubsub: pubsub.schemas },
    revisions: { gmail: gmail.revision, pubsub: pubsub.revision },
  }
}

function readText(file: string): string {
  return readFileSync(require.resolve(file), 'utf8')
}

function operationOf(
  id: string,
  service: Service,
  method: string,
  path: string,
  described: Method,
  scopes: readonly string[],
): Operation {
  const inPath: string[] = []
  const pattern = path.replace(
    /\{(\w+)(?:=([^}]+))?\}|[.:]/g,
    (found, name?: string, resource: string = '*') => {
      if (name === undefined) return `\\${found}`
      inPath.push(name)
      // The last segment of a resource ends before `:verb`.
      return `(${resource.replaceAll('*', '[^/:]+')})`
    },
  )
  const missing = inPath.filter((name) => !described.parameters.has(name))
  if (missing.length > 0) throw new Error(`${id} has no parameter ${missing}.`)
  const inQuery = [...described.parameters].filter(([name]) => !inPath.includes(name))
  return {
    id,
    service,
    method,
    path,
    pattern: new RegExp(`^${pattern}$`),
    inPath,
    inQuery: new Map(inQuery),
    body: described.body,
    answer: described.answer,
    scopes,
  }
}
