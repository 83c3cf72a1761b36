/** Owns the names that templates and expressions see for one request. */

import { takeTurn } from '../turn.ts'
import type { HookRequest } from './decision.ts'
import { parseExact, parseTexts } from './exact-numbers.ts'
import { whenReady } from './when-ready.ts'

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
  readonly memory: Memory
}

/** What is made at first need and then serves the whole request. */
interface Memory {
  root: Record<string, unknown> | undefined
  exact: { readonly payload: unknown } | undefined
  /** What the sender calls this delivery, once it was looked for. */
  delivery: { readonly id: string | undefined } | undefined
}

/** Our names win over a payload key of the same name, which stays reachable through `payload`. */
const reservedNames = {
  payload: (scope: Scope): unknown => scope.payload,
  headers: (scope: Scope): unknown => scope.request.headers,
  query: (scope: Scope): unknown => scope.request.query,
  path: (scope: Scope): unknown => scope.request.endpoint,
  params: paramsOf,
  vars: (scope: Scope): unknown => scope.vars,
  item: (scope: Scope): unknown => scope.item,
  index: (scope: Scope): unknown => scope.index,
  now: (scope: Scope): unknown => new Date(scope.request.now).toISOString(),
} as const

const noParams: Readonly<Record<string, string>> = Object.freeze({})

/** Absent where the path has no segments with a name. */
function paramsOf({ params }: Scope): unknown {
  return params === noParams ? undefined : params
}

export function createScope(request: HookRequest): Scope {
  return {
    request,
    payload: request.payload,
    exact: false,
    params: noParams,
    item: undefined,
    index: undefined,
    vars: undefined,
    memory: { root: undefined, exact: undefined, delivery: undefined },
  }
}

/** The same request with every integer beyond 2^53 kept as it was written. A promise where a long body is read again. */
export function withExactNumbers(scope: Scope): Scope | Promise<Scope> {
  const { memory, request } = scope
  const exact =
    memory.exact ??
    whenReady(parseExact(writtenJson(request)), (parsed) => ({ payload: parsed ?? request.payload }))
  return whenReady(exact, (known) => {
    memory.exact = known
    return { ...scope, payload: known.payload, exact: true }
  })
}

/** How to read one of our names; nothing for any other, which is then a key of the payload. */
export function reservedReader(name: string): ((scope: Scope) => unknown) | undefined {
  return Object.hasOwn(reservedNames, name) ? reservedNames[name as keyof typeof reservedNames] : undefined
}

/** Makes what {@link expressionRoot} gives. A promise where a payload is read again or has many keys. */
export function prepareRoot({ memory, request }: Scope): void | Promise<void> {
  if (memory.root !== undefined) return undefined
  return whenReady(parseTexts(writtenJson(request)), (parsed) =>
    whenReady(makeRoot(request, parsed ?? request.payload), (root) => {
      memory.root = root
    }),
  )
}

/**
 * What expressions see as their root, once it is prepared. A shallow copy, because their library asks for an object
 * of own keys; one for the whole request, because a payload may have a hundred thousand of them. What changes from
 * action to action is laid over it: the expressions of a request are evaluated one after another.
 */
export function expressionRoot(scope: Scope): Readonly<Record<string, unknown>> {
  const { root } = scope.memory
  if (root === undefined) throw new Error('the root of expressions is not prepared')
  root.params = paramsOf(scope)
  root.vars = scope.vars
  root.item = scope.item
  root.index = scope.index
  return root
}

function writtenJson({ unwrapped, rawBody }: HookRequest): string | Uint8Array {
  return unwrapped ?? rawBody
}

function makeRoot(
  request: HookRequest,
  payload: unknown,
): Record<string, unknown> | Promise<Record<string, unknown>> {
  const root: Record<string, unknown> = Object.create(null)
  return whenReady(copyKeys(payload, root), () => {
    root.payload = payload
    root.headers = request.headers
    root.query = request.query
    root.path = request.endpoint
    root.now = new Date(request.now).toISOString()
    return root
  })
}

/** Keys that are copied between two looks at the clock. */
const manyKeys = 2000

/** One by one: spreading a hundred thousand keys takes three times as long. */
function copyKeys(payload: unknown, root: Record<string, unknown>): void | Promise<void> {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return undefined
  const fields = payload as Readonly<Record<string, unknown>>
  const keys = Object.keys(fields)
  if (keys.length > manyKeys) return copyManyKeys(fields, keys, root)
  for (const key of keys) root[key] = fields[key]
}

async function copyManyKeys(
  fields: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  root: Record<string, unknown>,
): Promise<void> {
  for (const [index, key] of keys.entries()) {
    if (index % manyKeys === 0) await takeTurn()
    root[key] = fields[key]
  }
}
