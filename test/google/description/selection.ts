/**
 * Selects parts of answers by `fields`: `messages(id,threadId),nextPageToken` or `payload/headers`.
 * https://developers.google.com/workspace/gmail/api/guides/performance#partial
 */

import type { Fields, Type } from './typings.ts'

/** Maps each selected field to its own selection. Undefined selects all of an object. */
export interface Selection {
  readonly fields: ReadonlyMap<string, Selection> | undefined
}

/** Returns undefined if the text is no selection, or selects a field that the answer cannot have. */
export function parseSelection(
  text: string,
  answer: Type,
  schemas: ReadonlyMap<string, Fields>,
): Selection | undefined {
  const tokens = text.match(/[\w*]+|[(),/]|./gs) ?? []
  let at = 0

  function list(type: Type): Selection {
    const chosen = new Map<string, Selection>()
    let isAll = false
    do {
      const name = tokens[at++] ?? ''
      if (name === '*') {
        isAll = true
        continue
      }
      const field = fieldsOf(type)?.get(name)
      if (field === undefined) throw new Error(`Invalid field selection ${name}`)
      chosen.set(name, rest(field.type))
    } while (tokens[at] === ',' && at++ >= 0)
    return { fields: isAll ? undefined : chosen }
  }

  function rest(type: Type): Selection {
    if (tokens[at] === '/') {
      at += 1
      const name = tokens[at++] ?? ''
      if (name === '*') return { fields: undefined }
      const field = fieldsOf(type)?.get(name)
      if (field === undefined) throw new Error(`Invalid field selection ${name}`)
      return { fields: new Map([[name, rest(field.type)]]) }
    }
    if (tokens[at] !== '(') return { fields: undefined }
    at += 1
    const inner = list(type)
    if (tokens[at++] !== ')') throw new Error('A bracket is missing.')
    return inner
  }

  function fieldsOf(type: Type): Fields | undefined {
    switch (type.kind) {
      case 'list':
        return fieldsOf(type.of)
      case 'schema':
        return schemas.get(type.name)
      case 'object':
        return type.fields
      default:
        return undefined
    }
  }

  try {
    const selection = list(answer)
    return at === tokens.length ? selection : undefined
  } catch {
    return undefined
  }
}

export function select(value: unknown, { fields }: Selection): unknown {
  if (fields === undefined) return value
  if (Array.isArray(value)) return value.map((each) => select(each, { fields }))
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).flatMap(([name, each]) => {
    const inner = fields.get(name)
    return inner === undefined ? [] : [[name, select(each, inner)]]
  })
  return Object.fromEntries(kept)
}
