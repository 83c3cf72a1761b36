/**
 * Keeps the last six hours in steps of a minute, in memory, for the plots of the console: what became of requests, how long accepting took,
 * how much waited, and what turns cost. All of it lies in typed arrays of 22 KB. Steps end when something happens or is read, so that an
 * idle gateway has no timer for them.
 */

import { type RequestOutcome, requestOutcomes } from '../store/port.ts'
import { createHistogram } from './histogram.ts'

export const stepMs = 60_000
const steps = 360

/** Lists are of equal length, the oldest step first. The last step has not ended. */
export interface SeriesAnswer {
  readonly stepMs: number
  /** When the first step began. Milliseconds since the Unix epoch. */
  readonly from: number
  readonly outcomes: Readonly<Record<RequestOutcome, readonly number[]>>
  /** From the head of an accepted request to its reply, in milliseconds; null where none was accepted. */
  readonly acceptMs: {
    readonly p50: readonly (number | null)[]
    readonly p99: readonly (number | null)[]
  }
  /** Queued runs and unsent deliveries at the end of the step, or now. */
  readonly backlog: readonly number[]
  /** Of turns that ended in the step. */
  readonly tokens: readonly number[]
  readonly usd: readonly number[]
}

export type Series = ReturnType<typeof createSeries>

export function createSeries({ now, backlog: readBacklog }: { now(): number; backlog(): number }) {
  const counts = requestOutcomes.map(() => new Uint32Array(steps))
  const p50 = new Float32Array(steps)
  const p99 = new Float32Array(steps)
  const backlog = new Uint32Array(steps)
  const tokens = new Float64Array(steps)
  const usd = new Float64Array(steps)
  const accepting = createHistogram()
  const first = Math.floor(now() / stepMs)
  let current = first
  let place = current % steps

  /** A clock that is set back adds to the newest step until it has caught up. */
  function advance(at: number): void {
    const step = Math.floor(at / stepMs)
    if (step > current) moveTo(step)
  }

  function moveTo(step: number): void {
    measure()
    accepting.reset()
    const left = backlog[place] as number
    for (let next = Math.max(current + 1, step - steps + 1); next <= step; next++) {
      place = next % steps
      for (const each of [...counts, tokens, usd]) each[place] = 0
      p50[place] = Number.NaN
      p99[place] = Number.NaN
      // Nothing happened since, or the step would have ended before.
      backlog[place] = left
    }
    current = step
  }

  function measure(): void {
    p50[place] = accepting.quantile(0.5) ?? Number.NaN
    p99[place] = accepting.quantile(0.99) ?? Number.NaN
    backlog[place] = readBacklog()
  }

  return {
    /** `outcome` is the index in `requestOutcomes`. `acceptMs` is given for requests that were accepted. */
    noteRequest(at: number, outcome: number, acceptMs?: number): void {
      advance(at)
      const column = counts[outcome]
      if (column) column[place] = (column[place] as number) + 1
      if (acceptMs !== undefined) accepting.observe(acceptMs)
    },
    /** Something ended that changes the backlog, and may have cost something. */
    noteWork(spentTokens = 0, spentUsd = 0): void {
      advance(now())
      tokens[place] = (tokens[place] as number) + spentTokens
      usd[place] = (usd[place] as number) + spentUsd
    },
    read(minutes: number): SeriesAnswer {
      advance(now())
      measure()
      const from = Math.max(first, current + 1 - Math.min(steps, minutes))
      const listed = <Value>(valueAt: (place: number) => Value): Value[] =>
        Array.from({ length: current + 1 - from }, (_, index) => valueAt((from + index) % steps))
      const numbers = (column: Uint32Array | Float64Array) => listed((at) => column[at] as number)
      const times = (column: Float32Array) =>
        listed((at) => {
          const ms = column[at] as number
          return Number.isNaN(ms) ? null : Math.round(ms * 100) / 100
        })
      return {
        stepMs,
        from: from * stepMs,
        outcomes: Object.fromEntries(
          requestOutcomes.map((name, index) => [name, numbers(counts[index] as Uint32Array)]),
        ) as unknown as SeriesAnswer['outcomes'],
        acceptMs: { p50: times(p50), p99: times(p99) },
        backlog: numbers(backlog),
        tokens: numbers(tokens),
        usd: numbers(usd).map((amount) => Math.round(amount * 1_000_000) / 1_000_000),
      }
    },
  }
}
