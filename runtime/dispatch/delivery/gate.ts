/**
 * Owns how much of each channel's work is performed at one time. A channel that can send nothing has no room, so that
 * what waits for it is neither claimed nor written, and takes no room from any other.
 *
 *   open --trouble of the whole channel--> held --time is over, or configured anew--> probing --sent, or answered--> open
 *                                           ^--------------------- the same trouble -----'
 *
 * In memory: after a restart the first tries find out again.
 */

import { isDeepStrictEqual } from 'node:util'
import { type Backoff, backoffMs, type ChannelLimits } from '@reveille/kit'
import type { Failure } from '../../agent/failure.ts'
import type { DispatchOptions } from '../options.ts'
import type { ChannelState } from './channel-state.ts'
import { patienceOf, type Trouble, troubleOf } from './trouble.ts'
import { createSlidingWindow, createTargetWindows } from './window.ts'

/** What deliveries the store is to hand out. */
export interface Rooms {
  readonly concurrency: number
  /** By the channel's name. */
  readonly pools: Readonly<Record<string, number>>
}

/** Whether the next part may be sent. */
export type Turn =
  /** It is counted as sent now. `era` is handed back with what came of it. */
  | { readonly kind: 'go'; readonly era: number }
  /** So short that it is waited for on the spot, and asked again. */
  | { readonly kind: 'wait'; readonly ms: number }
  /** Not before `until`: `target` is paced, or the whole `channel` rests. */
  | { readonly kind: 'leave'; readonly whose: 'target' | 'channel'; readonly until: number }

export interface ChannelGate {
  /** Answers the channels whose configuration is another one than at the last call, or that were not there. */
  configure(channels: Readonly<Record<string, unknown>>): readonly string[]
  rooms(): Rooms
  turn(channel: string, target: string, limits: ChannelLimits): Turn
  sent(channel: string, era: number): void
  failed(channel: string, era: number, delivery: string, failure: Failure): void
  /** When a channel that has no room now is looked at again. */
  restsUntil(channel: string): number | undefined
  read(): readonly ChannelState[]
  close(): void
}

interface GateOptions extends Pick<DispatchOptions, 'log' | 'now' | 'timers' | 'random'> {
  /** The rooms are others now. */
  onChange(): void
}

interface Hold {
  readonly trouble: Trouble
  readonly code: string
  readonly reason: string
  readonly since: number
  readonly until: number
  /** How often in a row this trouble was met by those who looked. */
  readonly times: number
}

interface Gated {
  readonly configuration: unknown
  /** Grows with each configuration: what an earlier one met says nothing about this one. */
  readonly era: number
  readonly overall: ReturnType<typeof createSlidingWindow>
  readonly targets: ReturnType<typeof createTargetWindows>
  /** Deliveries that found the service down, since anything found it up. */
  readonly suspects: Set<string>
  /** Stays until the channel is open again. */
  hold?: Hold
  isProbed: boolean
  /** Its overall pace leaves it nothing to do until then. */
  restUntil?: number
  timer?: unknown
}

/** Deliveries of one channel under way at one time. */
const channelRoom = 4
const leastConcurrency = 16
/** Different deliveries that find the service down before it is taken for down. */
const suspectsEnough = 3

/** By the trouble: nobody mends a credential within seconds, and most services that are down are so for seconds. */
const backoffs: Readonly<Record<'refused' | 'down', Backoff>> = {
  refused: { firstMs: 60_000, mostMs: 600_000 },
  down: { firstMs: 2000, mostMs: 60_000 },
}

/** A longer wait gives up its place to other targets of the channel. Milliseconds. */
const longestTargetWait = 250
/** Nobody else could send meanwhile, so it costs nothing to wait. Milliseconds. */
const longestChannelWait = 1000

