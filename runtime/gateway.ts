/** Assembles a gateway: its parts start in order and close in reverse. */

import { hostname } from 'node:os'
import { join } from 'node:path'
import {
  backgroundTimers,
  type Configuration,
  createEvaluators,
  createLoader,
  createMask,
  fence,
  isLoopback,
  type Live,
  type Loader,
  type ReloadEvent,
  type Reloader,
  type ReloadListener,
  type ReloadResult,
  realTimers,
  type Settings,
} from '@reveille/engine'
import type { SourceClock } from '@reveille/kit'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { registerAdminSurface } from './api/index.ts'
import {
  createAdminDeliveries,
  createDispatch,
  createProgressBoard,
  type DispatchObserver,
} from './dispatch/index.ts'
import { removeGatewayFile, writeGatewayFile } from './gateway-file.ts'
import { createKeptFiles, openGenerationArchive } from './generations/index.ts'
import { createLoopGuard, createSentMessages, followSentMessages, loadSentMessages } from './guard/index.ts'
import {
  createApp,
  createHookSurface,
  createRecorder,
  listen,
  openTunnelListener,
  postLimitsOf,
  shownOfDigest,
  type TunnelListener,
} from './http/index.ts'
import { createIssues, type Issues } from './issues/index.ts'
import { createCounters } from './observe/counters.ts'
import { createLog, type Log, type LogOptions } from './observe/log.ts'
import { createReloadReporter } from './observe/reloads.ts'
import { packageVersion } from './package-folder.ts'
import { createPluginHost } from './plugin/index.ts'
import { presetsFolder } from './presets-folder.ts'
import { createRandomIds } from './random-id.ts'
import { createDryRun } from './reload/dry-run.ts'
import { createReloading } from './reload/reloading.ts'
import { createRequestDryRuns } from './reload/request-dry-runs.ts'
import { ConfigurationError, loadStart, type Start } from './reload/start.ts'
import { createReplayJobs, createReplays } from './replay/index.ts'
import {
  createCatchUps,
  createSharedStorage,
  createSourceClock,
  createSources,
  sourcesFolder,
} from './sources/index.ts'
import { isDatabase, openDriverStore, storeDiagnostic } from './store/driver-package.ts'
import { createIdMinter } from './store/id.ts'
import {
  type Health,
  type Lead,
  type Leadership,
  type NodeRole,
  type Store,
  StoreError,
  type StoreErrorCode,
  type StoreOptions,
} from './store/port.ts'
import { highestGenerationIn, lockDataFolder, openSqliteStore } from './store/sqlite/index.ts'
import { createTransformReporter, hostTransforms } from './transforms.ts'
import { createTrust } from './trust/index.ts'
import { clientHeaderOf, createTunnel, type Tunnel, type TunnelOptions } from './tunnel.ts'

export interface GatewayOptions {
  /** The configuration file; relative to the working directory. */
  readonly configFile: string
  /** Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The address that is listened on in the place of `gateway.host`. */
  readonly host?: string
  /** Listened on in the place of `gateway.port`. */
  readonly port?: number
  /** Opens a second listener that serves hooks alone, for a tunnel on this machine. Default: there is none. */
  readonly tunnel?: TunnelOptions
  /** What this process does of what its cluster does. Default: `all`. */
  readonly role?: NodeRole
  /** What the other nodes call it. Default: the name of the machine. */
  readonly node?: string | undefined
  /** How long nodes believe each other to be alive, for tests. Default: as the store has it. */
  readonly leases?: StoreOptions['leases']
  /** Milliseconds since the Unix epoch. Default: `Date.now`. */
  readonly now?: () => number
  /** How keys of providers are fetched, and subscriptions confirmed. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
  /** The clock of sources. Default: the real time. */
  readonly clock?: SourceClock
  /** Where log lines go. Default: standard error. */
  readonly logStream?: LogOptions['stream']
  /** Whether files are watched for changes. Default: true. */
  readonly watch?: boolean
  /**
   * Whether a configuration that does not load is replaced by the last generation, with its settings and all other files.
   * Mapping files and transforms are replaced one by one in any case. Default: false.
   */
  readonly lastGood?: boolean
  /** Whether files are looked at regularly, for file systems without events. Default: `hooks.reload.poll`. */
  readonly poll?: boolean
}

