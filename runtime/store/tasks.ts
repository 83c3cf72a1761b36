/** Owns the few tasks that there are, so that accepting and doing name them alike. */

import type { Id, NewTask } from './port.ts'

/** Events that ask for `now` within this time of each other cost one heartbeat. Milliseconds. */
export const heartbeatBurstMs = 250

/** The lane of a session: its turns go in order, one at a time. */
export function laneOf(sessionKey: string): string {
  return `session:${sessionKey}`
}

/** `lane` only where a session key was given: a key of the run's own can have no second run. */
export function runTask(run: { id: Id; sessionKey: string; lane: boolean; dueAt: number }): NewTask {
  const task = { key: `run:${run.id}`, kind: 'run', dueAt: run.dueAt, subject: run.id } as const
  return run.lane ? { ...task, lane: laneOf(run.sessionKey) } : task
}

/** One heartbeat of the main session is armed at most; arming it again keeps the earliest time. */
export function heartbeatTask(dueAt: number): NewTask {
  return { key: 'heartbeat:main', kind: 'heartbeat', lane: laneOf('main'), dueAt }
}

export function deliveryTask(delivery: { id: Id; lane: string; dueAt: number }): NewTask {
  return {
    key: `delivery:${delivery.id}`,
    kind: 'delivery',
    lane: delivery.lane,
    dueAt: delivery.dueAt,
    subject: delivery.id,
  }
}
