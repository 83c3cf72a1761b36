/** Owns the functions that take a list of numbers. */

import type { Focus } from '../library.ts'
import { takeEach } from './elements.ts'

type Numbers = readonly unknown[] | undefined

export async function sum(this: Focus, list: Numbers): Promise<number | undefined> {
  if (list === undefined) return undefined
  let total = 0
  await takeEach(this, list, 'numbers', (number: number) => {
    total += number
  })
  return total
}

export async function average(this: Focus, list: Numbers): Promise<number | undefined> {
  const total = await sum.call(this, list)
  return list === undefined || list.length === 0 ? undefined : (total as number) / list.length
}

export async function max(this: Focus, list: Numbers): Promise<number | undefined> {
  return await extreme(this, list, Math.max)
}

export async function min(this: Focus, list: Numbers): Promise<number | undefined> {
  return await extreme(this, list, Math.min)
}

async function extreme(focus: Focus, list: Numbers, better: typeof Math.max): Promise<number | undefined> {
  if (list === undefined || list.length === 0) return undefined
  let best: number | undefined
  await takeEach(focus, list, 'numbers', (number: number) => {
    best = best === undefined ? number : better(best, number)
  })
  return best
}
