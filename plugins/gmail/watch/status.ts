/** Reports the status of the source: its worst problem, or that all is well. */

import type { SourceReport } from '@reveille/kit'

export type Status = ReturnType<typeof createStatus>
export type Problem = ReturnType<Status['problem']>

interface Condition {
  readonly state: SourceReport['state']
  readonly detail: string
}

export function createStatus(report: (report: SourceReport) => void) {
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
    /** Reports from now on, while there is no problem, that all is well, in this sentence. */
    begin(detail: string) {
      normal = { state: 'working', detail }
      publish()
    },
    /** Makes a place for the problem of one part. */
    problem() {
      const key = {}
      return {
        set(state: 'failing' | 'waiting', detail: string) {
          problems.set(key, { state, detail })
          publish()
        },
        /** Ends the problem and reports it. */
        clear() {
          if (problems.delete(key)) publish()
        },
        /** Ends the problem without a report, because the caller reports what comes of it. */
        release() {
          problems.delete(key)
        },
      }
    },
    time(name: string, at: number) {
      times.set(name, at)
      publish()
    },
    /** Replaces the number by `total`. */
    count(name: string, total: number) {
      counts.set(name, total)
      publish()
    },
    counted: (name: string) => counts.get(name) ?? 0,
  }
}
