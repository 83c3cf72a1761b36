/** The first stage: the configuration, its plugins and transforms, and the reloader that keeps them current. */

import { join } from 'node:path'
import {
  backgroundTimers,
  createEvaluators,
  createMask,
  type Loader,
  type ReloadEvent,
  type Reloader,
  type ReloadListener,
  randomId,
  type Settings,
} from '@reveille/engine'
import { createChangedFiles, createKeptFiles, openGenerationArchive } from '../generations/index.ts'
import { createLog, type Log } from '../observe/log.ts'
import { createPluginHost } from '../plugin/index.ts'
import { createReloading } from '../reload/reloading.ts'
import { ConfigurationError, type Start } from '../reload/start.ts'
import { isDatabase } from '../store/driver-package.ts'
import { createIdMinter } from '../store/id.ts'
import { highestGenerationIn } from '../store/sqlite/index.ts'
import { createTransformReporter, hostTransforms } from '../transforms.ts'
import type { Assembly } from './options.ts'

export type Configured = Awaited<ReturnType<typeof configure>>

/** @throws ConfigurationError */
export async function configure(
  { options, parts, listening }: Assembly,
  loader: Loader,
  { first, configuration, lastGood }: Start,
) {
  const { settings } = configuration
  const clock = createClock(options.now ?? Date.now)
  const { now } = clock
  const mintId = createIdMinter(now)
  const randomness = { mint: mintId, randomId }
  const mask = createMask()
  mask.add(configuration.secrets)
  const ownLog = createLog({ ...settings.gateway.log, stream: options.logStream, mask: mask.json })
  const { log } = ownLog
  parts.onClose(() => {
    if (listening.began) log.info({ event: 'gateway-stopped' })
    return ownLog.flush()
  })
  const plugins = parts.add(createPluginHost({ log }))
  const folder = join(settings.gateway.dataDir, 'transforms')
  const transforms = parts.add(hostTransforms({ folder, onEvent: createTransformReporter(log) }))
  const evaluators = parts.add(createEvaluators({ timers: backgroundTimers }))
  const archive = await openArchive(settings, log)
  const reloader = parts.add(
    createReloading({
      first,
      configuration,
      load: (kept, changed) =>
        kept || changed
          ? loader.load(kept ? createKeptFiles(kept) : createChangedFiles(changed))
          : lastGood.load(),
      archive,
      transforms: lastGood.transformParts(transforms.parts),
      plugins,
      randomness,
      evaluators,
      onSecrets: mask.add,
      watch: options.watch ?? true,
      poll: options.poll,
      now,
    }),
  )
  const reportTo = holdReports(reloader)
  const started = await lastGood.start(reloader)
  if (!started.ok) throw new ConfigurationError(started.diagnostics, lastGood.generation())
  const current = () => reloader.current()
  return {
    ...{ configuration, settings, loader, lastGood, archive, reloader, reportTo, current },
    ...{ clock, now, mintId, randomness, mask, ownLog, log, plugins, transforms, evaluators },
  }
}

/** The process's clock until the store is open, and then the store's, which all its nodes share. */
function createClock(own: () => number) {
  let read = own
  return {
    own,
    now: () => read(),
    follow(store: { now(): number }): void {
      read = store.now
    },
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
