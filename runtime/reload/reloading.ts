/** Creates the engine's reloader with the plugins, the transforms and the tests of this host. */

import {
  type CandidateSource,
  type Configuration,
  containSnapshot,
  createCompiler,
  createReloader,
  createWatcher,
  type Diagnostic,
  describeTests,
  type Evaluators,
  type GenerationArchive,
  type GenerationContent,
  type Loaded,
  type Randomness,
  type Reloader,
  type ReloaderOptions,
  runTests,
  type Snapshot,
} from '@reveille/engine'
import { trySurface } from '../http/index.ts'
import { located, type PluginHost, prepareCandidate, withPluginContent } from '../plugin/index.ts'

export interface ReloadingOptions {
  /** The result of the first load of the files, which the gateway needed before. */
  readonly first: Loaded
  /** The first configuration of the gateway: the files, or the replacement of files that do not load. */
  readonly configuration: Configuration
  /** Loads the current files, those of an earlier generation, or the current ones with other texts in place of some. */
  load(kept?: GenerationContent['sources'], changed?: ReadonlyMap<string, string>): Promise<Loaded>
  readonly archive: GenerationArchive
  readonly plugins: PluginHost
  readonly randomness: Randomness
  /** Resolve what may hold the main loop. */
  readonly evaluators: Evaluators
  readonly transforms: Required<Pick<ReloaderOptions, 'bundle' | 'openTransforms'>>
  /** Called with the secrets of each configuration that is compiled, whether it goes live or not. */
  readonly onSecrets?: (secrets: readonly string[]) => void
  readonly watch: boolean
  /** Overrides `hooks.reload.poll`. */
  readonly poll?: boolean
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

export function createReloading(options: ReloadingOptions): Reloader {
  const { plugins, randomness, archive, now } = options
  let unread: Loaded | undefined = options.first
  let candidate = options.configuration
  const compiler = createCompiler({ randomness })

  return createReloader({
    ...options.transforms,
    boot: options.configuration.settings,
    async load(kept, changed) {
      const first = kept || changed ? undefined : unread
      if (!kept) unread = undefined
      return withPluginContent(first ?? (await options.load(kept, changed)))
    },
    compile(configuration, transforms) {
      candidate = configuration
      options.onSecrets?.(configuration.secrets)
      return located(candidate, async () => {
        const catalog = plugins.catalog(configuration.settings)
        const compiled = await compiler.compile(configuration, catalog, transforms)
        if (!compiled.ok) return compiled
        const parts = { configuration, catalog, evaluators: options.evaluators, mint: randomness.mint }
        return { ...compiled, snapshot: containSnapshot(compiled, parts) }
      })
    },
    prepare: (snapshot, { isDryRun }) => prepareCandidate(plugins, candidate, snapshot, { isDryRun }),
    test: runOwnTests,
    watch: options.watch ? createWatcher : undefined,
    ...(options.poll !== undefined && { watchSettings: { poll: options.poll } }),
    archive,
    now,
  })
}

/** Runs the tests of the operator's files. Those of presets were run before they were published. */
async function runOwnTests(
  { configuration }: CandidateSource,
  snapshot: Snapshot,
  isGivenUp: () => boolean,
): Promise<Diagnostic[]> {
  const tests = configuration.tests.filter(({ origin }) => origin.kind !== 'preset')
  return describeTests(await runTests({ tests, snapshot, surface: trySurface, isGivenUp }))
}
