/** Says in words how some parts of a gateway fare. */

import type { Answer } from '../api/routes/client.ts'
import type { NodeRecord } from '../store/port.ts'
import { shortTime } from './print.ts'

type Status = Answer<'readStatus'>
export type ChannelStatus = Status['channels'][number]

/** `endpoints.github.budget 12 of 200 runs, 90 of 1,000 tokens`. */
export function budgetText({
  key,
  limit,
  runs,
  tokens,
  usd = 0,
  isSpent,
}: Status['budgets'][number]): string {
  const spent = { runs, tokens, usd: Math.round(usd * 100) / 100 }
  const parts = (['runs', 'tokens', 'usd'] as const).flatMap((unit) => {
    const most = limit[unit]
    const noun = unit === 'usd' ? 'USD' : unit
    return most === undefined
      ? []
      : `${spent[unit].toLocaleString('en')} of ${most.toLocaleString('en')} ${noun}`
  })
  return `${key} ${parts.join(', ')}${isSpent ? ' (spent)' : ''}`
}

/** `slack is held until 12:04:10: bad-credential: Slack refuses the token.`; undefined where the channel is not held. */
export function holdText(status: ChannelStatus | undefined, now: number): string | undefined {
  if (status === undefined || status.state === 'open') return undefined
  const why = [status.code, status.reason].filter(Boolean)
  const state = status.state === 'probing' ? 'tried with one delivery' : channelState(status, now)
  return [`${status.channel} is ${state}`, ...why].join(': ')
}

function channelState({ state, until }: ChannelStatus, now: number): string {
  if (state === 'unconfigured') return 'not configured'
  return state === 'held' && until !== undefined ? `held until ${shortTime(until, now)}` : state
}

/** Says that nodes serve different configurations, or undefined. */
export function differences(nodes: readonly NodeRecord[]): string | undefined {
  const alike = Map.groupBy(nodes, ({ sharedDigest }) => sharedDigest)
  alike.delete(undefined)
  if (alike.size < 2) return undefined
  const sides = [...alike.values()].map((on) => {
    const digests = new Set(on.map(({ digest }) => digest))
    return `${[...digests].join(', ')} on ${on.map(({ name }) => name).join(', ')}`
  })
  return `they serve different configurations: ${sides.join('; ')}`
}

/** `slack:C0123456789`. */
export function addressText({ channel, to }: { readonly channel: string; readonly to?: string }): string {
  return to === undefined ? channel : `${channel}:${to}`
}
