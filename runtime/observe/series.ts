/**
 * Keeps the last six hours in steps of a minute, in memory, for the plots of the console: what became of requests, how long accepting took,
 * how much waited, and what turns cost. Steps end when something happens or is read, so that an idle gateway has no timer for them.
 */

import { type RequestOutcome, requestOutcomes } from '../store/port.ts'
import { createHistogram } from './histogram.ts'

const stepMs = 60_000
const maxSteps = 360

interface Step {
  readonly outcomes: Record<RequestOutcome, number>
  /** From the head of an accepted request to its reply, in milliseconds; null where none was accepted. */
  p50: number | null
  p99: number | null
  /** Queued runs and unsent deliveries at the end of the step, or now. */
  backlog: number
  /** Of turns that ended in the step. */
  tokens: number
  usd: number
}

export function createSeries({ now, backlog }: { now(): number; backlog(): number }) {
  const accepting = createHistogram()
  let number = Math.floor(now() / stepMs)
  let newest = newStep(0)
  /** The newest is the last one, and has not ended. */
  let steps = [newest]

  /** A clock that is set back adds to the newest step until it has caught up. */
  function advance(at: number): void {
    const next = Math.floor(at / stepMs)
    if (next <= number) return
    measure()
    accepting.reset()
    // Nothing happened since, or the step would have ended before.
    const missing = Array.from({ length: Math.min(maxSteps, next - number) }, () => newStep(newest.backlog))
    steps = [...steps, ...missing].slice(-maxSteps)
    newest = steps.at(-1) as Step
    number = next
  }

  function measure(): void {
    newest.p50 = roundedTo(100, accepting.quantile(0.5))
    newest.p99 = roundedTo(100, accepting.quantile(0.99))
    newest.backlog = backlog()
  }

  return {
    /** `acceptMs` is given for requests that were accepted. */
    noteRequest(at: number, outcome: RequestOutcome, acceptMs?: number): void {
      advance(at)
      newest.outcomes[outcome] += 1
      if (acceptMs !== undefined) accepting.observe(acceptMs)
    },

    /** Something ended that changes the backlog, and may have cost something. */
    noteWork(tokens = 0, usd = 0): void {
      advance(now())
      newest.tokens += tokens
      newest.usd += usd
    },

    /** Returns lists of equal length, the oldest step first. */
    read(minutes: number) {
      advance(now())
      measure()
      const shown = steps.slice(-minutes)
      const outcomes = requestOutcomes.map((name) => [name, shown.map((step) => step.outcomes[name])])
      return {
        stepMs,
        from: (number + 1 - shown.length) * stepMs,
        outcomes: Object.fromEntries(outcomes) as Record<RequestOutcome, number[]>,
        acceptMs: { p50: shown.map(({ p50 }) => p50), p99: shown.map(({ p99 }) => p99) },
        backlog: shown.map((step) => step.backlog),
        tokens: shown.map(({ tokens }) => tokens),
        usd: shown.map(({ usd }) => roundedTo(1_000_000, usd) ?? 0),
      }
    },
  }
}

function newStep(backlog: number): Step {
  return { outcomes: noOutcomes(), p50: null, p99: null, backlog, tokens: 0, usd: 0 }
}

/** Zero for each outcome. */
export function noOutcomes(): Record<RequestOutcome, number> {
  return Object.fromEntries(requestOutcomes.map((name) => [name, 0])) as Record<RequestOutcome, number>
}

function roundedTo(parts: number, value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value * parts) / parts
}
