/** Performs everything that happens after the commit: runs, heartbeats and deliveries, claimed from the store. */

import { abandonAfterMs } from '../agent/bounded-call.ts'
import {
  type Claim,
  type ClaimedTask,
  type Settlement,
  StoreError,
  type TaskKind,
  type WorkerPool,
  type WorkOptions,
} from '../store/port.ts'
import { createBudgets } from './budget.ts'
import { createChannelChecks } from './delivery/checks.ts'
import { createCircuitBreaker } from './delivery/circuit-breaker.ts'
import { createDeliveryPerformer } from './delivery/performer.ts'
import { createHeartbeatPerformer } from './heartbeat/performer.ts'
import { createHeartbeatBoard } from './heartbeat/state.ts'
import { createLeaderDuties } from './leader-duties.ts'
import type { DispatchOptions } from './options.ts'
import { createRunPerformer } from './run/performer.ts'
import { createRunnerBreaker } from './run/runner-breaker.ts'
import { createSettingsApplier } from './settings.ts'

export { createProgressBoard, type ProgressBoard, type TurnProgress } from '../agent/progress.ts'
export {
  type AdminDeliveries,
  createAdminDeliveries,
  type Unroutable,
} from './delivery/admin-deliveries.ts'
export type { ChannelState } from './delivery/channel-state.ts'
export { assumedRoute } from './delivery/destination.ts'
export type { HeartbeatState } from './heartbeat/state.ts'
export type {
  BudgetAlarm,
  BudgetKey,
  DispatchLog,
  DispatchObserver,
  DispatchOptions,
  RunnerState,
} from './options.ts'

/** After the grace, interrupted calls have this long to stop and to record it before the store takes them back. */
const settleMs = abandonAfterMs + 1000

export type Dispatch = ReturnType<typeof createDispatch>

export function createDispatch(options: DispatchOptions) {
  const { current, log, timers } = options
  const stopping = new AbortController()
  const runners = createRunnerBreaker(options)
  const performers = { ...options, stopping: stopping.signal, budgets: createBudgets(options) }
  const checks = createChannelChecks(options)
  const breaker = createCircuitBreaker({ ...options, onChange: applyBreakerLimits, onSent: checks.sent })
  const board = createHeartbeatBoard()
  const lead = createLeaderDuties(options, runners)
  const work = createWork(options)
  /** From `start` to `drain`. */
  let pools: Partial<Record<TaskKind, WorkerPool>> = {}

  const settings = createSettingsApplier({
    applyOnce: lead.apply,
    onFailure: (error) =>
      log.warn({ event: 'settings-not-applied', err: error }, 'changed settings will be applied later'),
    timers,
  })

  /**
   * The host calls it when the channels of another snapshot are live. A channel whose configuration changed is checked, and
   * is tried at once if it was held.
   */
  function applyChannels() {
    const { channels } = current().snapshot.settings
    const changed = breaker.configure(channels)
    checks.keep(new Set(Object.keys(channels)))
    checks.check(changed)
  }

  function applyBreakerLimits() {
    const { concurrency, pools: limits } = breaker.limits()
    void pools.delivery?.resize(concurrency, limits)
  }

  /**
   * Stops claiming and waits. Work still under way after `graceMs` is interrupted, recorded as such and
   * left resumable, which may take 2 s more.
   */
  async function drain(graceMs: number) {
    lead.close()
    settings.stop()
    breaker.stop()
    runners.stop()
    const checked = checks.close()
    const reason = new StoreError('DRAINING', 'the gateway drains')
    const timer = timers.setTimeout(() => stopping.abort(reason), graceMs)
    if (graceMs === 0) stopping.abort(reason)
    const drained = Object.values(pools).map((pool) => pool.drain(graceMs + settleMs))
    await Promise.all([checked, ...drained])
    timers.clearTimeout(timer)
    pools = {}
  }

  return {
    /** Schedules the periodic heartbeat, where no other node does, and begins to claim. Does nothing in a process that performs nothing. */
    async start(): Promise<void> {
      lead.follow(() => void settings.apply())
      if (options.performs === false) return
      await lead.apply()
      const run = work('run', runLimits(current), createRunPerformer({ ...performers, runners }))
      applyChannels()
      const limits = { ...breaker.limits(), owned: true }
      const delivery = work('delivery', limits, createDeliveryPerformer({ ...performers, breaker }))
      const heartbeat = work('heartbeat', { concurrency: 1 }, createHeartbeatPerformer(performers, board))
      pools = { run, heartbeat, delivery }
    },
    /**
     * The host calls it after each snapshot swap. It applies changed limits at once, and a changed `agents.route` or a shorter
     * `heartbeat.every` as soon as the store can write. If the runner or its model changed, a main session that failed is
     * tried again at once. Never rejects: what could not be applied is logged.
     */
    async applySettings(): Promise<void> {
      const { run } = pools
      const limits = run && runLimits(current)
      await Promise.all([limits && run.resize(limits.concurrency, limits.pools), settings.apply()])
    },
    applyChannels,
    tryHeldRunners: lead.tryHeldRunners,
    drain,
    /** Drains without grace. */
    close: () => drain(0),
    /** Returns what the main session is doing, from memory. */
    heartbeat: board.read,
    /** Returns the state of each configured channel, in the order of the configuration, from memory. */
    channels: () => breaker.read().map((state) => withHealth(state, checks.healthOf(state.channel))),
  }
}

function withHealth<State extends object, Health>(state: State, health: Health | undefined) {
  return health === undefined ? state : { ...state, health }
}

function createWork({ store, log }: DispatchOptions) {
  return (
    kind: TaskKind,
    limits: Pick<WorkOptions, 'concurrency' | 'pools' | 'owned'>,
    perform: (claim: Claim) => Promise<Settlement>,
  ) =>
    store.work({
      kinds: [kind],
      ...limits,
      perform,
      onFault: (...fault) => reportFault(log, ...fault),
    })
}

/** The concurrency of all runs, and that of each policy that has one, by its name. */
function runLimits(current: DispatchOptions['current']) {
  const { settings, endpoints } = current().snapshot
  const pools: Record<string, number> = {}
  for (const [name, { concurrency }] of Object.entries(endpoints))
    if (concurrency !== undefined) pools[name] = concurrency
  return { concurrency: settings.agents.defaults.concurrency, pools }
}

function reportFault(log: DispatchOptions['log'], error: unknown, task: ClaimedTask): void {
  if (error instanceof StoreError && error.code === 'LEASE_LOST') return
  log.error({ event: 'task-faulted', task: task.key, err: error }, 'a task failed unexpectedly')
}
