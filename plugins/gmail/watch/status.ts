/** Reports the status of the source: its worst problem, or that all is well. */

import type { SourceReport } from '@reveille/kit'

export interface Status {
  /** Reports from now on, while there is no problem, that all is well, in this sentence. */
  begin(detail: string): void
  /** Makes a place for the problem of one part. */
  problem(): Problem
  time(name: string, at: number): void
  /** Replaces the number by `total`. */
  count(name: string, total: number): void
  counted(name: string): number
}

export interface Problem {
  set(state: 'failing' | 'waiting', detail: string): void
  /** Ends the problem and reports it. */
  clear(): void
  /** Ends the problem without a report, because the caller reports what comes of it. */
  release(): void
}

interface Condition {
  readonly state: SourceReport['state']
  readonly detail: string
}

export function createStatus(report: (report: SourceReport) => void): Status {
  /** The problems in the order in which they arose. */
  const problems = new Map<object, Condition>()
  const times = new Map<string, number>()
  const counts = new Map<string, number>()
  let normal: Condition | undefined

  function worstCondition(): Condition | undefined {
    const all = [...problems.values()]
    return all.find(({ state }) => state === 'waiting') ?? all[0] ?? normal
  }

  function publish(): void {
    const now = worstCondition()
    if (now === undefined) return
    report({ ...now, times: Object.fromEntries(times), counts: Object.fromEntries(counts) })
  }

  return {
    begin(detail) {
      normal = { state: 'working', detail }
      publish()
    },
    problem() {
      const key = {}
      return {
        set(state, detail) {
          problems.set(key, { state, detail })
          publish()
        },
        clear() {
          if (problems.delete(key)) publish()
        },
        release() {
          problems.delete(key)
        },
      }
    },
    time(name, at) {
      times.set(name, at)
      publish()
    },
    count(name, total) {
      counts.set(name, total)
      publish()
    },
    counted: (name) => counts.get(name) ?? 0,
  }
}
