/**
 * Decides how many deliveries of each channel are performed at one time. A channel that can send nothing has room for none,
 * so its deliveries are neither claimed nor written, and take no room from other channels. Each channel has a circuit:
 *
 *   closed --failure of the whole channel--> open --time is over, or configured again--> half-open --sent, or answered--> closed
 *                                             ^------------------ the same failure -----------'
 *
 * A half-open circuit lets one delivery through. Users read `open` for a closed circuit, `held` for an open one and `probing`
 * for a half-open one (see `stateOf`). The circuits are in memory: after a restart the first tries find out again.
 */

import { isDeepStrictEqual } from 'node:util'
import { type Backoff, backoffMs, type ChannelLimits } from '@reveille/kit'
import type { Failure } from '../../agent/failure.ts'
import type { DispatchOptions } from '../options.ts'
import type { ChannelState } from './channel-state.ts'
import { type FailureScope, failureScopeOf, pauseAfterLimit } from './failure-scope.ts'
import { createSlidingWindow, createTargetWindows } from './window.ts'

/** The answer to whether the next part may be sent. */
export type SendPermit =
  /** The part is counted as sent now. `configurationVersion` is handed back with the outcome. */
  | { readonly kind: 'granted'; readonly configurationVersion: number }
  /** The wait is so short that the performer waits on the spot and asks again. */
  | { readonly kind: 'wait'; readonly ms: number }
  /** Nothing may be sent before `until`, to this `target` or on the whole `channel`. The performer releases its place. */
  | { readonly kind: 'release'; readonly whose: 'target' | 'channel'; readonly until: number }

export type ChannelCircuitBreaker = ReturnType<typeof createCircuitBreaker>

interface BreakerOptions extends Pick<DispatchOptions, 'log' | 'now' | 'timers' | 'random' | 'observer'> {
  /** Called when the limits have changed. */
  onChange(): void
}

/** What a failure says that opens a circuit. */
type OpeningScope = Exclude<FailureScope, 'answered' | 'unclear'>

/** The failure that opened a circuit. */
interface Opening {
  readonly scope: OpeningScope
  readonly code: string
  readonly reason: string
  readonly since: number
  readonly until: number
  /** How many times in a row a probe met the same failure. */
  readonly times: number
}

interface Circuit {
  readonly configuration: unknown
  /** Grows with each configuration: a failure under an earlier one says nothing about this one. */
  readonly configurationVersion: number
  readonly overall: ReturnType<typeof createSlidingWindow>
  readonly targets: ReturnType<typeof createTargetWindows>
  /** Deliveries that found the service down, since anything found it up. */
  readonly failures: Set<string>
  /** Set until the circuit is closed again. */
  opening?: Opening
  isHalfOpen: boolean
  /** The channel's overall pace allows nothing before this time. */
  pacedUntil?: number
  timer?: unknown
}

/** How many deliveries of one channel may be under way at one time. */
const channelRoom = 4
const leastConcurrency = 16
/** How many different deliveries find the service down before it is taken for down. */
const failuresToOpen = 3

/** An operator does not mend a credential within seconds, but most services that are down are so for seconds. */
const backoffs: Readonly<Record<Exclude<OpeningScope, 'limited'>, Backoff>> = {
  refused: { firstMs: 60_000, mostMs: 600_000 },
  down: { firstMs: 2000, mostMs: 60_000 },
}

/** A longer wait for a target releases the place to other targets of the channel. Milliseconds. */
const longestTargetWait = 250
/** Up to here the performer waits on the spot: no other delivery of the channel could be sent meanwhile. Milliseconds. */
const longestChannelWait = 1000

