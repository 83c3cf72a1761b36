/** Owns the names that templates and expressions see for one request. */

import type { HookRequest } from './decision.ts'
import { parseExact, parseTexts } from './exact-numbers.ts'

export interface Scope {
  readonly request: HookRequest
  /** As templates see it: the request's payload, or the same with its large integers exact. */
  readonly payload: unknown
  /** Whether `payload` was parsed again with exact integers. */
  readonly exact: boolean
  /** What the mapping's path took from the endpoint's name. */
  readonly params: Readonly<Record<string, string>>
  /** The element of `forEach` and its position; absent without one. */
  readonly item: unknown
  readonly index: number | undefined
  /** Those computed so far. */
  readonly vars: Readonly<Record<string, unknown>> | undefined
  /** Made at the first expression, shared by all of the request. */
  root: Readonly<Record<string, unknown>> | undefined
}

/** Our names win over a payload key of the same name, which stays reachable through `payload`. */
const reservedNames = {
  payload: (scope: Scope): unknown => scope.payload,
  headers: (scope: Scope): unknown => scope.request.headers,
  query: (scope: Scope): unknown => scope.request.query,
  path: (scope: Scope): unknown => scope.request.endpoint,
  params: (): unknown => undefined,
  vars: (): unknown => undefined,
  item: (): unknown => undefined,
  index: (): unknown => undefined,
  now: (scope: Scope): unknown => new Date(scope.request.now).toISOString(),
} as const

const noParams: Readonly<Record<string, string>> = Object.freeze({})

export function createScope(request: HookRequest): Scope {
  return {
    request,
    payload: request.payload,
    exact: false,
    params: noParams,
    item: undefined,
    index: undefined,
    vars: undefined,
    root: undefined,
  }
}

/** The same request with every integer beyond 2^53 kept as it was written. */
export function withExactNumbers(scope: Scope): Scope {
  const payload = parseExact(scope.request.rawBody) ?? scope.payload
  return { ...scope, payload, exact: true }
}

/** How to read one of our names; nothing for any other, which is then a key of the payload. */
export function reservedReader(name: string): ((scope: Scope) => unknown) | undefined {
  return Object.hasOwn(reservedNames, name) ? reservedNames[name as keyof typeof reservedNames] : undefined
}

/** What expressions see as their root. A shallow copy, because their library asks for an object of own keys. */
export function expressionRoot(scope: Scope): Readonly<Record<string, unknown>> {
  scope.root ??= makeRoot(scope.request)
  return scope.root
}

function makeRoot(request: HookRequest): Readonly<Record<string, unknown>> {
  const payload = parseTexts(request.rawBody) ?? request.payload
  const root: Record<string, unknown> = Object.create(null)
  copyKeys(payload, root)
  root.payload = payload
  root.headers = request.headers
  root.query = request.query
  root.path = request.endpoint
  root.now = new Date(request.now).toISOString()
  return root
}

/** Names of ours for which there is no value yet. */
const hidden: ReadonlySet<string> = new Set(['params', 'vars', 'item', 'index'])

/** One by one: spreading a hundred thousand keys takes three times as long. */
function copyKeys(payload: unknown, root: Record<string, unknown>): void {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return
  const fields = payload as Readonly<Record<string, unknown>>
  for (const key of Object.keys(fields)) if (!hidden.has(key)) root[key] = fields[key]
}
