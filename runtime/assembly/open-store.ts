/** The second stage: the store, and what needs nothing else. */

import { hostname } from 'node:os'
import type { Configuration, Reloader, Settings } from '@reveille/engine'
import { removeGatewayFile } from '../gateway-file.ts'
import { shownOfDigest } from '../http/index.ts'
import { createCounters } from '../observe/counters.ts'
import type { Log } from '../observe/log.ts'
import { createReloadReporter } from '../observe/reloads.ts'
import { packageVersion } from '../package-folder.ts'
import { ConfigurationError, type Start } from '../reload/start.ts'
import { isDatabase, openDriverStore, storeDiagnostic } from '../store/driver-package.ts'
import { type Health, type Store, StoreError, type StoreErrorCode, type StoreOptions } from '../store/port.ts'
import { lockDataFolder, openSqliteStore } from '../store/sqlite/index.ts'
import type { Configured } from './configure.ts'
import { followLeadership } from './leadership.ts'
import type { Assembly } from './options.ts'

export type Stored = Awaited<ReturnType<typeof openStore>>

/**
 * Maximum number of messages of a session that the store returns. `agents.sessions` allows fewer, so that a longer history is known to be
 * one.
 */
const historyMessages = 1100

/** @throws ConfigurationError, StoreError `LOCKED` or `SCHEMA_NEWER` */
export async function openStore(assembly: Assembly, configured: Configured) {
  const { options, parts, listening } = assembly
  const { settings, archive, reloader, lastGood, log, now, clock, mintId, ownLog, transforms } = configured
  const { dataDir } = settings.gateway
  const node = {
    name: options.node ?? hostname(),
    version: packageVersion(),
    role: options.role ?? 'all',
  } as const
  const health = createHealthReports(log)
  const failed = Promise.withResolvers<StoreError>()
  const store = await open(assembly, configured, {
    node,
    onHealth: health.report,
    onStopped(error) {
      log.fatal({ event: 'store-stopped', err: error }, 'the store stopped; nothing can be kept any more')
      failed.resolve(error)
    },
  })
  clock.follow(store)
  mintId.startAfter(store.newestAt)
  parts.add(store)
  // The data folder is locked, so that from here on this process may write to it.
  parts.add(archive)
  parts.onClose(() => (listening.began ? removeGatewayFile(dataDir) : undefined))
  await archive.begin()
  const counters = createCounters({ now, backlog: () => store.health().backlog })
  const results = {
    'snapshot-swapped': 'applied',
    'candidate-rejected': 'refused',
    'content-unchanged': 'unchanged',
  } as const
  reloader.subscribe((event) => {
    const isOfFiles = !('rollbackTo' in event) || event.rollbackTo === undefined
    if (event.type in results) counters.noteReload(results[event.type as keyof typeof results], isOfFiles)
  })
  configured.reportTo(createReloadReporter(log, process.cwd()))
  const reloads = followReloads(reloader, lastGood.served(), log, now)
  reportLive(store, reloader)
  const maintenance = parts.add(followLeadership(store, 'maintenance', node.role))
  const applySettings = () => {
    const settingsNow = configured.current().snapshot.settings
    ownLog.configure(settingsNow.gateway.log)
    store.configure(storeSettings(settingsNow))
    const onFailure = (err: unknown) =>
      log.warn({ event: 'bundles-not-swept', err }, 'old bundles could not be removed')
    transforms.sweep(archive.neededBundles()).catch(onFailure)
  }
  /** The name of this process, where several share the store. */
  const shared = isDatabase(settings.gateway.store) ? { node: node.name } : {}
  return {
    ...{ store, node, shared, counters, reloads, maintenance, applySettings },
    failed: failed.promise,
    followHealth: health.follow,
  }
}

/** Logs what the store reports of itself, and passes it on once somebody follows. */
function createHealthReports(log: Log) {
  let listener: (health: Health) => void = () => undefined
  return {
    report(health: Health): void {
      const { writable, reason } = health
      listener(health)
      if (writable) log.info({ event: 'store-available' }, 'the store can write again')
      else log.error({ event: 'store-unavailable', reason }, 'the store cannot write; nothing is accepted')
    },
    follow(next: (health: Health) => void): void {
      listener = next
    },
  }
}

async function open(
  { options: { leases, openStore: openEmbedded = openSqliteStore }, parts }: Assembly,
  { configuration, clock, log }: Configured,
  more: Pick<StoreOptions, 'node' | 'onHealth' | 'onStopped'>,
): Promise<Store> {
  const { settings } = configuration
  const { store, dataDir } = settings.gateway
  const isEmbedded = !isDatabase(store)
  // The store of a server locks no folder, and two processes must not share one.
  if (!isEmbedded) parts.add(lockDataFolder(dataDir))
  const options: StoreOptions = {
    location: isEmbedded ? dataDir : store,
    ...(leases && { leases }),
    now: clock.own,
    ...storeSettings(settings),
    historyMessages,
    onTakeover({ node, isSelf, tasks }) {
      if (isSelf) log.warn({ event: 'node-expired', node, tasks }, 'the other nodes took this one for dead')
      else log.warn({ event: 'node-taken-over', node, tasks }, 'took over from a node that is dead')
    },
    ...more,
  }
  try {
    if (isEmbedded) return await openEmbedded(options)
    return await openDriverStore({ ...options, configFile: settings.file })
  } catch (error) {
    throw isEmbedded ? error : shownAtAddress(error, configuration)
  }
}

/** Errors that are shown at the address of the database. */
const isAboutDatabase: ReadonlySet<StoreErrorCode> = new Set([
  'STORE_UNAVAILABLE',
  'PLUGIN_MISSING',
  'PLUGIN_KIT',
])

function shownAtAddress(error: unknown, configuration: Configuration): unknown {
  if (!(error instanceof StoreError) || !isAboutDatabase.has(error.code)) return error
  return new ConfigurationError([storeDiagnostic(error, configuration.locate(['gateway', 'store']))])
}

/** Shows the other nodes what is live here. */
function reportLive({ cluster }: Store, reloader: Reloader): void {
  const report = () => {
    const { generation, snapshot } = reloader.current()
    const beginning = (digest: string) => digest.slice(0, shownOfDigest)
    const sharedDigest = beginning(snapshot.sharedDigest)
    cluster.report({ generation, digest: beginning(snapshot.digest), sharedDigest })
  }
  report()
  reloader.subscribe(({ type }) => type === 'snapshot-swapped' && report())
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