export function createCircuitBreaker({ log, now, timers, random, observer, onChange }: BreakerOptions) {
  let circuits = new Map<string, Circuit>()
  let lastVersion = 0
  let isStopped = false

  function create(configuration: unknown): Circuit {
    lastVersion += 1
    return {
      configuration,
      configurationVersion: lastVersion,
      overall: createSlidingWindow(),
      targets: createTargetWindows(),
      failures: new Set(),
      isHalfOpen: false,
    }
  }

  /** Paces are the vendor's and outlive a configuration. An open circuit becomes half-open: one delivery goes first. */
  function reconfigure(old: Circuit, configuration: unknown): Circuit {
    timers.clearTimeout(old.timer)
    const { overall, targets, opening, pacedUntil } = old
    return {
      ...create(configuration),
      overall,
      targets,
      pacedUntil,
      opening: opening && { ...opening, times: 0 },
      isHalfOpen: opening !== undefined,
    }
  }

  function isOpen({ opening, isHalfOpen }: Circuit): boolean {
    return opening !== undefined && !isHalfOpen
  }

  function blockedUntil(circuit: Circuit): number | undefined {
    return isOpen(circuit) ? circuit.opening?.until : circuit.pacedUntil
  }

  function roomOf(circuit: Circuit): number {
    if (blockedUntil(circuit) !== undefined) return 0
    return circuit.isHalfOpen ? 1 : channelRoom
  }

  /** One timer serves an open circuit and a pace: it ends the one that it was set for. */
  function setTimer(circuit: Circuit): void {
    timers.clearTimeout(circuit.timer)
    const until = blockedUntil(circuit)
    if (until === undefined || isStopped) return
    circuit.timer = timers.setTimeout(() => unblock(circuit), Math.max(0, until - now()))
  }

  function unblock(circuit: Circuit): void {
    if (isOpen(circuit)) circuit.isHalfOpen = true
    else circuit.pacedUntil = undefined
    setTimer(circuit)
    onChange()
  }

  function untilOf(scope: OpeningScope, failure: Failure, times: number): number {
    if (scope === 'limited') return now() + pauseAfterLimit(failure)
    return now() + backoffMs(times, backoffs[scope], random)
  }

  function open(name: string, circuit: Circuit, scope: OpeningScope, failure: Failure): void {
    const before = circuit.opening
    const isSame = before?.scope === scope
    // Deliveries that were under way when the circuit opened give no new information.
    if (isOpen(circuit) && isSame && scope !== 'limited') return
    const times = isSame ? (before?.times ?? 0) + 1 : 1
    const until = Math.ceil(untilOf(scope, failure, times))
    if (isOpen(circuit) && until <= (before?.until ?? 0)) return
    const { code, reason } = failure
    circuit.opening = { scope, code, reason, since: before?.since ?? now(), until, times }
    circuit.isHalfOpen = false
    const facts = { channel: name, code, reason, until, inMs: until - now() }
    // A probe that meets the same failure again is logged for debugging only.
    if (isSame && times > 1) log.debug({ event: 'channel-held', ...facts }, 'the channel is held still')
    else log.warn({ event: 'channel-held', ...facts }, 'nothing is sent on the channel for a while')
    // A service that says for how long it takes nothing refuses nothing.
    if (scope !== 'limited') observer?.channelChanged?.(stateOf(name, circuit))
    setTimer(circuit)
    onChange()
  }

  function close(name: string, circuit: Circuit): void {
    circuit.failures.clear()
    const { opening } = circuit
    if (opening === undefined || !circuit.isHalfOpen) return
    circuit.opening = undefined
    circuit.isHalfOpen = false
    const heldMs = now() - opening.since
    log.info(
      { event: 'channel-opened', channel: name, code: opening.code, heldMs },
      'the channel is open again',
    )
    observer?.channelChanged?.(stateOf(name, circuit))
    setTimer(circuit)
    onChange()
  }

  /** Returns undefined for an outcome under an earlier configuration. */
  function find(name: string, configurationVersion: number): Circuit | undefined {
    const circuit = circuits.get(name)
    return circuit?.configurationVersion === configurationVersion ? circuit : undefined
  }

  return {
    /** Sets the live channels. Returns those that are new or whose configuration changed. */
    configure(channels: Readonly<Record<string, unknown>>): readonly string[] {
      const changed: string[] = []
      const next = new Map<string, Circuit>()
      for (const [name, configuration] of Object.entries(channels)) {
        const old = circuits.get(name)
        const isSame = old !== undefined && isDeepStrictEqual(old.configuration, configuration)
        if (!isSame) changed.push(name)
        next.set(name, isSame ? old : old ? reconfigure(old, configuration) : create(configuration))
      }
      for (const [name, circuit] of circuits) if (!next.has(name)) timers.clearTimeout(circuit.timer)
      circuits = next
      for (const name of changed) setTimer(circuits.get(name) as Circuit)
      onChange()
      return changed
    },

    /** Returns how many deliveries the store hands out at one time, in all and by the name of each channel. */
    limits: () => ({
      concurrency: Math.max(leastConcurrency, channelRoom * circuits.size),
      pools: Object.fromEntries([...circuits].map(([name, circuit]) => [name, roomOf(circuit)])),
    }),

    requestPermit(name: string, target: string, { perTarget, overall }: ChannelLimits): SendPermit {
      const circuit = circuits.get(name)
      // A reload has removed the channel, and the performer reports that.
      if (circuit === undefined) return { kind: 'granted', configurationVersion: 0 }
      const at = now()
      const blocked = blockedUntil(circuit)
      if (blocked !== undefined) return { kind: 'release', whose: 'channel', until: blocked }
      const targetWindow = perTarget && circuit.targets.of(target, perTarget, at)
      const targetWait = perTarget && targetWindow ? targetWindow.waitMs(perTarget, at) : 0
      if (targetWait > longestTargetWait) return { kind: 'release', whose: 'target', until: at + targetWait }
      const channelWait = overall ? circuit.overall.waitMs(overall, at) : 0
      if (channelWait > longestChannelWait) {
        circuit.pacedUntil = at + channelWait
        setTimer(circuit)
        onChange()
        return { kind: 'release', whose: 'channel', until: circuit.pacedUntil }
      }
      const ms = Math.max(targetWait, channelWait)
      if (ms > 0) return { kind: 'wait', ms }
      if (perTarget) targetWindow?.take(perTarget, at)
      if (overall) circuit.overall.take(overall, at)
      return { kind: 'granted', configurationVersion: circuit.configurationVersion }
    },

    sent(name: string, configurationVersion: number) {
      const circuit = find(name, configurationVersion)
      if (circuit) close(name, circuit)
    },

    failed(name: string, configurationVersion: number, delivery: string, failure: Failure) {
      const circuit = find(name, configurationVersion)
      if (circuit === undefined) return
      const scope = failureScopeOf(failure)
      if (scope === 'answered') return close(name, circuit)
      if (scope === 'unclear') return
      if (scope !== 'down') return open(name, circuit, scope, failure)
      circuit.failures.add(delivery)
      if (circuit.isHalfOpen || circuit.failures.size >= failuresToOpen) open(name, circuit, scope, failure)
    },

    /** Returns when a channel that has no room now gets room again. */
    blockedUntil(name: string): number | undefined {
      const circuit = circuits.get(name)
      return circuit && blockedUntil(circuit)
    },

    read: () => [...circuits].map(([channel, circuit]) => stateOf(channel, circuit)),

    stop() {
      isStopped = true
      for (const circuit of circuits.values()) timers.clearTimeout(circuit.timer)
    },
  }
}

/** Users read whether a channel sends (`open`), is held, or is probed. That is not the state of a circuit. */
function stateOf(channel: string, { opening, isHalfOpen }: Circuit): ChannelState {
  if (opening === undefined) return { channel, state: 'open' }
  const { code, reason, since, until } = opening
  return {
    channel,
    state: isHalfOpen ? 'probing' : 'held',
    code,
    reason,
    since,
    ...(!isHalfOpen && { until }),
  }
}
