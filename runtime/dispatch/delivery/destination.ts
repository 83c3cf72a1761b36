/** Owns where a reply goes: from what the run asked for, the last route and the channels, to a target. */

import type { Channel, Target } from '@reveille/kit'
import { failureOf } from '../../agent/failure.ts'
import type { Route } from '../../store/port.ts'

/** Where `last` goes while there is no last route. */
const fallbackChannel = 'whatsapp'

export type Destination =
  | { readonly ok: true; readonly channel: string; readonly to: string; readonly target: Target }
  | {
      readonly ok: false
      readonly channel: string
      readonly to?: string
      readonly code: string
      /** What to do about it, in one sentence. */
      readonly reason: string
    }

export function resolveDestination(
  wanted: { readonly channel: string; readonly to?: string },
  last: Route | undefined,
  channel: (name: string) => Channel | undefined,
): Destination {
  const name = wanted.channel === 'last' ? (last?.channel ?? fallbackChannel) : wanted.channel
  const found = channel(name)
  if (!found)
    return { ok: false, channel: name, ...explicit(wanted), code: 'NO_ROUTE', reason: noChannel(name) }
  const to = wanted.to ?? (last?.channel === name ? last.to : undefined) ?? found.defaultTo
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

function explicit(wanted: { readonly to?: string }): { to?: string } {
  return wanted.to === undefined ? {} : { to: wanted.to }
}

function noChannel(name: string): string {
  return `channel ${name} is not configured: add channels.${name}, or set the last route to a channel that is`
}

function noRecipient(name: string): string {
  return `channel ${name} has no recipient: give "to", set the last route, or set channels.${name}.defaultTo`
}
