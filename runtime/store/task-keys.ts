/** Names the lanes and keys of tasks, and makes the few kinds that there are, so that the HTTP surface and dispatch name them alike. */

import type { Command, DeliveryRecord, Id, NewTask } from './port.ts'

/** Events that ask for `now` within this time of each other cost one heartbeat. Milliseconds. */
export const heartbeatWindowMs = 250

/** Returns the lane of a session, whose turns go in order, one at a time. */
export function laneOf(sessionKey: string): string {
  return `session:${sessionKey}`
}

const generatedKey = /^hook:([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})$/

/** Returns the first run of a session with a generated key. The key holds the run's id. */
export function firstRunOf(sessionKey: string): Id | undefined {
  return generatedKey.exec(sessionKey)?.[1]
}

/** Generates the session key of a run whose request names none. */
export function generatedSessionKey(id: Id): string {
  return `hook:${id}`
}

/**
 * Returns the task that goes first in the lane of a generated session key, although it is not in the lane: its run was
 * accepted before any client could know the key.
 */
export function firstTaskOf(lane: string): string | undefined {
  const first = lane.startsWith(laneOf('')) ? firstRunOf(lane.slice(laneOf('').length)) : undefined
  return first === undefined ? undefined : `run:${first}`
}

/** `lane` is true only if a session key was given: a generated key has no second run until an answer has named it. */
export function runTask(run: {
  id: Id
  sessionKey: string
  lane: boolean
  dueAt: number
  pool?: string
}): NewTask {
  const task = { key: `run:${run.id}`, kind: 'run', dueAt: run.dueAt, subject: run.id } as const
  const inLane = run.lane ? { ...task, lane: laneOf(run.sessionKey) } : task
  return run.pool === undefined ? inLane : { ...inLane, pool: run.pool }
}

/** The task that all heartbeats share. */
export const heartbeatKey = 'heartbeat:main'

/** At most one heartbeat of the main session is scheduled. Scheduling it again keeps the earliest time. */
export function heartbeatTask(dueAt: number): NewTask {
  return { key: heartbeatKey, kind: 'heartbeat', lane: laneOf('main'), dueAt }
}

/** Tries a failed heartbeat again at `dueAt`, because the cause of the failure may be gone. */
export function expediteHeartbeat(dueAt: number): Command {
  return { type: 'expedite', task: heartbeatKey, dueAt }
}

/** Tries a run that waits for its next attempt at `dueAt`. */
export function expediteRun(id: Id, dueAt: number): Command {
  return { type: 'expedite', task: `run:${id}`, dueAt }
}

/** The channel's name is the task's pool, by which all deliveries of a channel are held back together. */
export function deliveryTask(delivery: { id: Id; channel: string; lane: string; dueAt: number }): NewTask {
  return {
    key: `delivery:${delivery.id}`,
    kind: 'delivery',
    lane: delivery.lane,
    dueAt: delivery.dueAt,
    subject: delivery.id,
    pool: delivery.channel,
  }
}

/** Says why a delivery in this state is not replayed. */
export function onlyParked(state: DeliveryRecord['state']): string {
  return `it is ${state}, and only parked ones are`
}