export interface Gateway {
  readonly log: Log
  /**
   * Resolves when the gateway can do nothing more in this process, as its store has stopped for good. It still replies, with
   * 503; the program that runs it should close it and start another process.
   */
  readonly failed: Promise<StoreError>
  current(): Live
  /** Where the listener for a tunnel is; undefined without one, and before `listen`. */
  tunnelAddress(): string | undefined
  /** Resolves with the tunnel's address on the internet, or with undefined if there is none yet. */
  publicUrl(): Promise<string | undefined>
  /** Whether a transform's thread, or the store's, could not be ended. Node.js waits for such a thread: only a signal ends the process. */
  isStuck(): boolean
  /** Reads the files again, as after a change; ends a rollback. @throws Error once closing */
  reload(): Promise<ReloadResult>
  /** Begins to accept. Resolves with the address: `http://127.0.0.1:8787`. @throws ListenError */
  listen(): Promise<string>
  /** A request without a socket. */
  inject(request: InjectOptions): Promise<LightMyRequestResponse>
  /**
   * Stops accepting, waits for running turns up to `graceMs` (default 30,000) and leaves the rest resumable. Further calls
   * return the same promise.
   */
  close(options?: { graceMs?: number }): Promise<void>
}

/**
 * How many messages of a session the store returns. `agents.sessions` allows fewer, so that a longer history is known to be one.
 */
const historyMessages = 1100
const drainGraceMs = 30_000

/** @throws ConfigurationError, StoreError `LOCKED` or `SCHEMA_NEWER` */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { env = process.env } = options
  const files = { file: options.configFile, env, presets: presetsFolder() }
  const parts = createParts()
  const loader = parts.add(createLoader(files))
  try {
    const start = await loadStart(loader, { ...files, whole: options.lastGood ?? false })
    return await assemble(options, loader, start, parts)
  } catch (error) {
    await parts.close()
    throw error
  }
}

