/** Owns the way from files to what serves: the engine's reloader, fed with this host's plugins. */

import {
  CandidateError,
  type Configuration,
  compileSnapshot,
  createReloader,
  createWatcher,
  type Loaded,
  type Randomness,
  type Reloader,
} from '@reveille/engine'
import { diagnosticsOf, type PluginHost, PluginSetupError } from './plugin/index.ts'

export interface ReloadingOptions {
  /** What the first load gave: it was needed to know how to log. */
  readonly first: Configuration
  load(): Promise<Loaded>
  readonly plugins: PluginHost
  readonly randomness: Randomness
  readonly watch: boolean
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

export function createReloading(options: ReloadingOptions): Reloader {
  const { plugins, randomness, now } = options
  let unread: Configuration | undefined = options.first
  let candidate = options.first

  return createReloader({
    async load() {
      const loaded = unread ? ({ ok: true, configuration: unread } as const) : await options.load()
      unread = undefined
      return loaded
    },
    compile(configuration) {
      candidate = configuration
      return located(candidate, () =>
        compileSnapshot(configuration, plugins.catalog(configuration.settings), randomness),
      )
    },
    prepare: (snapshot) => located(candidate, () => plugins.prepare(snapshot)),
    watch: options.watch ? createWatcher : undefined,
    now,
  })
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
