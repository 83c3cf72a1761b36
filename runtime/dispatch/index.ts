/** Performs everything that happens after the commit: runs, heartbeats and deliveries, claimed from the store. */

import { isDeepStrictEqual } from 'node:util'
import { abandonAfterMs } from '../agent/bounded-call.ts'
import {
  type Claim,
  type ClaimedTask,
  type Lead,
  type Route,
  type Settlement,
  StoreError,
  type TaskKind,
  type WorkerPool,
  type WorkOptions,
} from '../store/port.ts'
import { expediteHeartbeat, expediteRun, heartbeatTask, heartbeatWindowMs } from '../store/task-keys.ts'
import { createBudgets } from './budget.ts'
import { createChannelChecks } from './delivery/checks.ts'
import { createCircuitBreaker } from './delivery/circuit-breaker.ts'
import { assumedRoute } from './delivery/destination.ts'
import { createDeliveryPerformer } from './delivery/performer.ts'
import { createHeartbeatPerformer } from './heartbeat/performer.ts'
import { createHeartbeatBoard } from './heartbeat/state.ts'
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
  const { store, current, log, now, timers } = options
  const stopping = new AbortController()
  const runners = createRunnerBreaker(options)
  const performers = { ...options, stopping: stopping.signal, budgets: createBudgets(options) }
  let workerPools: WorkerPool[] = []
  let runs: WorkerPool | undefined
  let deliveries: WorkerPool | undefined
  const breaker = createCircuitBreaker({ ...options, onChange: applyBreakerLimits })
  const checks = createChannelChecks(options)
  const board = createHeartbeatBoard()
  /** While this node sets the route and schedules the periodic heartbeat for all. */
  let lead: Lead | undefined
  let isFollowing = false
  let giveUpLead = () => {}
  /** The restart of a gateway, or another node, may have mended the cause of the main session's failure. */
  let isNewLead = false
  /** The runner and model settings that were applied last. */
  let appliedRunner: unknown
  /** The assumed route that was logged last. */
  let reported: Route | undefined

  async function apply() {
    const { agents } = current().snapshot.settings
    const leads = !isFollowing || (lead !== undefined && !lead.signal.aborted)
    // Until a node leads a new cluster, the first replies would go to an assumed place.
    const isFirst = agents.route !== undefined && !leads && (await store.read.route()) === undefined
    if (leads || isFirst) await store.command({ type: 'offer-route', route: agents.route })
    if (!leads) return reportAssumedRoute()
    await reportAssumedRoute()
    const { heartbeat, runner } = agents.defaults
    // If events are passed on now, those that wait for the timer need not wait any longer.
    const inMs = options.relays?.(runner) === true ? heartbeatWindowMs : heartbeat.everyMs
    if (inMs > 0) await store.command({ type: 'schedule', task: heartbeatTask(now() + inMs) })
    const { model, thinking } = agents.defaults
    const next = [runner, model, thinking, agents.runners, agents.providers]
    if (isNewLead || (appliedRunner !== undefined && !isDeepStrictEqual(appliedRunner, next)))
      // Without a backlog nothing waits, and a start without work starts no thread to read with.
      await Promise.all([
        store.command(expediteHeartbeat(now())),
        store.health().backlog > 0 && tryHeldRunners(),
      ])
    isNewLead = false
    appliedRunner = next
  }

  /**
   * Tries held runners at once, all or one. Other nodes find out with their own probes. Runs may wait for a runner that was held
   * before the process was started, so whatever waits for its next try is tried, held runner or not. @throws StoreError
   */
  async function tryHeldRunners(runner?: string): Promise<void> {
    runners.tryAgain(runner)
    let cursor: string | undefined
    do {
      const page = await store.read.runs({
        kind: 'run',
        state: 'queued',
        limit: 500,
        ...(cursor && { cursor }),
      })
      const meant = page.items.filter(({ runner: own }) => (runner ?? own) === own)
      await Promise.all(meant.map(({ id }) => store.command(expediteRun(id, now()))))
      cursor = page.next
    } while (cursor !== undefined)
  }

  /** Logs that replies may go to a place that was not configured as route: once, and again when that place changes. */
  async function reportAssumedRoute() {
    const route = assumedRoute(current().snapshot.settings.channels)
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

  /**
   * The host calls it after each snapshot swap. It applies changed limits at once, and a changed `agents.route` or a shorter
   * `heartbeat.every` as soon as the store can write. If the runner or its model changed, a main session that failed is
   * tried again at once. Never rejects: what could not be applied is logged.
   */
  async function applySettings(): Promise<void> {
    await Promise.all([runs?.resize(concurrency(), pools()), settings.apply()])
  }

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
    const { concurrency, pools } = breaker.limits()
    void deliveries?.resize(concurrency, pools)
  }

  function concurrency(): number {
    return current().snapshot.settings.agents.defaults.concurrency
  }

  /** Returns the `concurrency` of each policy that has one, by its name. */
  function pools(): Record<string, number> {
    const policies = Object.entries(current().snapshot.endpoints)
    return Object.fromEntries(
      policies.flatMap(([name, { concurrency }]) => (concurrency === undefined ? [] : [[name, concurrency]])),
    )
  }

  function onFault(error: unknown, task: ClaimedTask) {
    if (error instanceof StoreError && error.code === 'LEASE_LOST') return
    log.error({ event: 'task-faulted', task: task.key, err: error }, 'a task failed unexpectedly')
  }

  function work(
    kind: TaskKind,
    limits: Pick<WorkOptions, 'concurrency' | 'pools' | 'owned'>,
    perform: (claim: Claim) => Promise<Settlement>,
  ) {
    return store.work({ kinds: [kind], ...limits, perform, onFault })
  }

  /**
   * Stops claiming and waits. What is still under way after `graceMs` is interrupted, recorded as such and
   * left resumable, which may take 2 s more.
   */
  async function drain(graceMs: number) {
    giveUpLead()
    settings.stop()
    breaker.stop()
    runners.stop()
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
    /** Schedules the periodic heartbeat, where no other node does, and begins to claim. Does nothing in a process that performs nothing. */
    async start(): Promise<void> {
      isFollowing = true
      if (options.performs === false) return
      let isStarting = true
      giveUpLead = store.cluster.lead('sources', (next) => {
        lead = next
        isNewLead = true
        if (!isStarting) void settings.apply()
      })
      isStarting = false
      await apply()
      runs = work(
        'run',
        { concurrency: concurrency(), pools: pools() },
        createRunPerformer({ ...performers, runners }),
      )
      applyChannels()
      deliveries = work(
        'delivery',
        { ...breaker.limits(), owned: true },
        createDeliveryPerformer({ ...performers, breaker }),
      )
      workerPools = [
        runs,
        work('heartbeat', { concurrency: 1 }, createHeartbeatPerformer(performers, board)),
        deliveries,
      ]
    },
    applySettings,
    applyChannels,
    tryHeldRunners,
    drain,
    /** Drains without grace. */
    close: () => drain(0),
    /** Returns what the main session is doing, from memory. */
    heartbeat: board.read,
    /** Returns the state of each configured channel, in the order of the configuration, from memory. */
    channels: () =>
      breaker.read().map((state) => {
        const health = checks.of(state.channel)
        return health === undefined ? state : { ...state, health }
      }),
  }
}
