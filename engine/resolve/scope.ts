/** The names that templates and expressions see for one request. */

import { parseExact, parseTexts } from '../payload/exact-numbers.ts'
import { type Containment, uncontained } from './containment.ts'
import type { HookRequest } from './decision.ts'

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
  /** What the thread that resolves the request allows. */
  readonly containment: Containment
}

/** What is made at first need and then serves the whole request. */
interface Memory {
  /** The payload as expressions see it: its integers beyond 2^53 are texts. */
  texts: { readonly payload: unknown } | undefined
  exact: { readonly payload: unknown } | undefined
  /** What the sender calls this delivery, once it was looked for. */
  delivery: { readonly id: string | undefined } | undefined
}

/** Our names win over a payload key of the same name, which stays reachable through `payload`. */
const readers = {
  payload: (scope: Scope): unknown => scope.payload,
  headers: (scope: Scope): unknown => scope.request.headers,
  query: (scope: Scope): unknown => scope.request.query,
  path: (scope: Scope): unknown => scope.request.endpoint,
  params: (scope: Scope): unknown => scope.params,
  vars: (scope: Scope): unknown => scope.vars,
  item: (scope: Scope): unknown => scope.item,
  index: (scope: Scope): unknown => scope.index,
  now: (scope: Scope): unknown => new Date(scope.request.now).toISOString(),
} as const

export type OurName = keyof typeof readers

/** What the names in a mapping's texts mean, which is known at load. A name that is not ours is a key of the payload. */
export interface ScopeNames {
  /** The same for names that mean the same. */
  readonly key: string
  /** Those that have a value in this mapping. */
  readonly ours: ReadonlySet<string>
  /** A key of the payload that stands for a list of the one element that an action is about, as OpenClaw has it. */
  readonly elementList?: string
}

/** All of ours. */
export const everyName: ScopeNames = Object.freeze({ key: '', ours: new Set(Object.keys(readers)) })

const noParams: Readonly<Record<string, string>> = Object.freeze({})

/** `containment`: by default nothing is refused. */
export function createScope(request: HookRequest, containment: Containment = uncontained): Scope {
  return {
    request,
    payload: request.payload,
    exact: false,
    params: noParams,
    item: undefined,
    index: undefined,
    vars: undefined,
    memory: { texts: undefined, exact: undefined, delivery: undefined },
    containment,
  }
}

/** The same request with every integer beyond 2^53 kept as it was written. */
export function withExactNumbers(scope: Scope): Scope {
  const { memory, request } = scope
  memory.exact ??= { payload: parseExact(writtenJson(request)) ?? request.payload }
  return { ...scope, payload: memory.exact.payload, exact: true }
}

/** How to read one of our names; nothing for any other, which is then a key of the payload. */
export function reservedReader(
  name: string,
  { ours, elementList }: ScopeNames = everyName,
): ((scope: Scope) => unknown) | undefined {
  if (name === elementList) return ({ item }) => [item]
  return ours.has(name) ? readers[name as OurName] : undefined
}

/** The root of an expression: the payload and nothing else, its integers beyond 2^53 as texts. */
export function expressionPayload({ memory, request }: Scope): unknown {
  memory.texts ??= { payload: parseTexts(writtenJson(request)) ?? request.payload }
  return memory.texts.payload
}

function writtenJson({ unwrapped, rawBody }: HookRequest): string | Uint8Array {
  return unwrapped ?? rawBody
}
