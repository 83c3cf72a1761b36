/** Validates and adds up the token counts of runners, and what they cost. */

import { costOf, type Price } from '@reveille/engine'
import type { Usage } from '@reveille/kit'
import type { RunUsage } from '../store/port.ts'

const counts = ['inputTokens', 'outputTokens', 'cachedInputTokens', 'reasoningTokens'] as const

/** Keeps only valid counts. A plugin's types are no guarantee, and a count that the store refuses would lose the answer. */
export function readUsage(usage: Usage | undefined): Usage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined
  return pick((count) => (isCount(usage[count]) ? usage[count] : undefined))
}

/** Adds what the tokens cost. They cost nothing known without a price, or if the runner counted none. */
export function pricedUsage(usage: Usage | undefined, price: Price | undefined): RunUsage | undefined {
  if (usage === undefined || price === undefined || tokensOf(usage) === 0) return usage
  return { ...usage, usd: costOf(price, usage) }
}

/** Adds two usages. Undefined if neither reports anything. */
export function addUsage(one: RunUsage | undefined, other: RunUsage | undefined): RunUsage | undefined {
  if (!one || !other) return one ?? other
  const usd = addUsd(one.usd, other.usd)
  const tokens = pick((count) =>
    one[count] === undefined && other[count] === undefined ? undefined : sumOf(one[count], other[count]),
  )
  return usd === undefined ? tokens : { ...tokens, usd }
}

/** Adds amounts that are exact to a millionth. */
export function addUsd(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.round((one + other) * 1_000_000) / 1_000_000
}

/** Returns what budgets count: input and output together. Cached tokens are part of the input, reasoning of the output. */
export function tokensOf(usage: Usage | undefined): number {
  return sumOf(usage?.inputTokens, usage?.outputTokens)
}

/** Sums stay within exact integers, because a vendor's counts may be nonsense and the store must be able to keep them. */
function sumOf(one = 0, other = 0): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER)
}

function pick(countIn: (count: (typeof counts)[number]) => number | undefined): Usage {
  const found = counts.flatMap((count) => {
    const value = countIn(count)
    return value === undefined ? [] : [[count, value] as const]
  })
  return Object.fromEntries(found)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
