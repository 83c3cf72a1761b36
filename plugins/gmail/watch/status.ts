/** Owns what is reported of the source: the gravest of its troubles, and otherwise that all is well. */

import type { SourceReport } from '@reveille/kit'

export interface Status {
  /** From here on all is well where there is no trouble; said in this sentence. */
  begin(detail: string): void
  /** A place for the trouble of one part. */
  problem(): Problem
  time(name: string, at: number): void
  /** `total` replaces what was counted. */
  count(name: string, total: number): void
  counted(name: string): number
}

export interface Problem {
  set(state: 'failing' | 'waiting', detail: string): void
  /** It is over. */
  clear(): void
  /** The same, not reported: whoever is told of the failure says what comes of it. */
  release(): void
}

interface Condition {
  readonly state: SourceReport['state']
  readonly detail: string
}

export function createStatus(report: (report: SourceReport) => void): Status {
  /** By the order in which they arose. */
  const problems = new Map<object, Condition>()
  const times = new Map<string, number>()
  const counts = new Map<string, number>()
  let well: Condition | undefined

  function worst(): Condition | undefined {
    const all = [...problems.values()]
    return all.find(({ state }) => state === 'waiting') ?? all[0] ?? well
  }

  function tell(): void {
    const now = worst()
    if (now === undefined) return
    report({ ...now, times: Object.fromEntries(times), counts: Object.fromEntries(counts) })
  }

  return {
    begin(detail) {
      well = { state: 'working', detail }
      tell()
    },
    problem() {
      const key = {}
      return {
        set(state, detail) {
          problems.set(key, { state, detail })
          tell()
        },
        clear() {
          if (problems.delete(key)) tell()
        },
        release() {
          problems.delete(key)
        },
      }
    },
    time(name, at) {
      times.set(name, at)
      tell()
    },
    count(name, total) {
      counts.set(name, total)
      tell()
    },
    counted: (name) => counts.get(name) ?? 0,
  }
}
