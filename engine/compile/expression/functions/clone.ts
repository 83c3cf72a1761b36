/** Owns `$clone`, with which every transform `|…|…|` begins. */

import { evaluationOf, type Focus, isCallable } from '../library.ts'
import { thrownLimit } from '../limit.ts'

/** As many as a payload can have. */
const mostValues = 600_000
/** Values that are copied between two looks at the clock. */
const batch = 512

/**
 * From which objects inherit nothing: a transform may set any key of them, `__proto__` too. Those that inherit from
 * `null` itself take five times the memory.
 */
const nothing: object = Object.freeze(Object.create(null))

export async function clone(this: Focus, value: unknown): Promise<unknown> {
  const { clones, turn } = evaluationOf(this.environment)
  const open: { readonly from: object; readonly to: object }[] = []
  let values = 0
  const copy = (from: unknown): unknown => {
    values += 1
    if (typeof from !== 'object' || from === null) return typeof from === 'function' ? '' : from
    if (isCallable(from)) return ''
    const to: object = Array.isArray(from) ? [] : Object.create(nothing)
    clones.add(to)
    open.push({ from, to })
    return to
  }
  const result = copy(value)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { from, to } = next
    if (Array.isArray(from)) {
      for (const child of from) {
        ;(to as unknown[]).push(copy(child ?? null))
        if (values % batch === 0) await turn()
      }
    } else {
      for (const key of Object.keys(from)) {
        const child = (from as Record<string, unknown>)[key]
        if (child !== undefined) (to as Record<string, unknown>)[key] = copy(child)
        if (values % batch === 0) await turn()
      }
    }
    if (values > mostValues) throw thrownLimit('what it copies is larger than a payload')
  }
  return result
}
