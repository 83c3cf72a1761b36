/** Owns the functions that call another for each element: others have a turn between the calls. */

import { type Focus, libraryFunction, turnOf } from '../library.ts'
import { arityOf, type Callback, valuesFor } from './callback.ts'

type List = readonly unknown[]
type Fields = Readonly<Record<string, unknown>>

export async function map(this: Focus, list: List | undefined, callback: Callback): Promise<unknown> {
  if (list === undefined) return undefined
  const turn = turnOf(this)
  const result = this.createSequence()
  for (const [index, element] of list.entries()) {
    await turn()
    const value = await callback.apply(this, valuesFor(callback, element, index, list))
    if (value !== undefined) result.push(value)
  }
  return result
}

export async function filter(this: Focus, list: List | undefined, callback: Callback): Promise<unknown> {
  if (list === undefined) return undefined
  const turn = turnOf(this)
  const result = this.createSequence()
  for (const [index, element] of list.entries()) {
    await turn()
    if (isTrue(await callback.apply(this, valuesFor(callback, element, index, list)))) result.push(element)
  }
  return result
}

export async function single(this: Focus, list: List | undefined, callback?: Callback): Promise<unknown> {
  if (list === undefined) return undefined
  const turn = turnOf(this)
  let found: { readonly element: unknown } | undefined
  for (const [index, element] of list.entries()) {
    await turn()
    const wanted =
      callback === undefined || isTrue(await callback.apply(this, valuesFor(callback, element, index, list)))
    if (!wanted) continue
    if (found !== undefined) throw { code: 'D3138', index }
    found = { element }
  }
  if (found === undefined) throw { code: 'D3139' }
  return found.element
}

export async function reduce(
  this: Focus,
  list: List | undefined,
  callback: Callback,
  initial?: unknown,
): Promise<unknown> {
  if (list === undefined) return undefined
  const turn = turnOf(this)
  const arity = arityOf(callback)
  if (arity < 2) throw { code: 'D3050', index: 1 }
  const begin = initial === undefined && list.length > 0 ? 1 : 0
  let result = begin === 1 ? list[0] : initial
  for (let index = begin; index < list.length; index++) {
    await turn()
    result = await callback.apply(this, [result, list[index], index, list].slice(0, Math.min(4, arity)))
  }
  return result
}

export async function each(this: Focus, object: Fields, callback: Callback): Promise<unknown> {
  const turn = turnOf(this)
  const result = this.createSequence()
  for (const key of keysOf(object)) {
    await turn()
    const field = object[key]
    const value = await callback.apply(this, valuesFor(callback, field, key, object))
    if (value !== undefined) result.push(value)
  }
  return result
}

export async function sift(this: Focus, object: Fields, callback: Callback): Promise<unknown> {
  const turn = turnOf(this)
  const result: Record<string, unknown> = Object.create(null)
  let isEmpty = true
  for (const key of keysOf(object)) {
    await turn()
    const field = object[key]
    if (!isTrue(await callback.apply(this, valuesFor(callback, field, key, object)))) continue
    result[key] = field
    isEmpty = false
  }
  return isEmpty ? undefined : result
}

function keysOf(object: unknown): readonly string[] {
  return typeof object === 'object' && object !== null ? Object.keys(object) : []
}

function isTrue(value: unknown): boolean {
  return typeof value === 'boolean' ? value : libraryFunction('boolean').call(undefined, value) === true
}
