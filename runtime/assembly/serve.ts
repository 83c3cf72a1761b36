/** The fourth stage: what receives requests, from senders, sources and operators. */

import { backgroundTimers, isLoopback, realTimers } from '@reveille/engine'
import type { FastifyInstance } from 'fastify'
import { type AdminOptions, registerAdminSurface } from '../api/index.ts'
import { createLoopGuard, loadSentMessages } from '../guard/index.ts'
import {
  createApp,
  createHookSurface,
  createRecorder,
  type HookSurface,
  postLimitsOf,
  type Recorder,
} from '../http/index.ts'
import { createDryRun } from '../reload/dry-run.ts'
import { createRequestDryRuns } from '../reload/request-dry-runs.ts'
import { createReplayJobs, createReplays } from '../replay/index.ts'
import {
  createCatchUps,
  createSharedStorage,
  createSourceClock,
  createSources,
  sourcesFolder,
} from '../sources/index.ts'
import { createTrust } from '../trust/index.ts'
import type { Configured } from './configure.ts'
import { followLeadership } from './leadership.ts'
import { createListening, type Listening } from './listening.ts'
import type { Stored } from './open-store.ts'
import type { Assembly } from './options.ts'
import type { Working } from './work.ts'

export type Serving = Awaited<ReturnType<typeof createServing>>

export async function createServing(
  assembly: Assembly,
  configured: Configured,
  stored: Stored,
  working: Working,
) {
  const { current } = configured
  const app = createApp(() => current().snapshot.settings.gateway.trustedProxies)
  const stages = { ...assembly, configured, stored, working, app }
  const { hooks, read } = createHooks(stages)
  const sources = createSourcing(stages, hooks)
  const replaying = createReplaying(stages, hooks, read)
  const listening = createListening(assembly, configured, { app, hooks })
  registerAdmin(stages, { ...replaying, listening, read, sources: sources.states })
  await app.ready()
  assembly.parts.add(app)
  return { app, listening, sources, replayJobs: replaying.replayJobs }
}

/** The stages so far. */
interface Stages extends Assembly {
  readonly configured: Configured
  readonly stored: Stored
  readonly working: Working
  readonly app: FastifyInstance
}

function createHooks(stages: Stages) {
  const { options, parts, draining, app } = stages
  const { current, settings, plugins, mask, log, now, mintId } = stages.configured
  const { store, shared, counters } = stages.stored
  const { issues, observing, sentMessages } = stages.working
  const { fetch = globalThis.fetch } = options
  const relaysEvents = () => plugins.relays(current().snapshot.settings.agents.defaults.runner)
  const recorder = parts.add(createRecorder({ store, now, relaysEvents, mask: mask.text }))
  const { dataDir } = settings.gateway
  const trust = parts.add(createTrust({ dataDir, fetch, log, now, timers: realTimers }))
  const onForgotten = (err: unknown) =>
    log.warn({ event: 'own-words-not-remembered', err }, 'echoes of earlier replies pass')
  const hooks = createHookSurface(app, {
    ...{ current, store, recorder, log, now, mintId, counters, ...shared },
    draining: draining.signal,
    // The host that was bound at the start counts, although a reload may name another one.
    isBoundToLoopback: isLoopback(options.host ?? settings.gateway.host),
    verifyDependencies: trust.verifyDependencies,
    performHandshakeEffects: trust.performHandshakeEffects,
    onConcluded(facts, result, ms) {
      issues.requestConcluded(facts, result, ms)
      observing.request(facts, result, ms)
    },
    onResolved: issues.requestResolved,
    loopIn: createLoopGuard(sentMessages, () =>
      loadSentMessages(sentMessages, store.read, now()).catch(onForgotten),
    ),
  })
  return { hooks, read: recorder.read }
}

/** The sources, which one node runs for all: `begin` takes part, and `end` hands them over. */
function createSourcing(
  { options, parts, configured, stored, working }: Stages,
  { post }: Pick<HookSurface, 'post'>,
) {
  const { current, plugins, reloader, settings, log, now } = configured
  const { store, node } = stored
  const { sourceValues } = store.cluster
  const lead = parts.add(followLeadership(store, 'sources', node.role))
  const isOn = () => current().snapshot.settings.hooks.enabled
  const catchUps = createCatchUps({ live: () => (isOn() ? plugins.providers() : []), log })
  const sources = parts.add(
    createSources({
      live: () => (lead.isHeld() ? [...plugins.sources(), ...catchUps()] : []),
      confirm: lead.confirm,
      ...(sourceValues && { storageOf: createSharedStorage(sourceValues) }),
      ...{ post, log },
      limitsOf: (endpoint) => postLimitsOf(current().snapshot, endpoint),
      folder: sourcesFolder(settings.gateway.dataDir),
      clock: options.clock ?? createSourceClock(now),
      onState: working.issues.sourceChanged,
    }),
  )
  return {
    states: sources.states,
    begin(): void {
      plugins.onCommitted(sources.apply)
      // Endpoints declare what to catch up on, and they go live with the snapshot.
      reloader.subscribe(({ type }) => {
        if (type === 'snapshot-swapped') sources.apply()
      })
      lead.begin(sources.apply)
    },
    /** Another node runs the sources once they have ended here. */
    end: () => sources.close().then(lead.close),
  }
}

function createReplaying(
  { parts, draining, configured, stored }: Stages,
  { replay }: Pick<HookSurface, 'replay'>,
  read: Recorder['read'],
) {
  const { current, reloader, plugins, randomness, evaluators, mask, log, now, mintId } = configured
  const { store, shared, maintenance } = stored
  const requestDryRuns = parts.add(
    createRequestDryRuns({ read, reloader, plugins, randomness, evaluators, mask: mask.text }),
  )
  const replays = createReplays({ store: { read }, replay, mintId })
  const replayJobs = parts.add(
    createReplayJobs({
      ...{ store, replays, mintId, now, log },
      timers: realTimers,
      backlog: () => current().snapshot.settings.gateway.limits.backlog,
      draining: draining.signal,
      leads: maintenance.isHeld,
      // A job that another node has begun is found by polling.
      ...('node' in shared && { lookMs: 2000 }),
    }),
  )
  return { requestDryRuns, replays, replayJobs, dryRun: createDryRun(reloader, store.read) }
}

function registerAdmin(
  { app, options, draining, configured, stored, working }: Stages,
  made: ReturnType<typeof createReplaying> &
    Pick<AdminOptions, 'sources'> & { readonly read: Recorder['read']; readonly listening: Listening },
): void {
  const { current, reloader, archive, loader, plugins, ownLog, log, mask, now, mintId } = configured
  const { store, shared, counters, reloads } = stored
  const { issues, deliveries, progress, dispatch } = working
  const { read, listening, ...rest } = made
  const { command, health, changes, cluster } = store
  registerAdminSurface(app, {
    ...{ current, reloader, archive, log, mask, now, mintId, ...shared, ...rest },
    ...{ counters, issues, deliveries, dispatch },
    store: { read, command, health, changes, cluster },
    timers: backgroundTimers,
    progressOf: progress.ofRun,
    droppedLogLines: ownLog.droppedLines,
    publicUrl: listening.tunnelUrl,
    files: () => ({ watched: options.watch ?? true, readAt: reloads.filesReadAt() }),
    lastGood: reloads.servedLastGood,
    isChannel: (name) => plugins.catalog(current().snapshot.settings).channels.includes(name),
    withoutSecrets: loader.withoutSecrets,
    isDraining: () => draining.signal.aborted,
  })
}
