/** Finds where a reply goes, from what the run asked for, the last route and the configured channels. */

import type { Settings } from '@reveille/engine'
import type { Channel, Target } from '@reveille/kit'
import { failureOf } from '../../agent/failure.ts'
import type { Route } from '../../store/port.ts'

/** The channels that are configured now. */
export interface ConfiguredChannels {
  channel(name: string): Channel | undefined
  /** The configuration of each channel, by its name. */
  readonly channels: Settings['channels']
}

/** Returns the route that replies to `last` take while no last route is set. Undefined if its channel is not configured. */
export function assumedRoute(channels: Settings['channels']): Route | undefined {
  const route = fallbackRoute(channels)
  return Object.hasOwn(channels, route.channel) ? route : undefined
}

/** Returns the only configured channel besides `terminal`, if it has a `defaultTo`, and otherwise `whatsapp`. */
export function fallbackRoute(channels: Settings['channels']): Route {
  const [only, ...others] = Object.keys(channels).filter((name) => name !== 'terminal')
  const to = only === undefined ? undefined : channels[only]?.['defaultTo']
  const isClear = only !== undefined && others.length === 0 && typeof to === 'string' && to.trim() !== ''
  return isClear ? { channel: only, to } : { channel: 'whatsapp' }
}

export type Destination =
  | { readonly ok: true; readonly channel: string; readonly to: string; readonly target: Target }
  | {
      readonly ok: false
      readonly channel: string
      readonly to?: string
      readonly code: string
      /** Advice in one sentence. */
      readonly reason: string
    }

export function resolveDestination(
  requested: { readonly channel: string; readonly to?: string },
  last: Route | undefined,
  { channel, channels }: ConfiguredChannels,
): Destination {
  const name = requested.channel === 'last' ? (last ?? fallbackRoute(channels)).channel : requested.channel
  const found = channel(name)
  if (!found) {
    const isAssumed = requested.channel === 'last' && last === undefined
    const reason = isAssumed ? noAssumedRoute(name, Object.keys(channels)) : noChannel(name)
    const to = requested.to !== undefined && { to: requested.to }
    return { ok: false, channel: name, ...to, code: 'NO_ROUTE', reason }
  }
  const to = requested.to ?? (last?.channel === name ? last.to : undefined) ?? found.defaultTo
  if (to === undefined) return { ok: false, channel: name, code: 'NO_ROUTE', reason: noRecipient(name) }
  try {
    const target = found.target(to)
    if (typeof target?.key !== 'string') throw new TypeError('the channel gave no target')
    return { ok: true, channel: name, to, target }
  } catch (error) {
    const failure = failureOf(error, 'CHANNEL_FAILED')
    return { ok: false, channel: name, to, code: failure.code, reason: failure.message }
  }
}

function noChannel(name: string): string {
  return `channel ${name} is not configured: add channels.${name}, or name a channel that is configured`
}

/** The reason for a reply to `last` while no last route is set and the assumed channel is not configured. */
function noAssumedRoute(name: string, channels: readonly string[]): string {
  const [only, ...others] = channels.filter((each) => each !== 'terminal')
  const missing = `channel ${name} is not configured: `
  if (only === undefined)
    return `${missing}add channels.${name}, or another channel with \`reveille init channel NAME\``
  return others.length === 0
    ? `${missing}set channels.${only}.defaultTo, or the last route with \`reveille route set ${only} TO\``
    : `${missing}set the last route with \`reveille route set CHANNEL TO\``
}

function noRecipient(name: string): string {
  return `channel ${name} has no recipient: give "to", set the last route, or set channels.${name}.defaultTo`
}
