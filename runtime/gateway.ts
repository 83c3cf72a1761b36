/** Owns the assembly: a gateway's parts, started in order and closed in reverse. */

import {
  CandidateError,
  type Configuration,
  compileSnapshot,
  createReloader,
  createWatcher,
  type Diagnostic,
  fence,
  type Live,
  type Loaded,
  loadConfiguration,
  type ReloadEvent,
  type Settings,
} from '@reveille/engine'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { registerAdminSurface } from './api/index.ts'
import { registerProbes } from './api/probes.ts'
import { createDispatch } from './dispatch/index.ts'
import { createApp, createHookSurface } from './http/index.ts'
import { createLog, type Log, type LogOptions } from './observe/log.ts'
import { createReloadReporter } from './observe/reloads.ts'
import { createPluginHost, diagnosticsOf, PluginSetupError } from './plugin/index.ts'
import { createRandomIds } from './random-id.ts'
import { createIdMinter } from './store/id.ts'
import { openSqliteStore } from './store/sqlite/index.ts'

export interface GatewayOptions {
  /** The configuration file; relative to the working directory. */
  readonly configFile: string
  /** Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Milliseconds since the Unix epoch. Default: `Date.now`. */
  readonly now?: () => number
  /** Where log lines go. Default: standard error. */
  readonly logStream?: LogOptions['stream']
  /** Whether files are watched for changes. Default: true. */
  readonly watch?: boolean
}

export interface Gateway {
  readonly log: Log
  current(): Live
  /** Begins to accept. Resolves with the address: `http://127.0.0.1:8787`. @throws GatewayError `PORT_IN_USE` */
  listen(): Promise<string>
  /** A request without a socket. */
  inject(request: InjectOptions): Promise<LightMyRequestResponse>
  /**
   * Stops accepting, waits for running turns up to `graceMs` (default 30,000) and leaves the rest resumable.
   * Every call answers the same close.
   */
  close(options?: { graceMs?: number }): Promise<void>
}

export type GatewayErrorCode = 'PORT_IN_USE' | 'ADDRESS_UNAVAILABLE'

/** Why a gateway can not listen, in one line. */
export class GatewayError extends Error {
  readonly code: GatewayErrorCode

  constructor(code: GatewayErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'GatewayError'
    this.code = code
  }
}

/** A configuration that can not serve. */
export class ConfigurationError extends Error {
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(({ message }) => message).join('\n'))
    this.name = 'ConfigurationError'
    this.diagnostics = diagnostics
  }
}

/** Messages of a session that a turn is shown. */
const historyMessages = 40
const drainGraceMs = 30_000

/** @throws ConfigurationError, StoreError `LOCKED` or `SCHEMA_NEWER` */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { env = process.env, now = Date.now } = options
  const load = () => loadConfiguration({ file: options.configFile, env })
  const first = await load()
  if (!first.ok) throw new ConfigurationError(first.diagnostics)

  const closers: (() => Promise<unknown> | unknown)[] = []
  const closeAll = async () => {
    for (const close of closers.reverse()) await close()
  }
  try {
    return await assemble(first.configuration)
  } catch (error) {
    await closeAll()
    throw error
  }

  async function assemble(configuration: Configuration): Promise<Gateway> {
    const { settings } = configuration
    const { log, setLevel, flush } = createLog({ ...settings.gateway.log, stream: options.logStream })
    closers.push(flush)
    const mintId = createIdMinter(now)
    const randomId = createRandomIds()

    const plugins = createPluginHost({ log })
    closers.push(() => plugins.close())

    let candidate = configuration
    const reloader = createReloader({
      load: startingWith(first, load),
      compile(configuration) {
        candidate = configuration
        return located(candidate, () =>
          compileSnapshot(configuration, plugins.catalog(configuration.settings), { mint: mintId, randomId }),
        )
      },
      prepare: (snapshot) => located(candidate, () => plugins.prepare(snapshot)),
      watch: options.watch === false ? undefined : createWatcher,
      now,
    })
    closers.push(() => reloader.close())
    // A start that fails says why, and nothing else: what went live before that is told once it can serve.
    const untold: ReloadEvent[] = []
    const unsubscribe = reloader.subscribe((event) => untold.push(event))
    const started = await reloader.start()
    if (!started.ok) throw new ConfigurationError(started.diagnostics)

    const store = await openSqliteStore({
      location: settings.gateway.dataDir,
      now,
      keepMs: settings.history.keepMs,
      backlog: settings.gateway.limits.backlog,
      historyMessages,
    })
    closers.push(() => store.close())
    const report = createReloadReporter(log, settings.file)
    unsubscribe()
    untold.forEach(report)
    reloader.subscribe(report)

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
    })
    closers.push(() => dispatch.close())
    reloader.subscribe((event) => {
      if (event.type !== 'snapshot-swapped') return
      setLevel(reloader.current().snapshot.settings.gateway.log.level)
      dispatch.applySettings().catch((error) => log.error({ event: 'settings-not-applied', err: error }))
    })

    let draining = false
    const isDraining = () => draining
    const app = createApp(settings.gateway.trustedProxies)
    registerProbes(app, { store, isDraining })
    registerAdminSurface(app, { current: reloader.current, store, mintId, log })
    createHookSurface(app, { current: reloader.current, store, log, now, mintId, isDraining })
    await app.ready()
    closers.push(() => app.close())
    await dispatch.start()

    let closing: Promise<void> | undefined
    return {
      log,
      current: reloader.current,
      async listen() {
        const address = await listen(app, settings.gateway)
        log.info({ event: 'gateway-listening', address, admin: settings.gateway.token !== undefined })
        return address
      },
      inject: (request) => app.inject(request),
      close({ graceMs = drainGraceMs } = {}) {
        if (!draining && graceMs > 0) log.info({ event: 'gateway-draining', graceMs })
        draining = true
        closing ??= Promise.all([app.close(), dispatch.drain(graceMs)]).then(closeAll)
        return closing
      },
    }
  }
}

/** What is wrong with a plugin is told with its place, like everything else that is wrong with a candidate. */
async function located<Result>(
  configuration: Configuration,
  step: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await step()
  } catch (error) {
    if (!(error instanceof PluginSetupError)) throw error
    throw new CandidateError(diagnosticsOf(error, configuration), { cause: error })
  }
}

async function listen(app: FastifyInstance, { host, port }: Settings['gateway']): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') {
      const message = `Port ${port} on ${host} is in use: another gateway may be running. Set gateway.port to a free one.`
      throw new GatewayError('PORT_IN_USE', message, { cause: error })
    }
    if (code === 'EADDRNOTAVAIL' || code === 'EACCES') {
      const message = `The gateway can not listen on ${host}:${port} (${code}). Set gateway.host and gateway.port.`
      throw new GatewayError('ADDRESS_UNAVAILABLE', message, { cause: error })
    }
    throw error
  }
}

/** The configuration was read once already, to know how to log. */
function startingWith(first: Loaded, load: () => Promise<Loaded>): () => Promise<Loaded> {
  let unread: Loaded | undefined = first
  return async () => {
    const loaded = unread ?? (await load())
    unread = undefined
    return loaded
  }
}
