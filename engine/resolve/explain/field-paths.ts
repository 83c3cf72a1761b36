/** Lists the fields of payloads with their types and an example of each, for authors who write a mapping for them. */

import { writePath } from '../../config/values/path.ts'
import type { HookRequest } from '../model/decision.ts'
import { createRedactor, type Redactor } from './redact.ts'

export type FieldType = 'object' | 'list' | 'string' | 'number' | 'boolean' | 'null'

export interface FieldPath {
  /** As a template names it: `pull_request.labels[0].name`. */
  readonly path: string
  /** The types that were seen. */
  readonly types: readonly FieldType[]
  /** A value as compact JSON, shortened and without secrets. Absent for an object or a list. */
  readonly example?: string
  /** In how many of the payloads it is. */
  readonly seen: number
}

export interface FieldPaths {
  readonly fields: readonly FieldPath[]
  /** The names of headers, each with an example. */
  readonly headers: readonly { readonly name: string; readonly example: string; readonly seen: number }[]
  /** Present if there are more than are listed. */
  readonly cut?: true
}

const maxFields = 1_000
const maxDepth = 12
/** Elements of a list hardly differ in what they have. */
const elementsOfList = 3
/** The values of one payload that are looked at. */
const maxValues = 5_000
const maxExampleLength = 80

interface SeenField {
  readonly types: Set<FieldType>
  example: string | undefined
  seen: number
  /** The payload that counted it last. */
  by: number
}

/** The newest request first: its values are the examples. */
export function fieldPathsOf(requests: readonly HookRequest[]): FieldPaths {
  const fields = new Map<string, SeenField>()
  const headers = new Map<string, { example: string; seen: number }>()
  const state = { isCut: false }

  function note(path: string, value: unknown, by: number, redactor: Redactor): void {
    const field = fields.get(path)
    if (field === undefined && fields.size >= maxFields) {
      state.isCut = true
      return
    }
    const found: SeenField = field ?? { types: new Set(), example: undefined, seen: 0, by: -1 }
    if (field === undefined) fields.set(path, found)
    const type = typeOf(value)
    found.types.add(type)
    if (found.by !== by) found.seen++
    found.by = by
    if (type !== 'object' && type !== 'list') found.example ??= shorten(redactor.value(value, path))
  }

  for (const [by, request] of requests.entries()) {
    const redactor = createRedactor(request)
    let left = maxValues
    const walk = (value: unknown, path: readonly (string | number)[]): void => {
      if (left-- <= 0 || path.length > maxDepth) {
        state.isCut = true
        return
      }
      if (path.length > 0) note(writePath(path), value, by, redactor)
      if (typeof value !== 'object' || value === null) return
      if (Array.isArray(value)) {
        // One name for all elements, as a template names the first.
        for (const element of value.slice(0, elementsOfList)) walk(element, [...path, 0])
        return
      }
      for (const [name, inner] of Object.entries(value)) walk(inner, [...path, name])
    }
    walk(request.payload, [])
    for (const [name, value] of Object.entries(request.headers)) {
      const text = [value ?? []].flat()[0]
      if (text === undefined) continue
      const header = headers.get(name)
      if (header) header.seen++
      else if (headers.size < maxFields)
        headers.set(name, { example: shorten(redactor.value(text, name)), seen: 1 })
    }
  }
  return {
    fields: [...fields].map(([path, { types, example, seen }]) => ({
      path,
      types: [...types],
      ...(example !== undefined && { example }),
      seen,
    })),
    headers: [...headers].map(([name, { example, seen }]) => ({ name, example, seen })),
    ...(state.isCut && { cut: true as const }),
  }
}

function typeOf(value: unknown): FieldType {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : (typeof value as FieldType)
}

function shorten(text: string): string {
  return text.length > maxExampleLength ? `${text.slice(0, maxExampleLength).toWellFormed()}…` : text
}
