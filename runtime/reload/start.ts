/** Loads the configuration that a gateway starts with: its files, or what may stand in for them where they do not load. */

import { join, resolve } from 'node:path'
import {
  type Configuration,
  type Diagnostic,
  type Loaded,
  type Loader,
  type LoadOptions,
  loadConfiguration,
} from '@reveille/engine'
import { createKeptFiles, openGenerationArchive } from '../generations/index.ts'
import { loadGatewayBlock } from './gateway-block.ts'
import { createLastGood, type LastGood } from './last-good.ts'

/** Thrown for a configuration that cannot serve. */
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

export interface Start {
  /** What the first load of the files gave. */
  readonly first: Loaded
  /** What the gateway starts with: the files, or what stands in for files that do not load. */
  readonly configuration: Configuration
  readonly lastGood: LastGood
}

/** `whole`: whether the last generation may stand in for the configuration itself. @throws ConfigurationError */
export async function loadStart(loader: Loader, options: LoadOptions, whole: boolean): Promise<Start> {
  const lastGood = createLastGood({ ...options, loader, whole })
  const first = await loader.load()
  const configuration = first.ok
    ? first.configuration
    : ((await loadRolledBack(options, first.digest)) ?? (await loadLastGood(first, lastGood)))
  return { first, configuration, lastGood }
}

async function loadLastGood(
  first: Extract<Loaded, { ok: false }>,
  lastGood: LastGood,
): Promise<Configuration> {
  let loaded: Loaded = first
  while (!loaded.ok && (await lastGood.substitute(loaded.diagnostics))) loaded = await lastGood.load()
  if (loaded.ok) return loaded.configuration
  throw new ConfigurationError(first.diagnostics, lastGood.generation())
}

/** Returns the generation that an admin had gone back to from exactly the files that do not load. */
async function loadRolledBack(
  options: LoadOptions,
  filesDigest: string | undefined,
): Promise<Configuration | undefined> {
  const configFile = resolve(options.file)
  const block = await loadGatewayBlock({ file: configFile, env: options.env })
  if (block === undefined) return undefined
  const { dataDir } = block.settings.gateway
  const folder = join(dataDir, 'generations')
  const archive = await openGenerationArchive({ folder, configFile, onDamaged() {}, onFailed() {} })
  const rollback = archive.rollback()
  const kept =
    rollback?.filesDigest === filesDigest && rollback ? await archive.read(rollback.generation) : undefined
  if (kept === undefined) return undefined
  const loaded = await loadConfiguration({ ...options, files: createKeptFiles(kept.sources) })
  // The archive of another data folder knows nothing of the generations of this one.
  const isSameFolder = loaded.ok && loaded.configuration.settings.gateway.dataDir === dataDir
  return isSameFolder ? loaded.configuration : undefined
}
