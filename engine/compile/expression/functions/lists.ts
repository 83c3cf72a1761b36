/** Owns the functions of lists and objects, for lists as long and objects as large as a payload can hold. */

import { type Focus, isCallable, libraryFunction, turnOf } from '../library.ts'
import { mostElements, thrownLimit, tooManyElements } from '../limit.ts'
import type { Turns } from '../scheduler.ts'
import { checkTested } from '../weigh.ts'

/** Elements that are handled between two looks at the clock. */
const batch = 512

type Fields = Record<string, unknown>

export function zip(...lists: readonly unknown[]): unknown {
  const length = Math.min(...lists.map((list) => (Array.isArray(list) ? list.length : 0)))
  if (length * lists.length > mostElements) throw tooManyElements()
  return Array.from({ length }, (_, index) => lists.map((list) => (list as readonly unknown[])[index]))
}

export async function keys(this: Focus, value: unknown): Promise<unknown> {
  const found = new Set<string>()
  await eachObject([value], turnOf(this), (object) => {
    for (const key of Object.keys(object)) {
      found.add(key)
      if (found.size > mostElements) throw tooManyElements()
    }
  })
  const result = this.createSequence()
  for (const key of found) result.push(key)
  return result
}

export async function lookup(this: Focus, value: unknown, key: string): Promise<unknown> {
  if (!Array.isArray(value)) return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  const result = this.createSequence()
  await eachObject([...value].reverse(), turnOf(this), (object) => {
    if (!Object.hasOwn(object, key)) return
    const found = object[key]
    for (const each of Array.isArray(found) ? found : [found]) if (each !== undefined) result.push(each)
  })
  return result
}

/** Elements of one payload, and not of one that an expression has put into many places. */
const mostWaiting = 600_000

/** In their order, however deep in lists. `waiting` is used up; what is met first stands last in it. */
async function eachObject(
  waiting: unknown[],
  turn: Turns['turn'],
  visit: (object: Fields) => void,
): Promise<void> {
  let looked = 0
  while (waiting.length > 0) {
    const current = waiting.pop()
    looked += 1
    if (looked % batch === 0) await turn()
    if (Array.isArray(current)) {
      for (let index = current.length - 1; index >= 0; index--) waiting.push(current[index])
      if (waiting.length > mostWaiting) throw thrownLimit('it looks into more than one payload holds')
    } else if (isObject(current)) {
      visit(current)
    }
  }
}

export async function spread(this: Focus, value: unknown): Promise<unknown> {
  if (!Array.isArray(value) && !isObject(value)) return value
  const turn = turnOf(this)
  const result = this.createSequence()
  for (const [index, element] of (Array.isArray(value) ? value : [value]).entries()) {
    // Lists in lists may hold one element each.
    if (index % batch === batch - 1 || Array.isArray(element)) await turn()
    const spreadElement = Array.isArray(element) ? await spread.call(this, element) : partsOf(element)
    for (const part of spreadElement as readonly unknown[]) result.push(part)
  }
  return result
}

/** An object in objects of one field each; anything else as it is. */
function partsOf(element: unknown): readonly unknown[] {
  if (!isObject(element)) return element === undefined ? [] : [element]
  const fields = Object.keys(element)
  if (fields.length > mostElements) throw tooManyElements()
  return fields.map((key) => Object.assign(Object.create(null), { [key]: element[key] }))
}

export async function merge(this: Focus, objects: readonly unknown[] | undefined): Promise<unknown> {
  if (objects === undefined) return undefined
  const turn = turnOf(this)
  const result: Fields = Object.create(null)
  let merged = 0
  for (const object of objects) {
    merged += 1
    if (merged % batch === 0) await turn()
    if (!isObject(object)) throw { code: 'T0412', value: objects, index: 1, type: 'objects' }
    for (const key of Object.keys(object)) {
      merged += 1
      if (merged % batch === 0) await turn()
      result[key] = object[key]
    }
  }
  return result
}

export function reverse(list: readonly unknown[] | undefined): readonly unknown[] | undefined {
  return list === undefined || list.length <= 1 ? list : Array.from(list).reverse()
}

export function shuffle(list: readonly unknown[] | undefined): readonly unknown[] | undefined {
  if (list === undefined || list.length <= 1) return list
  const shuffled = Array.from(list)
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1))
    const element = shuffled[last]
    shuffled[last] = shuffled[other]
    shuffled[other] = element
  }
  return shuffled
}

export function boolean(value: unknown): unknown {
  checkTested(value)
  return libraryFunction('boolean').call(undefined, value)
}

export function not(value: unknown): unknown {
  const answer = boolean(value)
  return answer === undefined ? undefined : !answer
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isCallable(value)
}
