/**
 * Decides how many deliveries of each channel are performed at one time. A channel that can send nothing has room for none,
 * so its deliveries are neither claimed nor written, and take no room from other channels. Each channel has a circuit; a
 * half-open one lets one delivery through.
 */

import { isDeepStrictEqual } from 'node:util'
import type { ChannelLimits } from '@reveille/kit'
import type { Failure } from '../../agent/failure.ts'
import { type Circuit, type CircuitState, createCircuit } from '../circuit.ts'
import type { DispatchOptions } from '../options.ts'
import type { ChannelState } from './channel-state.ts'
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
  /** Called when a channel with its live configuration has sent a message. */
  onSent?(channel: string): void
}

interface PacedChannel {
  readonly configuration: unknown
  /** Grows with each configuration: a failure under an earlier one says nothing about this one. */
  readonly configurationVersion: number
  readonly circuit: Circuit
  readonly overall: ReturnType<typeof createSlidingWindow>
  readonly targets: ReturnType<typeof createTargetWindows>
  readonly pace: ReturnType<typeof createPace>
}

/** Maximum number of deliveries of one channel under way. */
const channelRoom = 4
const minConcurrency = 16

/** An operator does not repair a credential within seconds, but most services that are down are so for seconds. */
const backoffs = {
  refused: { firstMs: 60_000, maxMs: 600_000 },
  down: { firstMs: 2000, maxMs: 60_000 },
} as const

/** A longer wait for a target releases the place to other targets of the channel. Milliseconds. */
const maxTargetWaitMs = 250
/** Up to here the performer waits on the spot: no other delivery of the channel could be sent meanwhile. Milliseconds. */
const maxChannelWait = 1000

export function createCircuitBreaker(options: BreakerOptions) {
  const { now, onChange } = options
  let channels = new Map<string, PacedChannel>()
  let lastVersion = 0

  function create(name: string, configuration: unknown): PacedChannel {
    const circuit = createChannelCircuit(options, name)
    const windows = {
      overall: createSlidingWindow(),
      targets: createTargetWindows(),
      pace: createPace(options),
    }
    return { configuration, configurationVersion: ++lastVersion, circuit, ...windows }
  }

  /** Paces are the vendor's and outlive a configuration. An open circuit becomes half-open: one delivery goes first. */
  function reconfigure(old: PacedChannel, configuration: unknown): PacedChannel {
    old.circuit.configured()
    return { ...old, configuration, configurationVersion: ++lastVersion }
  }

  /** Returns undefined for an outcome under an earlier configuration. */
  function find(name: string, configurationVersion: number): Circuit | undefined {
    const channel = channels.get(name)
    return channel?.configurationVersion === configurationVersion ? channel.circuit : undefined
  }

  return {
    /** Sets the live channels. Returns those that are new or whose configuration changed. */
    configure(configurations: Readonly<Record<string, unknown>>): readonly string[] {
      const changed: string[] = []
      const next = new Map<string, PacedChannel>()
      for (const [name, configuration] of Object.entries(configurations)) {
        const old = channels.get(name)
        const isSame = old !== undefined && isDeepStrictEqual(old.configuration, configuration)
        if (!isSame) changed.push(name)
        next.set(name, isSame ? old : old ? reconfigure(old, configuration) : create(name, configuration))
      }
      for (const [name, channel] of channels) if (!next.has(name)) stopTimers(channel)
      channels = next
      onChange()
      return changed
    },

    /** Returns how many deliveries the store hands out at one time, in all and by the name of each channel. */
    limits: () => ({
      concurrency: Math.max(minConcurrency, channelRoom * channels.size),
      pools: Object.fromEntries([...channels].map(([name, channel]) => [name, roomOf(channel)])),
    }),

    requestPermit(name: string, target: string, limits: ChannelLimits): SendPermit {
      const channel = channels.get(name)
      // A reload has removed the channel, and the performer reports that.
      if (channel === undefined) return { kind: 'granted', configurationVersion: 0 }
      const permit = permitOf(channel, target, limits, now())
      if (permit.kind === 'release' && permit.whose === 'channel' && blockedUntil(channel) === undefined)
        channel.pace.set(permit.until)
      return permit
    },

    sent(name: string, version: number): void {
      const circuit = find(name, version)
      if (circuit === undefined) return
      circuit.succeeded()
      options.onSent?.(name)
    },
    failed: (name: string, version: number, delivery: string, failure: Failure) =>
      find(name, version)?.failed(delivery, failure),

    /** Returns when a channel that has no room now gets room again. */
    blockedUntil: (name: string) => blockedUntil(channels.get(name)),

    read: () => [...channels].map(([name, { circuit }]) => stateOf(name, circuit.state())),

    stop() {
      for (const channel of channels.values()) stopTimers(channel)
    },
  }
}

