/** States as words with a colour, so that no state is known by its colour alone. */

import type { RequestOutcome, RunState } from '../data/types.ts'

/** The colour of a state, by what it asks of the operator. */
export type Tone = 'good' | 'quiet' | 'busy' | 'warn' | 'bad'

export const outcomes: readonly RequestOutcome[] = [
  'accepted',
  'ignored',
  'skipped',
  'duplicate',
  'handshake',
  'failed',
  'refused',
]

export const runStates: readonly RunState[] = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'timed-out',
  'cancelled',
  'parked',
]

export const deliveryStates = ['pending', 'delivered', 'skipped', 'parked'] as const

/** States that are not listed are quiet. */
const tones: Readonly<Record<string, Tone>> = {
  accepted: 'good',
  handshake: 'busy',
  failed: 'bad',
  refused: 'warn',
  queued: 'busy',
  running: 'busy',
  succeeded: 'good',
  'timed-out': 'bad',
  parked: 'warn',
  pending: 'busy',
  delivered: 'good',
  consumed: 'good',
  open: 'warn',
  resolved: 'good',
  done: 'good',
  live: 'good',
  rejected: 'bad',
  matched: 'good',
  interrupted: 'warn',
  'losing-events': 'bad',
  failing: 'bad',
  degraded: 'warn',
  // Parts of the gateway.
  idle: 'good',
  working: 'good',
  starting: 'busy',
  waiting: 'busy',
  probing: 'busy',
  'held-elsewhere': 'busy',
  budget: 'warn',
  unconfigured: 'warn',
  held: 'bad',
  stopped: 'bad',
}

/** Outcome of a request. A transform that refuses does so on purpose, which is no failure. */
export function endOf({ outcome, code }: { readonly outcome: string; readonly code?: string }) {
  return code === 'TRANSFORM_REFUSED' ? ({ state: 'refused', tone: 'quiet' } as const) : { state: outcome }
}

export function toneOf(state: string): Tone {
  return tones[state] ?? 'quiet'
}

/** `tone` replaces the usual one of a state. */
export function Badge({ state, tone }: { readonly state: string; readonly tone?: Tone }) {
  return <span class={`badge tone-${tone ?? toneOf(state)}`}>{state.replaceAll('-', ' ')}</span>
}