async function assemble(
  options: GatewayOptions,
  loader: Loader,
  { first, configuration, lastGood }: Start,
  parts: Parts,
): Promise<Gateway> {
  const { now: own = Date.now, watch = true, fetch = globalThis.fetch, role = 'all' } = options
  const { settings } = configuration
  const node = { name: options.node ?? hostname(), version: packageVersion(), role }
  const isCluster = isDatabase(settings.gateway.store)
  const { dataDir } = settings.gateway
  let sharedNow = own
  const now = () => sharedNow()
  const mintId = createIdMinter(now)
  const randomId = createRandomIds()
  let isListening = false
  let tunnelListener: TunnelListener | undefined
  let tunnel: Tunnel | undefined

  const mask = createMask()
  mask.add(configuration.secrets)
  const ownedLog = createLog({ ...settings.gateway.log, stream: options.logStream, mask: mask.json })
  const { log } = ownedLog
  parts.onClose(() => {
    if (isListening) log.info({ event: 'gateway-stopped' })
    return ownedLog.flush()
  })
  const plugins = parts.add(createPluginHost({ log }))
  const transforms = parts.add(
    hostTransforms({ folder: join(dataDir, 'transforms'), onEvent: createTransformReporter(log) }),
  )
  const evaluators = parts.add(createEvaluators({ timers: backgroundTimers }))
  const archive = await openArchive(settings, log)
  const reloader = parts.add(
    createReloading({
      first,
      configuration,
      load: (kept) => (kept ? loader.load(createKeptFiles(kept)) : lastGood.load()),
      archive,
      transforms: lastGood.transformParts(transforms.parts),
      plugins,
      randomness: { mint: mintId, randomId },
      evaluators,
      onSecrets: mask.add,
      watch,
      poll: options.poll,
      now,
    }),
  )
  const current = () => reloader.current()
  const settingsOfNow = () => current().snapshot.settings
  const reportTo = holdReports(reloader)
  const started = await lastGood.start(reloader)
  if (!started.ok) throw new ConfigurationError(started.diagnostics, lastGood.generation())

  const address = {
    host: options.host ?? settings.gateway.host,
    port: options.port ?? settings.gateway.port,
  }
  let storeChanged: (health: Health) => void = () => undefined
  const { store, failed } = await openStore({
    configuration,
    log,
    now: own,
    node,
    parts,
    leases: options.leases,
    onHealth: (health) => storeChanged(health),
  })
  sharedNow = store.now
  mintId.startAfter(store.newestAt)
  parts.add(store)
  // The data folder is locked, so that from here on this process may write to it.
  parts.add(archive)
  parts.onClose(() => (isListening ? removeGatewayFile(dataDir) : undefined))
  await archive.begin()
  const counters = createCounters({ now, backlog: () => store.health().backlog })
  reloader.subscribe(({ type }) => {
    if (type === 'snapshot-swapped') counters.noteReload('applied')
    if (type === 'candidate-rejected') counters.noteReload('refused')
    if (type === 'content-unchanged') counters.noteReload('unchanged')
  })
  reportTo(createReloadReporter(log, process.cwd()))
  const reloads = followReloads(reloader, lastGood.served(), log, now)
  reportLive(store, reloader)
  const maintenance = parts.add(followLead(store, 'maintenance', role))

  const deliveries = createAdminDeliveries({ store, current, channel: plugins.channel, now, mintId })
  const issues: Issues = parts.add(
    createIssues({
      store,
      current,
      log,
      now,
      mintId,
      relays: plugins.relays,
      sources: () => sources.states(),
      alerts: {
        send: async (message) => {
          const sent = await deliveries.send(message)
          return sent.ok ? undefined : sent.reason
        },
        fetch,
        mask: mask.text,
      },
      leads: maintenance.isHeld,
      ...(isCluster && { node: node.name }),
    }),
  )
  reloader.subscribe(issues.reloaded)
  storeChanged = issues.storeChanged
  if (store.health().outage !== undefined) storeChanged(store.health())
  const progress = createProgressBoard({ now })
  const sentMessages = createSentMessages({ now })
  const following = new AbortController()
  parts.onClose(() => following.abort())
  if (isCluster) void followSentMessages(sentMessages, store, following.signal).catch(() => undefined)
  const dispatch = parts.add(
    createDispatch({
      store,
      current,
      runner: plugins.runner,
      channel: plugins.channel,
      fence,
      log,
      now,
      mintId,
      random: Math.random,
      randomId,
      timers: realTimers,
      performs: role === 'all',
      progress,
      relays: plugins.relays,
      onSending: sentMessages.note,
      observer: both(issues.observer, {
        runEnded: (run, { state }) => counters.noteRunEnded(run, state, run.usage),
        runParked: (run) => counters.noteRunEnded(run, 'parked', run.usage),
        heartbeatEnded: ({ model, usage }, failure) =>
          counters.noteRunEnded({ kind: 'heartbeat', model }, failure ? 'failed' : 'succeeded', usage),
        deliveryEnded: ({ channel }, state) => counters.noteDeliveryEnded(channel, state),
      }),
    }),
  )
  plugins.onCommitted(dispatch.applyChannels)
  const applySettings = () => {
    const { gateway } = settingsOfNow()
    ownedLog.configure(gateway.log)
    store.configure(storeSettings(settingsOfNow()))
    transforms
      .sweep(archive.neededBundles())
      .catch((error) =>
        log.warn({ event: 'bundles-not-swept', err: error }, 'old bundles could not be removed'),
      )
  }
  // The reloader may have swapped while the store was opened.
  applySettings()
  reloader.subscribe(({ type }) => {
    if (type !== 'snapshot-swapped') return
    applySettings()
    dispatch.applySettings().catch((error) => log.error({ event: 'settings-not-applied', err: error }))
  })

  const draining = new AbortController()
  const isDraining = () => draining.signal.aborted
  const app = createApp(() => settingsOfNow().gateway.trustedProxies)
  const { sourceValues } = store.cluster
  const sourcesLead = parts.add(followLead(store, 'sources', role))
  const catchUps = createCatchUps({
    live: () => (settingsOfNow().hooks.enabled ? plugins.providers() : []),
    log,
  })
  const sources = parts.add(
    createSources({
      live: () => (sourcesLead.isHeld() ? [...plugins.sources(), ...catchUps()] : []),
      hold: sourcesLead.hold,
      ...(sourceValues && { storageOf: createSharedStorage(sourceValues) }),
      post: (request) => hooks.post(request),
      limitsOf: (endpoint) => postLimitsOf(current().snapshot, endpoint),
      folder: sourcesFolder(dataDir),
      log,
      clock: options.clock ?? createSourceClock(now),
      onState: issues.sourceChanged,
    }),
  )
  const recorder = parts.add(
    createRecorder({
      store,
      now,
      relaysEvents: () => plugins.relays(settingsOfNow().agents.defaults.runner),
      mask: mask.text,
    }),
  )
  const { read } = recorder
  const requestDryRuns = parts.add(
    createRequestDryRuns({
      read,
      reloader,
      plugins,
      randomness: { mint: mintId, randomId },
      evaluators,
      mask: mask.text,
    }),
  )
  const replays = createReplays({ store: { read }, replay: (asked) => hooks.replay(asked), mintId })
  const replayJobs = parts.add(
    createReplayJobs({
      store,
      replays,
      mintId,
      now,
      timers: realTimers,
      log,
      backlog: () => settingsOfNow().gateway.limits.backlog,
      draining: draining.signal,
      leads: maintenance.isHeld,
      // A job that another node has begun is found by looking.
      ...(isCluster && { lookMs: 2000 }),
    }),
  )
  registerAdminSurface(app, {
    current,
    store: {
      read,
      command: store.command,
      health: store.health,
      changes: store.changes,
      cluster: store.cluster,
    },
    mintId,
    log,
    now,
    ...(isCluster && { node: node.name }),
    timers: backgroundTimers,
    tryHeldRunners: dispatch.tryHeldRunners,
    progressOf: progress.of,
    heartbeat: dispatch.heartbeat,
    channels: dispatch.channels,
    sources: sources.states,
    counters,
    droppedLogLines: ownedLog.droppedLines,
    publicUrl: () => tunnel?.publicUrl(),
    files: () => ({ watched: watch, readAt: reloads.filesReadAt() }),
    lastGood: reloads.servedLastGood,
    issues,
    deliveries,
    isChannel: (name) => plugins.catalog(settingsOfNow()).channels.includes(name),
    reloader,
    archive,
    withoutSecrets: loader.withoutSecrets,
    activity: counters,
    isDraining,
    requestDryRuns,
    dryRun: createDryRun(reloader, store.read),
    replays,
    replayJobs,
    mask,
  })
  const trust = parts.add(createTrust({ dataDir, fetch, log, now, timers: realTimers }))
  const hooks = createHookSurface(app, {
    current,
    store,
    recorder,
    log,
    now,
    mintId,
    draining: draining.signal,
    // The host that was bound at the start counts, although a reload may name another one.
    isBoundToLoopback: isLoopback(address.host),
    verifyDependencies: trust.verifyDependencies,
    performHandshakeEffects: trust.performHandshakeEffects,
    counters,
    ...(isCluster && { node: node.name }),
    onConcluded: issues.requestConcluded,
    onResolved: issues.requestResolved,
    loopIn: createLoopGuard(sentMessages, () =>
      loadSentMessages(sentMessages, store.read, now()).catch((error) =>
        log.warn({ event: 'own-words-not-remembered', err: error }, 'echoes of earlier replies pass'),
      ),
    ),
    pushHandlerOf: sources.pushHandlerOf,
  })
  await app.ready()
  parts.add(app)
  await dispatch.start()
  maintenance.begin(replayJobs.start)
  plugins.onCommitted(sources.apply)
  // What is caught up is said by endpoints, which are live only now.
  reloader.subscribe(({ type }) => {
    if (type === 'snapshot-swapped') sources.apply()
  })
  sourcesLead.begin(sources.apply)
  issues.start()
  // The broken files are reloaded and refused like any change, so that every command can say what is wrong with them.
  if (reloads.servedLastGood()) await reloader.reload()

  let closing: Promise<void> | undefined
  return {
    log,
    failed,
    current,
    tunnelAddress: () => tunnelListener?.address,
    publicUrl: async () => tunnel?.opened,
    isStuck: () => transforms.isStuck() || store.isStuck(),
    reload: () => reloader.reload({ endsRollback: true }),
    async listen() {
      const url = await listen(app, address)
      isListening = true
      await announce(url, settings, log)
      if (options.tunnel) await openTunnel(options.tunnel)
      const { hooks } = settingsOfNow()
      const hint = 'Write `enabled: true` under `hooks:`.'
      if (!hooks.enabled) log.warn({ event: 'hooks-off', path: hooks.path, hint })
      return url
    },
    inject: (request) => app.inject(request),
    close({ graceMs = drainGraceMs } = {}) {
      if (!isDraining() && graceMs > 0) log.info({ event: 'gateway-draining', graceMs })
      draining.abort()
      closing ??= stop(graceMs)
      return closing
    },
  }

  /** @throws ListenError */
  async function openTunnel(tunnelOptions: TunnelOptions): Promise<void> {
    const { port, cloudflared: file } = tunnelOptions
    tunnelListener = await openTunnelListener(hooks, { port, clientHeader: clientHeaderOf(tunnelOptions) })
    const target = tunnelListener.address
    log.info({ event: 'tunnel-listening', address: target })
    if (file !== undefined) tunnel = createTunnel({ file, target, log, timers: realTimers })
  }

  /** The reloader closes first, so that nothing goes live while the parts end. */
  async function stop(graceMs: number): Promise<void> {
    await reloader.close()
    await Promise.all([
      // Another node runs the sources once they have ended here.
      sources.close().then(sourcesLead.close),
      app.close(),
      // Requests under way have their replies before the tunnel ends.
      tunnelListener?.close().then(() => tunnel?.close()),
      replayJobs.close(),
      dispatch.drain(graceMs),
    ])
    await parts.close()
  }
}

