/** Records in words: an address, a filter, what a run has cost. */

import { counted, duration, shortTime } from './time.tsx'

/** `board to team`. */
export function addressText({ channel, to }: { readonly channel: string; readonly to?: string }): string {
  return to === undefined ? channel : `${channel} to ${to}`
}

/** `outcome failed, since Nov 24, 12:00:00`. */
export function filterText(filter: object): string {
  return Object.entries(filter)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? shortTime(value) : value}`)
    .join(', ')
}

interface Spent {
  readonly startedAt?: number
  readonly ranAt?: number
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number; readonly usd?: number }
}

/** `1.2 s · 3,400 tokens · $0.02`, as far as it is known. */
export function spentText({ startedAt, ranAt, usage = {} }: Spent): string {
  const tokens = (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
  return [
    startedAt !== undefined && ranAt !== undefined && duration(ranAt - startedAt),
    tokens > 0 && counted(tokens, 'token'),
    usage.usd !== undefined && dollars(usage.usd),
  ]
    .filter(Boolean)
    .join(' · ')
}

/** Two digits of what is less than a cent. */
export function dollars(amount: number): string {
  return `$${amount >= 0.01 || amount === 0 ? amount.toFixed(2) : amount.toPrecision(2)}`
}
