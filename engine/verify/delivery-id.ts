/** Owns what names a delivery: the same for every try of it, and another one for every other. */

import { hash } from 'node:crypto'
import { memberOf, valueAt } from '../resolve/payload-path.ts'
import { headerOf } from './header.ts'
import type { DeliveredRequest } from './provider.ts'
import type { DeliveryId } from './scheme.ts'

/** Longer ones, of batches above all, are told by their digest. */
const longestId = 200

/** Undefined where the request has none. */
export type FindDeliveryId = (request: DeliveredRequest) => string | undefined

export function createDeliveryIdFinder(places: DeliveryId = []): FindDeliveryId {
  const finders = places.map(createFinder)
  return (request) => {
    for (const find of finders) {
      const id = find(request)
      if (id !== undefined) return id.length > longestId ? digestOf(id) : id
    }
    return undefined
  }
}

function createFinder(place: DeliveryId[number]): FindDeliveryId {
  if ('digest' in place) return ({ rawBody }) => digestOf(rawBody)
  if ('headers' in place) {
    return ({ headers }) => join(place.headers.map((name) => headerOf(headers, name)))
  }
  const finders = place.body.map(createPathFinder)
  return ({ payload }) => join(finders.map((find) => find(payload)))
}

function digestOf(text: string | Uint8Array): string {
  return `sha256:${hash('sha256', text, 'hex')}`
}

/** A single text is its own name; several are written so that no two lists look the same. All of them, or none. */
function join(values: readonly unknown[]): string | undefined {
  if (values.includes(undefined)) return undefined
  const [first] = values
  return values.length === 1 && typeof first === 'string' ? first : JSON.stringify(values)
}

/** Finds a text, or a list of texts where the path goes through lists. */
function createPathFinder(path: string): (payload: unknown) => unknown {
  const names = path.split('.')
  if (!path.includes('[]')) return (payload) => idText(valueAt(payload, names))
  return (payload) => {
    const found: unknown[] = []
    collect(payload, names, 0, found)
    const texts = found.map(idText)
    return texts.length === 0 || texts.includes(undefined) ? undefined : texts
  }
}

/** An element that lacks what the path names adds nothing: of a batch, only some may have it. */
function collect(value: unknown, names: readonly string[], at: number, into: unknown[]): void {
  const name = names[at]
  if (value === undefined || value === null) return
  if (name === undefined) {
    into.push(value)
  } else if (!name.endsWith('[]')) {
    collect(memberOf(value, name), names, at + 1, into)
  } else {
    const list = name === '[]' ? value : memberOf(value, name.slice(0, -2))
    if (Array.isArray(list)) for (const element of list) collect(element, names, at + 1, into)
  }
}

/** A number that was rounded when it was read could be another one's: it names nothing. */
function idText(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}
