/** Owns what keeps the expression library from holding the event loop and from filling the memory. */

import type jsonata from 'jsonata'
import { takeTurn } from '../resolve/turn.ts'

/** Elements that a function of ours handles between two looks at the clock. */
const batch = 1024

/** The library asks what is bound to this name before each node of the program, and awaits its answer. */
const entry = Symbol.for('jsonata.__evaluate_entry') as unknown as string

/**
 * The library's own evaluation only ever waits for itself, which no other request gets past; its `$sort` copies
 * a list for each of its elements, and its `$distinct` compares all with all.
 */
export function guardExpression(expression: jsonata.Expression): void {
  expression.assign(entry, takeTurn)
  expression.registerFunction('sort', sort, '<af?:a>')
  expression.registerFunction('distinct', distinct, '<x:x>')
}

type IsAfter = (left: unknown, right: unknown) => boolean | Promise<boolean>

/** A stable merge sort; `isAfter` may be a function of the expression's. */
async function sort(list: readonly unknown[] | undefined, isAfter?: IsAfter): Promise<unknown> {
  if (list === undefined || list.length <= 1) return list
  const swaps = isAfter ?? ascending(list)
  let sorted = Array.from(list)
  for (let width = 1; width < sorted.length; width *= 2) {
    const merged: unknown[] = []
    for (let start = 0; start < sorted.length; start += 2 * width) {
      const middle = Math.min(start + width, sorted.length)
      const end = Math.min(middle + width, sorted.length)
      let left = start
      let right = middle
      while (left < middle && right < end) {
        const answer = swaps(sorted[left], sorted[right])
        const swapped = typeof answer === 'boolean' ? answer : await answer
        merged.push(sorted[swapped ? right++ : left++])
        if (merged.length % batch === 0) await takeTurn()
      }
      while (left < middle) merged.push(sorted[left++])
      while (right < end) merged.push(sorted[right++])
    }
    sorted = merged
  }
  return sorted
}

/** @throws Error `D3070`, the library's, where the elements have no order of their own */
function ascending(list: readonly unknown[]): IsAfter {
  const [first] = list
  const ordered = typeof first === 'number' || typeof first === 'string'
  if (!ordered || list.some((element) => typeof element !== typeof first)) {
    throw Object.assign(new Error('the elements are neither all numbers nor all texts'), { code: 'D3070' })
  }
  return (left, right) => (left as number) > (right as number)
}

/** The library's types leave its lists out. */
type Focus = jsonata.Focus & { createSequence?(): unknown[] }

/** The first of equal elements; objects are equal whatever the order of their keys. */
async function distinct(this: Focus, list: unknown): Promise<unknown> {
  if (!Array.isArray(list) || list.length <= 1) return list
  // A list that the library made itself is unwrapped where one element is left.
  const result = 'sequence' in list && this.createSequence ? this.createSequence() : []
  const values = new Set<unknown>()
  const objects = new Set<string>()
  for (const [index, element] of list.entries()) {
    const seen = typeof element === 'object' && element !== null ? objects : values
    const size = seen.size
    if (seen === objects) objects.add(JSON.stringify(element, inOrder))
    else values.add(element)
    if (seen.size > size) result.push(element)
    if (index % batch === batch - 1) await takeTurn()
  }
  return result
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}
