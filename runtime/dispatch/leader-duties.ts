/** The leading node's work for all: it sets the route and schedules the periodic heartbeat. */

import { isDeepStrictEqual } from 'node:util'
import { pagesOf } from '../store/pages.ts'
import type { Leadership, Route } from '../store/port.ts'
import { expediteHeartbeat, expediteRun, heartbeatTask, heartbeatWindowMs } from '../store/task-keys.ts'
import { assumedRoute } from './delivery/destination.ts'
import type { DispatchOptions } from './options.ts'
import type { createRunnerBreaker } from './run/runner-breaker.ts'

export function createLeaderDuties(
  options: Pick<DispatchOptions, 'store' | 'current' | 'log' | 'now' | 'relays' | 'performs'>,
  runners: Pick<ReturnType<typeof createRunnerBreaker>, 'tryAgain'>,
) {
  const { store, current, log, now } = options
  let lead: Leadership | undefined
  let isFollowing = false
  let giveUp = () => {}
  /** The restart of a gateway, or another node, may have fixed the cause of the main session's failure. */
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
    const list = (page: object) => store.read.runs({ kind: 'run', state: 'queued', ...page })
    for await (const runs of pagesOf(list)) {
      const meant = runs.filter(({ runner: own }) => (runner ?? own) === own)
      await Promise.all(meant.map(({ id }) => store.command(expediteRun(id, now()))))
    }
  }

  /** Logs that replies may go to a place that was not configured as route: once, and again when that place changes. */
  async function reportAssumedRoute() {
    const route = assumedRoute(current().snapshot.settings.channels)
    if (isDeepStrictEqual(route, reported) || (await store.read.route()) !== undefined) return
    reported = route
    if (route !== undefined) log.info({ event: 'route-assumed', ...route }, 'no last route is set')
  }

  return {
    apply,
    tryHeldRunners,
    /** `changed` is called when this node becomes the lead later. */
    follow(changed: () => void): void {
      isFollowing = true
      if (options.performs === false) return
      let isStarting = true
      giveUp = store.cluster.whileLeading('sources', (next) => {
        lead = next
        isNewLead = true
        if (!isStarting) changed()
      })
      isStarting = false
    },
    close: () => giveUp(),
  }
}
