/** Owns one configured source without a gateway: set up as a gateway would, for a command that runs it. */

import type { Settings } from '@reveille/engine'
import type { Logger } from 'pino'
import { configureAll } from './configuration.ts'
import { asFileUrl, createDirectory, type PluginPlaces } from './directory.ts'
import { startInstance, usualTimeouts } from './instance.ts'
import { type PluginProblem, PluginSetupError } from './setup-error.ts'
import { createSourceHandle, type LiveSource } from './source-handle.ts'
import { askedSource, locate } from './specify.ts'

export interface StartSourceOptions {
  readonly log: Logger
  readonly fetch: typeof fetch
  /** Default: this module, or the bundle that holds it. */
  readonly resolveFrom?: string | URL
}

export interface StartedSource extends LiveSource {
  /** Ends what `setup` took. Call it after the run. Never rejects. */
  close(): Promise<void>
}

/** @throws PluginSetupError for a source that is not configured, or with which a gateway would not start */
export async function startSource(
  name: string,
  settings: Pick<Settings, 'agents' | 'sources'> & PluginPlaces,
  { log, fetch, resolveFrom = import.meta.url }: StartSourceOptions,
): Promise<StartedSource> {
  const asked = askedSource(name, settings.sources[name] ?? {})
  if (!Object.hasOwn(settings.sources, name)) {
    throw refusal(name, { key: asked.key, message: 'is needed: nothing is configured there' })
  }
  const directory = createDirectory(settings, asFileUrl(resolveFrom))
  const [ready] = configureAll([locate(asked, directory, settings.agents)])
  if (ready === undefined) throw refusal(name, { key: asked.key, message: 'is needed' })
  const instance = await startInstance(...ready, {
    log,
    fetch,
    ...usualTimeouts,
    closing: new AbortController().signal,
  })
  return { ...createSourceHandle(instance), close: () => instance.close() }
}

function refusal(name: string, problem: PluginProblem): PluginSetupError {
  return new PluginSetupError('PLUGIN_CONFIG', name, [problem])
}
