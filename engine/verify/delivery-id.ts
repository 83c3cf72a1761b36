/** Finds the id of a delivery, which is the same for every attempt of it and different for every other delivery. */

import { hash } from 'node:crypto'
import { valueAt } from '../config/values/path.ts'
import { memberOf } from '../payload/payload-path.ts'
import type { DeliveryId } from '../providers/scheme.ts'
import { headerOf } from './header.ts'
import type { Headers } from './verifier.ts'

/** The parts of a request that may hold the id of its delivery. */
export interface DeliveredRequest {
  readonly headers: Headers
  readonly payload: unknown
  readonly rawBody: Uint8Array
}

/** Longer ids, mostly those of batches, are replaced by their digest. */
const maxIdLength = 200

/** Returns undefined where the request has no id. */
export type FindDeliveryId = (request: DeliveredRequest) => string | undefined

export function createDeliveryIdFinder(places: DeliveryId = []): FindDeliveryId {
  const finders = places.map(createFinder)
  return (request) => {
    const ids = finders.values().map((find) => find(request))
    const id = ids.find((each) => each !== undefined)
    return id !== undefined && id.length > maxIdLength ? digestOf(id) : id
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

/** A single text is the id itself; several are joined so that no two lists give the same id. All must be there. */
function join(values: readonly unknown[]): string | undefined {
  if (values.includes(undefined)) return undefined
  const [first] = values
  return values.length === 1 && typeof first === 'string' ? first : JSON.stringify(values)
}

/** The function returned finds a text, or a list of texts where the path goes through lists. */
function createPathFinder(path: string): (payload: unknown) => unknown {
  const names = path.split('.')
  if (!path.includes('[]')) return (payload) => idText(valueAt(payload, names))
  return (payload) => {
    const values: unknown[] = []
    collect(payload, names, 0, values)
    const texts = values.map(idText)
    return texts.length === 0 || texts.includes(undefined) ? undefined : texts
  }
}

/** An element that lacks what the path names adds nothing, because only some elements of a batch may have it. */
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

/** A number that was rounded when it was parsed could belong to another delivery, so it names none. */
function idText(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}
