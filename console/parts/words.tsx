/** Records in words: times and durations that fit a list, sizes, an address, a filter, the cost of a run. */

import { signal } from '@preact/signals'

/** Changes twice a minute, so that `5 min ago` stays true. */
export const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, 30_000)

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

/** Today's times without the day. */
export function shortTime(at: number): string {
  const isToday = new Date(at).toDateString() === new Date().toDateString()
  return isToday ? clock.format(at) : `${day.format(at)}, ${clock.format(at)}`
}

export function Time({ at, isAgo = false }: { readonly at: number; readonly isAgo?: boolean }) {
  return (
    <time dateTime={new Date(at).toISOString()} title={whole.format(at)}>
      {isAgo ? agoText(now.value - at) : shortTime(at)}
    </time>
  )
}

function agoText(ms: number): string {
  if (ms < 60_000) return 'just now'
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ago`
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h ago`
  const days = Math.floor(ms / 86_400_000)
  return days === 1 ? 'a day ago' : `${days} days ago`
}

export function duration(ms: number): string {
  if (ms < 1) return '< 1 ms'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
  return `${Math.floor(ms / 3_600_000)} h ${Math.round((ms % 3_600_000) / 60_000)} min`
}

export function bytes(count: number): string {
  if (count < 1_024) return `${count} B`
  if (count < 1_048_576) return `${(count / 1_024).toFixed(1)} KiB`
  return `${(count / 1_048_576).toFixed(1)} MiB`
}

/** `3 requests`, `1 request`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? noun : plural}`
}

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
