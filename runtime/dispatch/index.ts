/** Owns everything that happens after the commit: runs, heartbeats and deliveries, claimed from the store. */

import { isDeepStrictEqual } from 'node:util'
import { abandonAfterMs } from '../agent/bounded-call.ts'
import {
  type Claim,
  type ClaimedTask,
  type Route,
  type Settlement,
  StoreError,
  type TaskKind,
  type WorkerPool,
  type WorkOptions,
} from '../store/port.ts'
import { expediteHeartbeat, heartbeatBurstMs, heartbeatTask } from '../store/tasks.ts'
import { createBudgets } from './budget.ts'
import type { ChannelState } from './delivery/channel-state.ts'
import { createChannelChecks } from './delivery/checks.ts'
import { standInRoute } from './delivery/destination.ts'
import { createChannelGate } from './delivery/gate.ts'
import { createDeliveryPerformer } from './delivery/performer.ts'
import { createHeartbeatPerformer } from './heartbeat/performer.ts'
import { createHeartbeatBoard, type HeartbeatState } from './heartbeat/state.ts'
import type { DispatchOptions } from './options.ts'
import { createRunPerformer } from './run/performer.ts'
import { createSettingsApplier } from './settings.ts'

export { createProgressBoard, type ProgressBoard, type TurnProgress } from '../agent/progress.ts'
export {
  createDeliveriesByHand,
  type DeliveriesByHand,
  type Unroutable,
} from './delivery/by-hand.ts'
export type { ChannelState } from './delivery/channel-state.ts'
export { standInRoute } from './delivery/destination.ts'
export type { HeartbeatState } from './heartbeat/state.ts'
export type { DispatchLog, DispatchOptions } from './options.ts'

/** For what was interrupted to stop, and for its record to reach the disk, before the store takes it back. */
const settleMs = abandonAfterMs + 1000

export interface Dispatch {
  /** Arms the periodic heartbeat and begins to claim. */
  start(): Promise<void>
  /**
   * Call it after each snapshot swap: takes up a changed `concurrency` and those of the policies now, a changed
   * `agents.route` and a shorter `heartbeat.every` now or, where the store cannot write, later. Where it changed who
   * is asked, a main session that failed is tried again at once. Never rejects; what could not be applied is logged.
   */
  applySettings(): Promise<void>
  /**
   * Call it when the channels of another snapshot are live: one that is configured anew is asked how it is, and tried at once
   * where it was held.
   */
  applyChannels(): void
  /**
   * Stops claiming and waits; what is still under way after `graceMs` is interrupted, recorded as such and
   * left resumable, which may take 2 s more.
   */
  drain(graceMs: number): Promise<void>
  /** A drain without grace. */
  close(): Promise<void>
  /** What the main session is doing. From memory. */
  heartbeat(): HeartbeatState
  /** How each configured channel fares, in the order of its configuration. From memory. */
  channels(): readonly ChannelState[]
}

export function createDispatch(options: DispatchOptions): Dispatch {
  const { store, current, log, now, timers } = options
  const stopping = new AbortController()
  const performers = { ...options, stopping: stopping.signal, budgets: createBudgets(options) }
  let workerPools: WorkerPool[] = []
  let runs: WorkerPool | undefined
  let deliveries: WorkerPool | undefined
  const gate = createChannelGate({ ...options, onChange: makeRoom })
  const checks = createChannelChecks(options)
  const board = createHeartbeatBoard()
  /** Who was asked when settings were applied last. */
  let asked: unknown
  /** What stood in for the last route when that was logged last. */
  let reported: Route | undefined

  async function apply() {
    const { agents } = current().snapshot.settings
    await store.command({ type: 'offer-route', route: agents.route })
    await reportStandIn()
    const { heartbeat, runner } = agents.defaults
    // What already waits for the timer need not wait for it any more where events are passed on.
    const inMs = options.relays?.(runner) === true ? heartbeatBurstMs : heartbeat.everyMs
    if (inMs > 0) await store.command({ type: 'schedule', task: heartbeatTask(now() + inMs) })
    const { model, thinking } = agents.defaults
    const next = [runner, model, thinking, agents.runners, agents.providers]
    if (asked !== undefined && !isDeepStrictEqual(asked, next)) await store.command(expediteHeartbeat(now()))
    asked = next
  }

  /** Replies may leave for a place that nobody named: the log says so once, and again where it changes. */
  async function reportStandIn() {
    const route = standInRoute(current().snapshot.settings.channels)
    if (isDeepStrictEqual(route, reported) || (await store.read.route()) !== undefined) return
    reported = route
    if (route !== undefined) log.info({ event: 'route-assumed', ...route }, 'no last route is set')
  }

  const settings = createSettingsApplier({
    applyOnce: apply,
    onFailure: (error) =>
      log.warn({ event: 'settings-not-applied', err: error }, 'changed settings will be applied later'),
    timers,
  })

  async function applySettings(): Promise<void> {
    await Promise.all([runs?.resize(concurrency(), pools()), settings.apply()])
  }

  /** A configuration that is new may have mended what a channel was held for. */
  function applyChannels() {
    const { channels } = current().snapshot.settings
    const changed = gate.configure(channels)
    checks.keep(new Set(Object.keys(channels)))
    checks.check(changed)
  }

  function makeRoom() {
    const { concurrency, pools } = gate.rooms()
    void deliveries?.resize(concurrency, pools)
  }

  function concurrency(): number {
    return current().snapshot.settings.agents.defaults.concurrency
  }

  /** The limits of the policies, by their names. */
  function pools(): Record<string, number> {
    const policies = Object.entries(current().snapshot.endpoints)
    return Object.fromEntries(
      policies.flatMap(([name, { concurrency }]) => (concurrency === undefined ? [] : [[name, concurrency]])),
    )
  }

  function onFault(error: unknown, task: ClaimedTask) {
    if (error instanceof StoreError && error.code === 'LEASE_LOST') return
    log.error(
      { event: 'task-faulted', task: task.key, err: error },
      'a task failed in a way that nobody foresaw',
    )
  }

  function work(
    kind: TaskKind,
    limits: Pick<WorkOptions, 'concurrency' | 'pools'>,
    perform: (claim: Claim) => Promise<Settlement>,
  ) {
    return store.work({ kinds: [kind], ...limits, perform, onFault })
  }

  async function drain(graceMs: number) {
    settings.stop()
    gate.close()
    const checked = checks.close()
    const reason = new StoreError('DRAINING', 'the gateway drains')
    const timer = timers.setTimeout(() => stopping.abort(reason), graceMs)
    if (graceMs === 0) stopping.abort(reason)
    await Promise.all([checked, ...workerPools.map((workerPool) => workerPool.drain(graceMs + settleMs))])
    timers.clearTimeout(timer)
    workerPools = []
    runs = undefined
    deliveries = undefined
  }

  return {
    async start() {
      await apply()
      // Whoever restarts a gateway may have mended what the main session failed of.
      await store.command(expediteHeartbeat(now()))
      runs = work('run', { concurrency: concurrency(), pools: pools() }, createRunPerformer(performers))
      applyChannels()
      deliveries = work('delivery', gate.rooms(), createDeliveryPerformer({ ...performers, gate }))
      workerPools = [
        runs,
        work('heartbeat', { concurrency: 1 }, createHeartbeatPerformer(performers, board)),
        deliveries,
      ]
    },
    applySettings,
    applyChannels,
    drain,
    close: () => drain(0),
    heartbeat: board.read,
    channels: () =>
      gate.read().map((state) => {
        const health = checks.of(state.channel)
        return health === undefined ? state : { ...state, health }
      }),
  }
}
