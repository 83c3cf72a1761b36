/** Owns `$sort` and `$distinct` of long lists: the library's copy a list for each element, or compare all with all. */

import { createHash } from 'node:crypto'
import { evaluationOf, type Focus, turnOf } from '../library.ts'
import { spendText } from '../made.ts'
import { checkCompared } from '../weigh.ts'
import type { Callback } from './callback.ts'

/** Elements that are handled between two looks at the clock. */
const batch = 512
/** Characters of a text that is handled like the others. */
const longestText = 1_000
/** Characters of an object, as JSON, that is not told apart from others by its digest. */
const longestKey = 64

/** A stable merge sort; `isAfter` may be a function of the expression's. */
export async function sort(
  this: Focus,
  list: readonly unknown[] | undefined,
  isAfter?: Callback,
): Promise<unknown> {
  if (list === undefined || list.length <= 1) return list
  const turn = turnOf(this)
  const swaps = isAfter === undefined ? ascending(list) : undefined
  await turn()
  for (const element of list)
    if (typeof element === 'string') spendText(evaluationOf(this.environment), element)
  let steps = 0
  let sorted = Array.from(list)
  for (let width = 1; width < sorted.length; width *= 2) {
    const merged: unknown[] = []
    for (let start = 0; start < sorted.length; start += 2 * width) {
      const middle = Math.min(start + width, sorted.length)
      const end = Math.min(middle + width, sorted.length)
      steps += end - start
      if (steps >= batch) {
        steps = 0
        await turn()
      }
      let left = start
      let right = middle
      while (left < middle && right < end) {
        const pair = [sorted[left], sorted[right]] as const
        const swapped = swaps === undefined ? await isAfter?.apply(this, pair) : swaps(...pair)
        merged.push(sorted[swapped ? right++ : left++])
        if (merged.length % batch === 0 || isLong(pair)) await turn()
      }
      while (left < middle) merged.push(sorted[left++])
      while (right < end) merged.push(sorted[right++])
    }
    sorted = merged
  }
  return sorted
}

/** Comparing long texts takes long. */
function isLong([one]: readonly [unknown, unknown]): boolean {
  return typeof one === 'string' && one.length > longestText
}

/** @throws `D3070`, the library's, where the elements have no order of their own */
function ascending(list: readonly unknown[]): (left: unknown, right: unknown) => boolean {
  const [first] = list
  const ordered = typeof first === 'number' || typeof first === 'string'
  if (!ordered || list.some((element) => typeof element !== typeof first))
    throw { code: 'D3070', value: list, index: 1 }
  return (left, right) => (left as number) > (right as number)
}

/** The first of equal elements; objects are equal whatever the order of their keys. */
export async function distinct(this: Focus, list: unknown): Promise<unknown> {
  if (!Array.isArray(list) || list.length <= 1) return list
  const turn = turnOf(this)
  // A list that the library made itself is unwrapped where one element is left.
  const result: unknown[] = 'sequence' in list ? this.createSequence() : []
  const values = new Set<unknown>()
  const objects = new Set<string>()
  for (const [index, element] of list.entries()) {
    const isObject = typeof element === 'object' && element !== null
    const isText = typeof element === 'string' && element.length > longestText
    if (isObject || isText || index % batch === batch - 1) await turn()
    if (isText) spendText(evaluationOf(this.environment), element)
    if (values.has(element)) continue
    values.add(element)
    if (isObject) {
      const key = keyOf(element)
      if (objects.has(key)) continue
      objects.add(key)
    }
    result.push(element)
  }
  return result
}

function keyOf(element: object): string {
  checkCompared(element)
  const text = JSON.stringify(element, inOrder)
  return text.length <= longestKey ? text : createHash('sha256').update(text).digest('base64')
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const ordered: Record<string, unknown> = Object.create(null)
  for (const key of Object.keys(value).sort()) ordered[key] = (value as Record<string, unknown>)[key]
  return ordered
}
