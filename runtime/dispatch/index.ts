/** Owns everything that happens after the commit: runs, heartbeats and deliveries, claimed from the store. */

import type { ClaimedTask, Workforce } from '../store/port.ts'
import { heartbeatTask } from '../store/tasks.ts'
import { createDeliveryPerformer } from './delivery.ts'
import { createHeartbeatPerformer } from './heartbeat.ts'
import type { DispatchOptions } from './options.ts'
import { createRunPerformer } from './run.ts'

export type { Timers } from '../agent/bounded-call.ts'
export type { DispatchLog, DispatchOptions, Fence } from './options.ts'

/** Parts under way at one time; each waits for a vendor, and those of one recipient for each other. */
const deliveryConcurrency = 16

export interface Dispatch {
  /** Arms the periodic heartbeat and begins to claim. `concurrency` is read here, once. */
  start(): Promise<void>
  /** Call it after each snapshot swap: takes up a changed `agents.route` and a shorter `heartbeat.every`. */
  applySettings(): Promise<void>
  /** Stops claiming and waits; what is still under way after `graceMs` is interrupted and left resumable. */
  drain(graceMs: number): Promise<void>
  /** A drain without grace. */
  close(): Promise<void>
}

export function createDispatch(options: DispatchOptions): Dispatch {
  const { store, current, log, now } = options
  let workforces: Workforce[] = []

  async function applySettings() {
    const { agents } = current().snapshot.settings
    await store.command({ type: 'offer-route', route: agents.route })
    const { everyMs } = agents.defaults.heartbeat
    if (everyMs > 0) await store.command({ type: 'arm', task: heartbeatTask(now() + everyMs) })
  }

  function onFault(error: unknown, task: ClaimedTask) {
    log.error(
      { event: 'task-faulted', task: task.key, err: error },
      'a task failed in a way that nobody foresaw',
    )
  }

  async function drain(graceMs: number) {
    await Promise.all(workforces.map((workforce) => workforce.drain(graceMs)))
    workforces = []
  }

  return {
    async start() {
      await applySettings()
      const { concurrency } = current().snapshot.settings.agents.defaults
      workforces = [
        store.work({ kinds: ['run'], concurrency, perform: createRunPerformer(options), onFault }),
        store.work({
          kinds: ['heartbeat'],
          concurrency: 1,
          perform: createHeartbeatPerformer(options),
          onFault,
        }),
        store.work({
          kinds: ['delivery'],
          concurrency: deliveryConcurrency,
          perform: createDeliveryPerformer(options),
          onFault,
        }),
      ]
    },
    applySettings,
    drain,
    close: () => drain(0),
  }
}
