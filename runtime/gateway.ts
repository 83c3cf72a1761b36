/** Owns the assembly: a gateway's parts, started in order and closed in reverse. */

import { join } from 'node:path'
import {
  type Configuration,
  createLoader,
  type Diagnostic,
  fence,
  isLoopback,
  type Live,
  type Loaded,
  loadConfiguration,
  type ReloadEvent,
  type ReloadResult,
  realTimers,
} from '@reveille/engine'
import type { SourceClock } from '@reveille/kit'
import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { registerAdminSurface } from './api/index.ts'
import { registerProbes } from './api/probes.ts'
import { createDeliveriesByHand, createDispatch, createProgressBoard } from './dispatch/index.ts'
import { removeGatewayFile, writeGatewayFile } from './gateway-file.ts'
import { createKeptFiles, openGenerationArchive } from './generations/index.ts'
import { createLoopGuard, createOwnWords, rememberOwnWords } from './guard/index.ts'
import { createApp, createHookSurface, listen, postLimitsOf } from './http/index.ts'
import { createIgnoredTraces } from './observe/ignored-traces.ts'
import { createLog, type Log, type LogOptions } from './observe/log.ts'
import { createReloadReporter } from './observe/reloads.ts'
import { createPluginHost } from './plugin/index.ts'
import { presetsFolder } from './presets-folder.ts'
import { createRandomIds } from './random-id.ts'
import { createDryRun } from './reload/dry-run.ts'
import { createLastGood } from './reload/last-good.ts'
import { createReloading } from './reload/reloading.ts'
import { loadRolledBack } from './reload/rolled-back.ts'
import { createSourceClock, createSources, sourcesFolder } from './sources/index.ts'
import { createIdMinter } from './store/id.ts'
import type { StoreError } from './store/port.ts'
import { highestGenerationIn, openSqliteStore } from './store/sqlite/index.ts'
import { createTransformReporter, hostTransforms } from './transforms.ts'
import { createTrust } from './trust/index.ts'

export interface GatewayOptions {
  /** The configuration file; relative to the working directory. */
  readonly configFile: string
  /** Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Listened on in the place of `gateway.port`. */
  readonly port?: number
  /** Milliseconds since the Unix epoch. Default: `Date.now`. */
  readonly now?: () => number
  /** How keys of providers are fetched, and subscriptions confirmed. Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch
  /** What sources go by. Default: the real time. */
  readonly clock?: SourceClock
  /** Where log lines go. Default: standard error. */
  readonly logStream?: LogOptions['stream']
  /** Whether files are watched for changes. Default: true. */
  readonly watch?: boolean
  /**
   * Whether a configuration that does not load is replaced by the last generation, with its settings and all other files.
   * Mapping files and transforms are replaced one by one, whatever is said here. Default: false.
   */
  readonly lastGood?: boolean
  /** Whether files are looked at regularly, for file systems without events. Default: `hooks.reload.poll`. */
  readonly poll?: boolean
}

export interface Gateway {
  readonly log: Log
  /**
   * Resolves when the gateway can do nothing more in this process, as its store has stopped for good. It still
   * answers, with 503; whoever runs it closes it and starts another process.
   */
  readonly failed: Promise<StoreError>
  current(): Live
  /** Whether a transform's thread, or the store's, could not be ended. Node.js waits for such a thread: only a signal ends the process. */
  isStuck(): boolean
  /** Reads the files again, as after a change; ends a rollback. @throws Error once closing */
  reload(): Promise<ReloadResult>
  /** Begins to accept. Resolves with the address: `http://127.0.0.1:8787`. @throws ListenError */
  listen(): Promise<string>
  /** A request without a socket. */
  inject(request: InjectOptions): Promise<LightMyRequestResponse>
  /**
   * Stops accepting, waits for running turns up to `graceMs` (default 30,000) and leaves the rest resumable.
   * Every call answers the same close.
   */
  close(options?: { graceMs?: number }): Promise<void>
}

/** A configuration that cannot serve. */
export class ConfigurationError extends Error {
  readonly diagnostics: readonly Diagnostic[]
  /** The generation that was live last, where `lastGood` would serve it. */
  readonly lastGeneration: number | undefined

  constructor(diagnostics: readonly Diagnostic[], lastGeneration?: number) {
    super(diagnostics.map(({ message }) => message).join('\n'))
    this.name = 'ConfigurationError'
    this.diagnostics = diagnostics
    this.lastGeneration = lastGeneration
  }
}

/**
 * Messages of a session that the store gives; how many of them a turn is shown is decided by `agents.sessions`, which
 * allows fewer, so that a longer history is known to be one.
 */
const historyMessages = 1100
const drainGraceMs = 30_000
const hooksOffHint = 'Write `enabled: true` under `hooks:`.'