type Parts = ReturnType<typeof createParts>

/** Closes the parts in the reverse order of their start. */
function createParts() {
  const stack = new AsyncDisposableStack()
  return {
    add: <Part extends { close(): unknown }>(part: Part): Part =>
      stack.adopt(part, async (added) => void (await added.close())),
    onClose: (close: () => Promise<void> | void) => stack.defer(close),
    close: () => stack.disposeAsync(),
  }
}

function openArchive({ file, gateway: { dataDir, store } }: Settings, log: Log) {
  return openGenerationArchive({
    folder: join(dataDir, 'generations'),
    configFile: file,
    highestElsewhere: () => (isDatabase(store) ? 0 : highestGenerationIn(dataDir)),
    onDamaged: (found) => log.warn({ event: 'generations-damaged', found }),
    onFailed: (error) => log.error({ event: 'generations-not-kept', err: error }),
  })
}

interface StoreParts {
  readonly configuration: Configuration
  readonly log: Log
  readonly now: () => number
  readonly node: StoreOptions['node']
  readonly parts: Parts
  readonly leases: StoreOptions['leases']
  readonly onHealth: (health: Health) => void
}

/** @throws ConfigurationError where the database that the configuration names cannot be used */
async function openStore({ configuration, log, now, node, parts, leases, onHealth }: StoreParts) {
  const failed = Promise.withResolvers<StoreError>()
  const { settings } = configuration
  const { store, dataDir } = settings.gateway
  const isEmbedded = !isDatabase(store)
  // The store of a server locks no folder, and two processes must not share one.
  if (!isEmbedded) parts.add(lockDataFolder(dataDir))
  const options: StoreOptions = {
    location: isEmbedded ? dataDir : store,
    node,
    ...(leases && { leases }),
    now,
    ...storeSettings(settings),
    historyMessages,
    onHealth(health) {
      const { writable, reason } = health
      onHealth(health)
      if (writable) log.info({ event: 'store-available' }, 'the store can write again')
      else log.error({ event: 'store-unavailable', reason }, 'the store cannot write; nothing is accepted')
    },
    onTakeover({ node, isSelf, tasks }) {
      if (isSelf) log.warn({ event: 'node-expired', node, tasks }, 'the other nodes took this one for dead')
      else log.warn({ event: 'node-taken-over', node, tasks }, 'took over from a node that is dead')
    },
    onStopped(error) {
      log.fatal({ event: 'store-stopped', err: error }, 'the store stopped; nothing can be kept any more')
      failed.resolve(error)
    },
  }
  try {
    const opening = isEmbedded
      ? openSqliteStore(options)
      : openDriverStore({ ...options, configFile: settings.file })
    return { store: await opening, failed: failed.promise }
  } catch (error) {
    if (isEmbedded || !(error instanceof StoreError) || !isAboutDatabase.has(error.code)) throw error
    throw new ConfigurationError([storeDiagnostic(error, configuration.locate(['gateway', 'store']))])
  }
}

