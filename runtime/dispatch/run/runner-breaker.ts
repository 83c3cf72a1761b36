/**
 * Holds the runs of a runner that can answer nobody: its credential is refused, its quota is used up, its program is missing, or its
 * service is down. They stay queued, in their lanes, and none of them fails for it. One run probes whether that is over.
 */

import { BoundedMap } from '@reveille/kit'
import type { Failure } from '../../agent/failure.ts'
import type { RunRecord } from '../../store/port.ts'
import { type Circuit, createCircuit } from '../circuit.ts'
import type { DispatchOptions } from '../options.ts'

/** May a run be performed now? `until` is when to ask again, in milliseconds since the Unix epoch. */
export type RunPermit =
  | { readonly kind: 'held'; readonly until: number; readonly code: string; readonly reason: string }
  | {
      readonly kind: 'granted'
      /** True if the runner answered anyone since the given time. */
      answeredSince(at: number): boolean
      succeeded(): void
      /** `isProven`: the run has used up its own attempts. Returns when to try again if the runner is held now. */
      failed(failure: Failure, isProven: boolean): number | undefined
      /** Nothing was learned, as when the turn was cancelled. Does nothing after the other two. */
      end(): void
    }

export type RunnerBreaker = ReturnType<typeof createRunnerBreaker>

type Asked = Pick<RunRecord, 'id' | 'runner' | 'model'>

interface Entry {
  readonly runner: string
  readonly circuit: Circuit
  isProbing: boolean
  answeredAt: number
}

/** While a probe is under way, which may take as long as a turn, the others ask again after this time. Milliseconds. */
const probeMs = 10_000

/** A person repairs these, or a provider, so the first probes come soon and later ones cost little. */
const backoffs = {
  refused: { firstMs: 60_000, maxMs: 600_000 },
  down: { firstMs: 5000, maxMs: 300_000 },
} as const

/** Requests may name models, so the number of entries has to be bounded. */
const maxEntries = 1000

export function createRunnerBreaker(
  options: Pick<DispatchOptions, 'log' | 'now' | 'timers' | 'random' | 'observer'>,
) {
  const { log, now, observer } = options
  /** By runner and model, since a provider may refuse one of them alone. */
  const entries = new BoundedMap<string, Entry>(maxEntries)

  function create(runner: string): Entry {
    const circuit = createCircuit({
      ...options,
      backoffs,
      onOpen({ code, reason, until }, isRepeated) {
        const facts = { runner, code, reason, until, inMs: until - now() }
        if (isRepeated) log.debug({ event: 'runner-held', ...facts }, 'the runner is held still')
        else log.warn({ event: 'runner-held', ...facts }, 'no run of the runner is performed for a while')
        observer?.runnerChanged?.({ runner, state: 'held', code, reason })
      },
      onClose({ code, since }) {
        log.info({ event: 'runner-opened', runner, code, heldMs: now() - since }, 'the runner is open again')
        const isHeld = [...entries.values()].some(
          (other) => other.circuit !== circuit && other.runner === runner && other.circuit.state().opening,
        )
        if (!isHeld) observer?.runnerChanged?.({ runner, state: 'open' })
      },
      onChange() {},
    })
    return { runner, circuit, isProbing: false, answeredAt: Number.NEGATIVE_INFINITY }
  }

  return {
    permit({ id, runner, model }: Asked): RunPermit {
      const key = `${runner} ${model ?? ''}`
      const entry = entries.get(key) ?? create(runner)
      entries.set(key, entry)
      const { circuit } = entry
      const { opening, isHalfOpen } = circuit.state()
      const openUntil = circuit.openUntil()
      if (opening && (openUntil !== undefined || entry.isProbing)) {
        const { code, reason } = opening
        return { kind: 'held', until: openUntil ?? now() + probeMs, code, reason }
      }
      entry.isProbing = isHalfOpen
      let isOver = false
      const end = () => {
        if (!isOver && isHalfOpen) entry.isProbing = false
        isOver = true
      }
      return {
        kind: 'granted',
        answeredSince: (at) => entry.answeredAt >= at,
        succeeded() {
          end()
          entry.answeredAt = now()
          circuit.succeeded()
        },
        failed(failure, isProven) {
          end()
          circuit.failed(id, failure, isProven)
          return circuit.openUntil()
        },
        end,
      }
    },

    /** Lets held runners be tried at once: all, or one. Returns whether any was held. */
    tryAgain(runner?: string): boolean {
      const held = [...entries.values()].filter(
        (entry) => entry.circuit.openUntil() !== undefined && (runner ?? entry.runner) === entry.runner,
      )
      for (const { circuit } of held) circuit.configured()
      return held.length > 0
    },

    stop() {
      for (const { circuit } of entries.values()) circuit.stop()
    },
  }
}