/** @throws ConfigurationError, StoreError `LOCKED` or `SCHEMA_NEWER` */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { env = process.env, now = Date.now } = options
  const files = { file: options.configFile, env, presets: presetsFolder() }
  const loader = createLoader(files)
  const lastGood = createLastGood({ ...files, loader, whole: options.lastGood ?? false })
  const first = await loader.load()
  const configuration = await configurationToStart()

  const closers: (() => Promise<unknown> | unknown)[] = []
  const closeAll = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    return await assemble(configuration)
  } catch (error) {
    await closeAll()
    throw error
  }

  async function configurationToStart(): Promise<Configuration> {
    if (first.ok) return first.configuration
    const rolledBack = await loadRolledBack(files, first.digest)
    if (rolledBack) return rolledBack
    let loaded: Loaded = first
    while (!loaded.ok && (await lastGood.substitute(loaded.diagnostics))) loaded = await lastGood.load()
    if (loaded.ok) return loaded.configuration
    throw new ConfigurationError(first.diagnostics, lastGood.generation())
  }

  async function assemble(configuration: Configuration): Promise<Gateway> {
    const { settings } = configuration
    const ownedLog = createLog({ ...settings.gateway.log, stream: options.logStream })
    const { log } = ownedLog
    let listened = false
    closers.push(() => {
      if (listened) log.info({ event: 'gateway-stopped' })
      return ownedLog.flush()
    })
    const mintId = createIdMinter(now)
    const randomId = createRandomIds()

    const plugins = createPluginHost({ log })
    closers.push(() => plugins.close())

    const transforms = hostTransforms({
      folder: join(settings.gateway.dataDir, 'transforms'),
      onEvent: createTransformReporter(log),
    })
    closers.push(() => transforms.close())

    const archive = await openGenerationArchive({
      folder: join(settings.gateway.dataDir, 'generations'),
      configFile: settings.file,
      highestElsewhere: () => highestGenerationIn(settings.gateway.dataDir),
      onDamaged: (found) => log.warn({ event: 'generations-damaged', found }),
      onFailed: (error) => log.error({ event: 'generations-not-kept', err: error }),
    })
    const reloader = createReloading({
      first,
      configuration,
      load: (kept) =>
        kept ? loadConfiguration({ ...files, files: createKeptFiles(kept) }) : lastGood.load(),
      archive,
      transforms: lastGood.transformParts(transforms.parts),
      plugins,
      randomness: { mint: mintId, randomId },
      watch: options.watch ?? true,
      poll: options.poll,
      now,
    })
    closers.push(() => reloader.close())
    // A start that fails says why, and nothing else: what went live before that is told once it can serve.
    const untold: ReloadEvent[] = []
    const unsubscribe = reloader.subscribe((event) => untold.push(event))
    const started = await lastGood.start(reloader)
    if (!started.ok) throw new ConfigurationError(started.diagnostics, lastGood.generation())

    const failed = Promise.withResolvers<StoreError>()
    const store = await openSqliteStore({
      location: settings.gateway.dataDir,
      now,
      keepMs: settings.history.keepMs,
      backlog: settings.gateway.limits.backlog,
      sessionIdleMs: settings.agents.sessions.idleMs,
      historyMessages,
      onHealth({ writable, reason }) {
        if (writable) log.info({ event: 'store-available' }, 'the store can write again')
        else log.error({ event: 'store-unavailable', reason }, 'the store cannot write; nothing is accepted')
      },
      onStopped(error) {
        log.fatal({ event: 'store-stopped', err: error }, 'the store stopped; nothing can be kept any more')
        failed.resolve(error)
      },
    })
    closers.push(() => store.close())
    // The store has locked the data folder: from here on it is ours to write.
    closers.push(() => archive.close())
    closers.push(() => (listened ? removeGatewayFile(settings.gateway.dataDir) : undefined))
    await archive.begin()
    const report = createReloadReporter(log, process.cwd())
    unsubscribe()
    untold.forEach(report)
    reloader.subscribe(report)
    let servedLastGood = lastGood.served()
    let filesReadAt = now()
    if (servedLastGood) log.error({ event: 'last-good-served', ...servedLastGood })
    reloader.subscribe(({ type }) => {
      if (type === 'snapshot-swapped' || type === 'content-unchanged') servedLastGood = undefined
      if (type !== 'release-failed' && type !== 'watch-failed') filesReadAt = now()
    })

    const progress = createProgressBoard({ now })
    const words = createOwnWords({ now })
    const dispatch = createDispatch({
      store,
      current: reloader.current,
      runner: plugins.runner,
      channel: plugins.channel,
      fence,
      log,
      now,
      mintId,
      random: Math.random,
      randomId,
      timers: { setTimeout, clearTimeout },
      progress,
      relays: plugins.relays,
      onDelivered: words.note,
    })
    closers.push(() => dispatch.close())
    const configure = () => {
      const { gateway, history, agents } = reloader.current().snapshot.settings
      ownedLog.configure(gateway.log)
      store.configure({
        keepMs: history.keepMs,
        backlog: gateway.limits.backlog,
        sessionIdleMs: agents.sessions.idleMs,
      })
    }
    const sweepBundles = () =>
      transforms
        .sweep(archive.neededBundles())
        .catch((error) =>
          log.warn({ event: 'bundles-not-swept', err: error }, 'old bundles could not be removed'),
        )
    // What went live while the store was opened was told to nobody.
    configure()
    sweepBundles()
    reloader.subscribe((event) => {
      if (event.type !== 'snapshot-swapped') return
      configure()
      sweepBundles()
      dispatch.applySettings().catch((error) => log.error({ event: 'settings-not-applied', err: error }))
    })

    plugins.onCommitted(dispatch.applyChannels)

    const draining = new AbortController()
    const isDraining = () => draining.signal.aborted
    const app = createApp(() => reloader.current().snapshot.settings.gateway.trustedProxies)
    const sources = createSources({
      live: plugins.sources,
      post: (request) => hooks.post(request),
      limitsOf: (endpoint) => postLimitsOf(reloader.current().snapshot, endpoint),
      folder: sourcesFolder(settings.gateway.dataDir),
      log,
      clock: options.clock ?? createSourceClock(now),
    })
    closers.push(() => sources.close())
    registerProbes(app, { store, isDraining })
    const traces = createIgnoredTraces()
    registerAdminSurface(app, {
      current: reloader.current,
      store,
      mintId,
      log,
      now,
      traceOf: traces.of,
      progressOf: progress.of,
      heartbeat: dispatch.heartbeat,
      channels: dispatch.channels,
      sources: sources.states,
      droppedLogLines: ownedLog.droppedLines,
      files: () => ({ watched: options.watch ?? true, readAt: filesReadAt }),
      lastGood: () => servedLastGood,
      deliveries: createDeliveriesByHand({
        store,
        current: reloader.current,
        channel: plugins.channel,
        now,
        mintId,
      }),
      isChannel: (name) => plugins.catalog(reloader.current().snapshot.settings).channels.includes(name),
      generations: { reloader, archive, isDraining, dryRun: createDryRun(reloader, store.read) },
    })
    const trust = createTrust({
      dataDir: settings.gateway.dataDir,
      fetch: options.fetch ?? fetch,
      log,
      now,
      timers: realTimers,
    })
    closers.push(() => trust.close())
    const hooks = createHookSurface(app, {
      current: reloader.current,
      store,
      log,
      now,
      mintId,
      draining: draining.signal,
      // Of the host that was bound at the start: a reload may name another one.
      isBoundToLoopback: isLoopback(settings.gateway.host),
      verifyDependencies: trust.means,
      performHandshakeEffects: trust.performHandshakeEffects,
      onIgnored: traces.note,
      loopIn: createLoopGuard(words, () =>
        rememberOwnWords(words, store.read, now()).catch((error) =>
          log.warn({ event: 'own-words-not-remembered', err: error }, 'echoes of earlier replies pass'),
        ),
      ),
      relaysEvents: () => plugins.relays(reloader.current().snapshot.settings.agents.defaults.runner),
      pushHandlerOf: sources.pushHandlerOf,
    })
    await app.ready()
    closers.push(() => app.close())
    await dispatch.start()
    plugins.onCommitted(sources.apply)
    sources.apply()
    // As after any change that is refused: what is wrong with the files is told wherever that is asked for.
    if (servedLastGood) await reloader.reload()

    let closing: Promise<void> | undefined
    return {
      log,
      failed: failed.promise,
      current: reloader.current,
      isStuck: () => transforms.isStuck() || store.isStuck(),
      reload: () => reloader.reload({ endsRollback: true }),
      async listen() {
        const { host, port } = settings.gateway
        const address = await listen(app, { host, port: options.port ?? port })
        listened = true
        await writeGatewayFile(settings, address, Date.now()).catch((error) =>
          log.warn(
            { event: 'gateway-file-not-written', err: error },
            'commands look for the gateway by its files',
          ),
        )
        log.info({ event: 'gateway-listening', address, admin: settings.gateway.tokens.length > 0 })
        const { hooks } = reloader.current().snapshot.settings
        if (!hooks.enabled) log.warn({ event: 'hooks-off', path: hooks.path, hint: hooksOffHint })
        return address
      },
      inject: (request) => app.inject(request),
      close({ graceMs = drainGraceMs } = {}) {
        if (!isDraining() && graceMs > 0) log.info({ event: 'gateway-draining', graceMs })
        draining.abort()
        closing ??= stop(graceMs)
        return closing
      },
    }

    /** Nothing goes live any more once things begin to end. */
    async function stop(graceMs: number): Promise<void> {
      await reloader.close()
      await Promise.all([sources.close(), app.close(), dispatch.drain(graceMs)])
      await closeAll()
    }
  }
}
