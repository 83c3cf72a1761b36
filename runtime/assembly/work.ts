/** The third stage: what is done with accepted requests, and what is known of it. */

import { fence, realTimers } from '@reveille/engine'
import {
  createAdminDeliveries,
  createDispatch,
  createProgressBoard,
  type DispatchObserver,
} from '../dispatch/index.ts'
import { createSentMessages, followSentMessages } from '../guard/index.ts'
import { createIssues } from '../issues/index.ts'
import type { createCounters } from '../observe/counters.ts'
import type { Configured } from './configure.ts'
import { createObserving } from './observing.ts'
import type { Stored } from './open-store.ts'
import type { Assembly } from './options.ts'

export type Working = ReturnType<typeof createWork>

export function createWork({ options, parts }: Assembly, configured: Configured, stored: Stored) {
  const { current, reloader, plugins, log, now, mintId, randomness, mask } = configured
  const { store, node, shared, counters, maintenance, applySettings } = stored
  const deliveries = createAdminDeliveries({ store, current, channel: plugins.channel, now, mintId })
  const issues = parts.add(
    createIssues({
      ...{ store, current, log, now, mintId, ...shared },
      relays: plugins.relays,
      alerts: {
        send: async (message) => {
          const sent = await deliveries.send(message)
          return sent.ok ? undefined : sent.reason
        },
        fetch: options.fetch ?? globalThis.fetch,
        mask: mask.text,
      },
      leads: maintenance.isHeld,
    }),
  )
  reloader.subscribe(issues.reloaded)
  stored.followHealth(issues.storeChanged)
  if (store.health().outage !== undefined) issues.storeChanged(store.health())
  const progress = createProgressBoard({ now })
  const observing = createObserving(plugins, now)
  const sentMessages = createSentMessages({ now })
  const following = new AbortController()
  parts.onClose(() => following.abort())
  if ('node' in shared) void followSentMessages(sentMessages, store, following.signal).catch(() => undefined)
  const dispatch = parts.add(
    createDispatch({
      ...{ store, current, fence, log, now, mintId, progress, randomId: randomness.randomId },
      runner: plugins.runner,
      channel: plugins.channel,
      relays: plugins.relays,
      random: Math.random,
      timers: realTimers,
      performs: node.role === 'all',
      onSending: sentMessages.note,
      observer: toAll([issues.observer, countingObserver(counters), observing.dispatch]),
    }),
  )
  plugins.onCommitted(dispatch.applyChannels)
  // The reloader may have swapped while the store was opened.
  applySettings()
  reloader.subscribe(({ type }) => {
    if (type !== 'snapshot-swapped') return
    applySettings()
    dispatch.applySettings().catch((error) => log.error({ event: 'settings-not-applied', err: error }))
  })
  return { deliveries, issues, observing, progress, sentMessages, dispatch }
}

function countingObserver(counters: ReturnType<typeof createCounters>): DispatchObserver {
  return {
    runEnded: (run, { state }) => counters.noteRunEnded(run, state, run.usage),
    runParked: (run) => counters.noteRunEnded(run, 'parked', run.usage),
    heartbeatEnded: ({ model, usage }, failure) =>
      counters.noteRunEnded({ kind: 'heartbeat', model }, failure ? 'failed' : 'succeeded', usage),
    deliveryEnded: ({ channel }, state) => counters.noteDeliveryEnded(channel, state),
  }
}

const moments = {
  runEnded: true,
  runParked: true,
  heartbeatEnded: true,
  deliveryEnded: true,
  budgetAlarmed: true,
  runnerChanged: true,
  channelChanged: true,
  channelChecked: true,
} satisfies Record<keyof DispatchObserver, true>

/** An observer that passes everything on to all. */
function toAll(observers: readonly DispatchObserver[]): DispatchObserver {
  const passOn =
    (moment: keyof DispatchObserver) => (first: never, second: never, third: never, fourth: never) => {
      for (const observer of observers) observer[moment]?.(first, second, third, fourth)
    }
  return Object.fromEntries(
    Object.keys(moments).map((moment) => [moment, passOn(moment as keyof DispatchObserver)]),
  )
}