export function createChannelGate({ log, now, timers, random, onChange }: GateOptions): ChannelGate {
  let gates = new Map<string, Gated>()
  let lastEra = 0
  let isClosed = false

  function create(configuration: unknown): Gated {
    lastEra += 1
    return {
      configuration,
      era: lastEra,
      overall: createSlidingWindow(),
      targets: createTargetWindows(),
      suspects: new Set(),
      isProbed: false,
    }
  }

  /** Paces are the vendor's and outlive a configuration; a hold does not, but one delivery shows first that it is mended. */
  function createAnew(old: Gated, configuration: unknown): Gated {
    timers.clearTimeout(old.timer)
    const { overall, targets, hold, restUntil } = old
    const anew = { ...create(configuration), overall, targets, hold: hold && { ...hold, times: 0 } }
    return Object.assign(anew, { isProbed: hold !== undefined, restUntil })
  }

  function isHeld({ hold, isProbed }: Gated): boolean {
    return hold !== undefined && !isProbed
  }

  function restOf(gate: Gated): number | undefined {
    if (isHeld(gate)) return gate.hold?.until
    return gate.restUntil
  }

  function roomOf(gate: Gated): number {
    if (restOf(gate) !== undefined) return 0
    return gate.isProbed ? 1 : channelRoom
  }

  /** One timer serves both rests: what ends is the one that it was set for. */
  function wake(gate: Gated): void {
    timers.clearTimeout(gate.timer)
    const until = restOf(gate)
    if (until === undefined || isClosed) return
    gate.timer = timers.setTimeout(() => endRest(gate), Math.max(0, until - now()))
  }

  function endRest(gate: Gated): void {
    if (isHeld(gate)) gate.isProbed = true
    else gate.restUntil = undefined
    wake(gate)
    onChange()
  }

  function untilOf(trouble: 'refused' | 'limited' | 'down', failure: Failure, times: number): number {
    if (trouble === 'limited') return now() + patienceOf(failure)
    return now() + backoffMs(times, backoffs[trouble], random)
  }

  function hold(name: string, gate: Gated, trouble: 'refused' | 'limited' | 'down', failure: Failure): void {
    const before = gate.hold
    const isSame = before?.trouble === trouble
    // Of those who were under way when it was held, one is enough.
    if (isHeld(gate) && isSame && trouble !== 'limited') return
    const times = isSame ? (before?.times ?? 0) + 1 : 1
    const until = Math.ceil(untilOf(trouble, failure, times))
    if (isHeld(gate) && until <= (before?.until ?? 0)) return
    const { code, reason } = failure
    gate.hold = { trouble, code, reason, since: before?.since ?? now(), until, times }
    gate.isProbed = false
    const facts = { channel: name, code, reason, until, inMs: until - now() }
    // Whoever looks again and finds the same says so to those alone who want to know everything.
    if (isSame && times > 1) log.debug({ event: 'channel-held', ...facts }, 'the channel is held still')
    else log.warn({ event: 'channel-held', ...facts }, 'nothing is sent on the channel for a while')
    wake(gate)
    onChange()
  }

  function open(name: string, gate: Gated): void {
    gate.suspects.clear()
    const { hold } = gate
    if (hold === undefined || !gate.isProbed) return
    gate.hold = undefined
    gate.isProbed = false
    const heldMs = now() - hold.since
    log.info({ event: 'channel-opened', channel: name, code: hold.code, heldMs }, 'the channel is open again')
    wake(gate)
    onChange()
  }

  /** Undefined for what an earlier configuration met. */
  function find(name: string, era: number): Gated | undefined {
    const gate = gates.get(name)
    return gate?.era === era ? gate : undefined
  }

  return {
    configure(channels) {
      const changed: string[] = []
      const next = new Map<string, Gated>()
      for (const [name, configuration] of Object.entries(channels)) {
        const old = gates.get(name)
        const isSame = old !== undefined && isDeepStrictEqual(old.configuration, configuration)
        if (!isSame) changed.push(name)
        next.set(name, isSame ? old : old ? createAnew(old, configuration) : create(configuration))
      }
      for (const [name, gate] of gates) if (!next.has(name)) timers.clearTimeout(gate.timer)
      gates = next
      for (const name of changed) wake(gates.get(name) as Gated)
      onChange()
      return changed
    },

    rooms: () => ({
      concurrency: Math.max(leastConcurrency, channelRoom * gates.size),
      pools: Object.fromEntries([...gates].map(([name, gate]) => [name, roomOf(gate)])),
    }),

    turn(name, target, { perTarget, overall }) {
      const gate = gates.get(name)
      // A channel that a reload has taken away answers for itself.
      if (gate === undefined) return { kind: 'go', era: 0 }
      const at = now()
      const rest = restOf(gate)
      if (rest !== undefined) return { kind: 'leave', whose: 'channel', until: rest }
      const targetWindow = perTarget && gate.targets.of(target, perTarget, at)
      const targetWait = perTarget && targetWindow ? targetWindow.waitMs(perTarget, at) : 0
      if (targetWait > longestTargetWait) return { kind: 'leave', whose: 'target', until: at + targetWait }
      const channelWait = overall ? gate.overall.waitMs(overall, at) : 0
      if (channelWait > longestChannelWait) {
        gate.restUntil = at + channelWait
        wake(gate)
        onChange()
        return { kind: 'leave', whose: 'channel', until: gate.restUntil }
      }
      const ms = Math.max(targetWait, channelWait)
      if (ms > 0) return { kind: 'wait', ms }
      if (perTarget) targetWindow?.take(perTarget, at)
      if (overall) gate.overall.take(overall, at)
      return { kind: 'go', era: gate.era }
    },

    sent(name, era) {
      const gate = find(name, era)
      if (gate) open(name, gate)
    },

    failed(name, era, delivery, failure) {
      const gate = find(name, era)
      if (gate === undefined) return
      const trouble = troubleOf(failure)
      if (trouble === 'answered') return open(name, gate)
      if (trouble === 'unclear') return
      if (trouble !== 'down') return hold(name, gate, trouble, failure)
      gate.suspects.add(delivery)
      if (gate.isProbed || gate.suspects.size >= suspectsEnough) hold(name, gate, trouble, failure)
    },

    restsUntil(name) {
      const gate = gates.get(name)
      return gate && restOf(gate)
    },

    read: () => [...gates].map(([channel, gate]) => stateOf(channel, gate)),

    close() {
      isClosed = true
      for (const gate of gates.values()) timers.clearTimeout(gate.timer)
    },
  }
}

function stateOf(channel: string, { hold, isProbed }: Gated): ChannelState {
  if (hold === undefined) return { channel, state: 'open' }
  const { code, reason, since, until } = hold
  return { channel, state: isProbed ? 'probing' : 'held', code, reason, since, ...(!isProbed && { until }) }
}