/** Errors that are shown at the address of the database. */
const isAboutDatabase: ReadonlySet<StoreErrorCode> = new Set([
  'STORE_UNAVAILABLE',
  'PLUGIN_MISSING',
  'PLUGIN_KIT',
])

/** Shows the other nodes what is live here. */
function reportLive({ cluster }: Store, reloader: Reloader): void {
  const report = () => {
    const { generation, snapshot } = reloader.current()
    cluster.report({ generation, digest: snapshot.digest.slice(0, shownOfDigest) })
  }
  report()
  reloader.subscribe(({ type }) => type === 'snapshot-swapped' && report())
}

/** Follows whether this node is the one that does something for all nodes. An ingress node never is. */
function followLead({ cluster }: Store, what: Leadership, role: NodeRole) {
  let lead: Lead | undefined
  let giveUp = () => {}
  return {
    isHeld: () => lead !== undefined && !lead.signal.aborted,
    /** As that of a claim. @throws StoreError `LEASE_LOST` */
    async hold(): Promise<void> {
      if (lead === undefined) throw new StoreError('LEASE_LOST', `another node does this: ${what}`)
      await lead.hold()
    },
    /** `changed` is called with each gain and each loss. */
    begin(changed: () => void) {
      if (role === 'ingress') return
      giveUp = cluster.lead(what, (next) => {
        lead = next
        next.signal.addEventListener('abort', changed)
        changed()
      })
    },
    close: () => giveUp(),
  }
}

