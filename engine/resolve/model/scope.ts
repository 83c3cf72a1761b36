/** Defines the names that templates and expressions see for one request. */

import { parseTexts } from '../../payload/exact-numbers.ts'
import { type Containment, uncontained } from './containment.ts'
import type { HookRequest } from './decision.ts'

export interface Scope {
  readonly request: HookRequest
  /** The values that the mapping's path took from the endpoint's name. */
  readonly params: Readonly<Record<string, string>>
  /** The element of `forEach`, with its position. Absent without `forEach`. */
  readonly item: unknown
  readonly index: number | undefined
  /** The variables that are computed so far. */
  readonly vars: Readonly<Record<string, unknown>> | undefined
  /** Those of the program, once its variables are computed. */
  readonly ownTexts?: ReadonlyMap<string, readonly string[]> | undefined
  readonly memory: Memory
  /** The containment of the thread that resolves the request. */
  readonly containment: Containment
}

/** Values that are computed when first needed and then used for the whole request. */
interface Memory {
  exact: { readonly payload: unknown } | undefined
  /** The id of the delivery, once it was looked up. */
  delivery: { readonly id: string | undefined } | undefined
}

/** These names take precedence over a payload key of the same name, which stays reachable through `payload`. */
const readers = {
  payload: exactPayload,
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

/** The meaning of the names in a mapping's texts, as known at load. An unreserved name is a key of the payload. */
export interface ScopeNames {
  /** Equal for names with the same meaning. */
  readonly key: string
  /** The reserved names that have a value in this mapping. */
  readonly ours: ReadonlySet<string>
  /** A key of the payload that stands for a list of the one element of the action, as in OpenClaw. */
  readonly elementList?: string
}

/** All reserved names. */
export const everyName: ScopeNames = Object.freeze({ key: '', ours: new Set(Object.keys(readers)) })

const noParams: Readonly<Record<string, string>> = Object.freeze({})

/** `containment` allows everything by default. */
export function createScope(request: HookRequest, containment: Containment = uncontained): Scope {
  return {
    request,
    params: noParams,
    item: undefined,
    index: undefined,
    vars: undefined,
    memory: { exact: undefined, delivery: undefined },
    containment,
  }
}

/** Returns the reader of a reserved name, or undefined for any other name, which is a key of the payload. */
export function reservedReader(
  name: string,
  { ours, elementList }: ScopeNames = everyName,
): ((scope: Scope) => unknown) | undefined {
  if (name === elementList) return ({ item }) => [item]
  return ours.has(name) ? readers[name as OurName] : undefined
}

/** Returns the payload that templates and expressions see: with integers beyond 2^53 as strings of their digits. */
export function exactPayload({ memory, request }: Scope): unknown {
  const { payload, unwrapped, rawBody } = request
  memory.exact ??= { payload: parseTexts(unwrapped ?? rawBody) ?? payload }
  return memory.exact.payload
}