/** Keeps the time before which the overall pace of a channel allows nothing. */
function createPace({ now, timers, onChange }: BreakerOptions) {
  let until: number | undefined
  let isStopped = false
  let timer: unknown

  function passed(): void {
    until = undefined
    onChange()
  }

  return {
    until: () => until,
    set(time: number): void {
      until = time
      timers.clearTimeout(timer)
      if (!isStopped) timer = timers.setTimeout(passed, Math.max(0, time - now()))
      onChange()
    },
    stop(): void {
      isStopped = true
      timers.clearTimeout(timer)
    },
  }
}

/** Takes the place in the windows of a channel, or says for whom there is none. */
function permitOf(
  channel: PacedChannel,
  target: string,
  { perTarget, overall }: ChannelLimits,
  at: number,
): SendPermit {
  const blocked = blockedUntil(channel)
  if (blocked !== undefined) return { kind: 'release', whose: 'channel', until: blocked }
  const targetWindow = perTarget && channel.targets.of(target)
  const targetWait = perTarget && targetWindow ? targetWindow.waitMs(perTarget, at) : 0
  if (targetWait > maxTargetWaitMs) return { kind: 'release', whose: 'target', until: at + targetWait }
  const channelWait = overall ? channel.overall.waitMs(overall, at) : 0
  if (channelWait > maxChannelWait) return { kind: 'release', whose: 'channel', until: at + channelWait }
  const ms = Math.max(targetWait, channelWait)
  if (ms > 0) return { kind: 'wait', ms }
  if (perTarget) targetWindow?.take(perTarget, at)
  if (overall) channel.overall.take(overall, at)
  return { kind: 'granted', configurationVersion: channel.configurationVersion }
}

function createChannelCircuit(options: BreakerOptions, name: string): Circuit {
  const { log, now, observer } = options
  const circuit = createCircuit({
    ...options,
    backoffs,
    onOpen({ scope, code, reason, until }, isRepeated) {
      const facts = { channel: name, code, reason, until, inMs: until - now() }
      // A probe that meets the same failure again is logged for debugging only.
      if (isRepeated) log.debug({ event: 'channel-held', ...facts }, 'the channel is held still')
      else log.warn({ event: 'channel-held', ...facts }, 'nothing is sent on the channel for a while')
      // A service that says for how long it takes nothing refuses nothing.
      if (scope !== 'limited') observer?.channelChanged?.(stateOf(name, circuit.state()))
    },
    onClose({ code, since }) {
      const heldMs = now() - since
      log.info({ event: 'channel-opened', channel: name, code, heldMs }, 'the channel is open again')
      observer?.channelChanged?.(stateOf(name, circuit.state()))
    },
  })
  return circuit
}

function blockedUntil(channel: PacedChannel | undefined): number | undefined {
  return channel?.circuit.openUntil() ?? channel?.pace.until()
}

function roomOf(channel: PacedChannel): number {
  if (blockedUntil(channel) !== undefined) return 0
  return channel.circuit.state().isHalfOpen ? 1 : channelRoom
}

function stopTimers({ circuit, pace }: PacedChannel): void {
  circuit.stop()
  pace.stop()
}

/** Users read whether a channel sends (`open`), is held, or is probed. That is not the state of a circuit. */
function stateOf(channel: string, { opening, isHalfOpen }: CircuitState): ChannelState {
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
