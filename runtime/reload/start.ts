/** Loads the configuration that a gateway starts with: its files, or a replacement where they do not load. */

import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import {
  type Configuration,
  type Diagnostic,
  type Loaded,
  type Loader,
  type LoadOptions,
  textsMayBeUnfinished,
} from '@reveille/engine'
import { loadGatewayBlock } from './gateway-block.ts'
import { readKeptGeneration, readLastSources } from './kept-generation.ts'
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
  /** The result of the first load. */
  readonly first: Loaded
  /** The first configuration of the gateway: the files, or the replacement of files that do not load. */
  readonly configuration: Configuration
  readonly lastGood: LastGood
}

export interface StartOptions extends LoadOptions {
  /** True if the last generation may replace the configuration itself. */
  readonly whole: boolean
  /** Resolves after so many milliseconds. Default: a timer of the process. */
  readonly pause?: (ms: number) => Promise<unknown>
}

/** @throws ConfigurationError */
export async function loadStart(
  loader: Loader,
  { whole, pause = setTimeout, ...options }: StartOptions,
): Promise<Start> {
  const lastGood = createLastGood({ ...options, loader, whole })
  const first = await loadRested(loader, options, pause)
  const configuration = first.ok
    ? first.configuration
    : ((await loadRolledBack(options, first.digest)) ?? (await loadLastGood(first, lastGood)))
  return { first, configuration, lastGood }
}

/**
 * Loads the files. If one vanished or may be cut since a gateway last served them, someone may be saving it at this
 * moment: they are believed once they have stayed unchanged for `hooks.reload.rest`.
 */
async function loadRested(
  loader: Loader,
  options: LoadOptions,
  pause: (ms: number) => Promise<unknown>,
): Promise<Loaded> {
  let loaded = await loader.load()
  for (let rest = 0; rest < maxRests && loaded.ok; rest++) {
    const { settings, sources, digest } = loaded.configuration
    const last = await readLastSources(options, settings.gateway.dataDir)
    if (last === undefined || !textsMayBeUnfinished(last, sources)) break
    await pause(settings.hooks.reload.restMs)
    loaded = await loader.load()
    if (loaded.ok && loaded.configuration.digest === digest) break
  }
  return loaded
}

/** A start does not wait any longer for files that change constantly. */
const maxRests = 10

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
  const block = await loadGatewayBlock({ file: resolve(options.file), env: options.env })
  if (block === undefined) return undefined
  const kept = await readKeptGeneration(options, block.settings.gateway.dataDir, (archive) => {
    const rollback = archive.rollback()
    return rollback?.filesDigest === filesDigest ? rollback?.generation : undefined
  })
  return kept?.loaded.ok && !kept.isElsewhere ? kept.loaded.configuration : undefined
}