/** The settings of the store that a reload may change. */
function storeSettings({ gateway, history, agents }: Settings) {
  return {
    keepMs: history.keepMs,
    maxBodyBytes: history.maxBodyBytes,
    ...(history.bodies !== 'all' && { ignoredBodiesMs: history.ignoredMs }),
    backlog: gateway.limits.backlog,
    sessionIdleMs: agents.sessions.idleMs,
  }
}

/** A start that fails reports why, and nothing else: what goes live before is held until the gateway can serve. */
function holdReports(reloader: Reloader): (report: ReloadListener) => void {
  const held: ReloadEvent[] = []
  const unsubscribe = reloader.subscribe((event) => held.push(event))
  return (report) => {
    unsubscribe()
    held.forEach(report)
    reloader.subscribe(report)
  }
}

/** Knows when the files were read last, and until they load, what was served in their place at the start. */
function followReloads(
  reloader: Reloader,
  servedAtStart: ReturnType<Start['lastGood']['served']>,
  log: Log,
  now: () => number,
) {
  let servedLastGood = servedAtStart
  let filesReadAt = now()
  if (servedLastGood) log.error({ event: 'last-good-served', ...servedLastGood })
  reloader.subscribe(({ type }) => {
    if (type === 'snapshot-swapped' || type === 'content-unchanged') servedLastGood = undefined
    if (type !== 'release-failed' && type !== 'watch-failed') filesReadAt = now()
  })
  return { servedLastGood: () => servedLastGood, filesReadAt: () => filesReadAt }
}

/** An observer that passes everything on to both; the type lets none be forgotten. */
function both(one: DispatchObserver, other: DispatchObserver): Required<DispatchObserver> {
  return {
    runEnded(...end) {
      one.runEnded?.(...end)
      other.runEnded?.(...end)
    },
    runParked(...end) {
      one.runParked?.(...end)
      other.runParked?.(...end)
    },
    heartbeatEnded(...end) {
      one.heartbeatEnded?.(...end)
      other.heartbeatEnded?.(...end)
    },
    deliveryEnded(...end) {
      one.deliveryEnded?.(...end)
      other.deliveryEnded?.(...end)
    },
    budgetAlarmed(alarm) {
      one.budgetAlarmed?.(alarm)
      other.budgetAlarmed?.(alarm)
    },
    runnerChanged(state) {
      one.runnerChanged?.(state)
      other.runnerChanged?.(state)
    },
    channelChanged(state) {
      one.channelChanged?.(state)
      other.channelChanged?.(state)
    },
    channelChecked(check) {
      one.channelChecked?.(check)
      other.channelChecked?.(check)
    },
  }
}

/** Writes the address to the log, and to the file in which commands look for it. */
async function announce(address: string, settings: Settings, log: Log): Promise<void> {
  await writeGatewayFile(settings, address, Date.now()).catch((error) =>
    log.warn({ event: 'gateway-file-not-written', err: error }, 'commands look for the gateway by its files'),
  )
  log.info({ event: 'gateway-listening', address, admin: settings.gateway.tokens.length > 0 })
}
