/** Queues jobs that wait for a worker, each for a limited time. */

import type { Timers } from '../timers.ts'

export interface JobQueue<Job> {
  readonly size: number
  jobs(): readonly Job[]
  /** Milliseconds. */
  add(job: Job, waitMs: number): void
  /** Adds a job before all others, because its worker was lost. */
  addFirst(job: Job, waitMs: number): void
  /** Removes the first job that may run, and returns it. */
  take(mayRun: (job: Job) => boolean): Job | undefined
  /** Removes all jobs, and returns them. */
  clear(): readonly Job[]
}

/** `gaveUp` is called with a job that was removed because it has waited too long. */
export function createJobQueue<Job>(timers: Timers, gaveUp: (job: Job) => void): JobQueue<Job> {
  const waiting: { readonly job: Job; readonly timer: unknown }[] = []

  function wait(job: Job, waitMs: number) {
    const timer = timers.setTimeout(() => {
      waiting.splice(waiting.indexOf(entry), 1)
      gaveUp(job)
    }, waitMs)
    const entry = { job, timer }
    return entry
  }

  function remove(place: number, count: number): readonly Job[] {
    const removed = waiting.splice(place, count)
    for (const { timer } of removed) timers.clearTimeout(timer)
    return removed.map(({ job }) => job)
  }

  return {
    get size() {
      return waiting.length
    },
    jobs: () => waiting.map(({ job }) => job),
    add: (job, waitMs) => void waiting.push(wait(job, waitMs)),
    addFirst: (job, waitMs) => void waiting.unshift(wait(job, waitMs)),
    take(mayRun) {
      const place = waiting.findIndex(({ job }) => mayRun(job))
      return place === -1 ? undefined : remove(place, 1)[0]
    },
    clear: () => remove(0, waiting.length),
  }
}
