/** Owns the few tasks that there are, so that accepting and doing name them alike. */

import type { Command, DeliveryRecord, Id, NewTask } from './port.ts'

/** Events that ask for `now` within this time of each other cost one heartbeat. Milliseconds. */
export const heartbeatBurstMs = 250

/** The lane of a session: its turns go in order, one at a time. */
export function laneOf(sessionKey: string): string {
  return `session:${sessionKey}`
}

const madeUp = /^hook:([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})$/

/** The run whose session a key names that the gateway made up: the key holds the run's id. */
export function firstRunOf(sessionKey: string): Id | undefined {
  return madeUp.exec(sessionKey)?.[1]
}

/** The session key that the gateway makes up for a run. */
export function generatedSessionKey(id: Id): string {
  return `hook:${id}`
}

/** The task that goes first in a lane that it is not in: the founder's, whose key nobody knew before its answer. */
export function firstTaskOf(lane: string): string | undefined {
  const founder = lane.startsWith(laneOf('')) ? firstRunOf(lane.slice(laneOf('').length)) : undefined
  return founder === undefined ? undefined : `run:${founder}`
}

/** `lane` only where a session key was given: a key of the run's own has no second run until its answer names it. */
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

const heartbeatKey = 'heartbeat:main'

/** One heartbeat of the main session is armed at most; arming it again keeps the earliest time. */
export function heartbeatTask(dueAt: number): NewTask {
  return { key: heartbeatKey, kind: 'heartbeat', lane: laneOf('main'), dueAt }
}

/** One that failed is tried again now, because what made it fail may be mended. */
export function expediteHeartbeat(dueAt: number): Command {
  return { type: 'expedite', task: heartbeatKey, dueAt }
}

/** `channel`: its name, and the pool by which all of its deliveries are held back together. */
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

/** Why a delivery is not replayed. */
export function onlyParked(state: DeliveryRecord['state']): string {
  return `it is ${state}, and only parked ones are`
}
