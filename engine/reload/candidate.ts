/**
 * Builds a candidate from the files: loads, keeps what only a restart can change, bundles, compiles, starts and tests.
 * Everything that was started for a candidate that is not finished is released before the candidate is refused.
 */

import type { Compiled } from '../compile/compile-snapshot.ts'
import type { Snapshot } from '../compile/snapshot.ts'
import type { Configuration, Loaded } from '../config/configuration.ts'
import type { Diagnostic } from '../config/file/diagnostic.ts'
import { inFileOrder } from '../config/file/diagnostics.ts'
import { keyOf } from '../config/file/kept.ts'
import type { Settings } from '../config/settings.ts'
import type {
  Bundle,
  Bundled,
  OpenedModule,
  OpenTransforms,
  Transforms,
  WantedModule,
} from '../transform/port.ts'
import { describeFailure, wantedModules } from '../transform/wanted-modules.ts'
import { type BootKey, holdBootSettings } from './boot-settings.ts'
import { type Changes, findChanges } from './changes.ts'
import type { GenerationContent } from './generation.ts'

/** Parts that the host started for a candidate. Exactly one of the two functions is called, once. */
export interface Prepared {
  /** Called after the swap. Releases what the previous snapshot used. */
  commit(): Promise<void> | void
  /** Called instead of the swap. Releases what was started for the candidate. */
  discard(): Promise<void> | void
  /** Warnings about the started parts. Absent: none. */
  readonly warnings?: readonly Diagnostic[]
}

export interface CandidateParts {
  /**
   * `kept` are the files of an earlier generation, in place of the current ones. `changed` are texts in place of some
   * of the current files, by path.
   */
  load(kept?: GenerationContent['sources'], changed?: ReadonlyMap<string, string>): Promise<Loaded>
  /** Absent: mappings with transforms do not compile. */
  bundle?(modules: readonly WantedModule[], configuration: Configuration): Promise<Bundled>
  /** `secrets` are hidden in everything that the modules print. */
  openTransforms?(modules: readonly OpenedModule[], secrets: readonly string[]): OpenTransforms
  /** The warnings include those of loading. */
  compile(configuration: Configuration, transforms: Transforms | undefined): Compiled | Promise<Compiled>
  /**
   * Starts what the snapshot needs. A throw refuses the candidate; a {@link CandidateError} gives places and reasons. In a dry run nothing
   * that it starts may be noticed outside of this process.
   */
  prepare?(snapshot: Snapshot, options: { readonly isDryRun: boolean }): Promise<Prepared> | Prepared
  /**
   * Runs the tests of the configuration. Returns their failures as errors, and warnings. Once `isGivenUp`, the
   * remaining tests are skipped.
   */
  test?(source: CandidateSource, snapshot: Snapshot, isGivenUp: () => boolean): Promise<readonly Diagnostic[]>
}

/** Thrown by a host that refuses a candidate for reasons that have places. */
export class CandidateError extends Error {
  readonly code = 'CANDIDATE_REFUSED'
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[], options?: ErrorOptions) {
    super(diagnostics[0]?.message ?? 'The candidate was refused', options)
    this.name = 'CandidateError'
    this.diagnostics = diagnostics
  }
}

/** The input of a candidate. */
export interface CandidateSource {
  readonly configuration: Configuration
  readonly bundles: ReadonlyMap<string, Bundle>
}

export interface Candidate {
  readonly source: CandidateSource
  readonly snapshot: Snapshot
  /** Functions of the transforms that its mappings call. Absent: no mapping has a transform. */
  readonly transforms: Transforms | undefined
  readonly changes: Changes
  readonly warnings: readonly Diagnostic[]
  /** The keys whose new values wait for a restart. */
  readonly heldKeys: readonly BootKey[]
  /** Called after the swap. */
  commit(): Promise<void>
  /** Called instead of the swap. */
  discard(): Promise<void>
  /** Called once another snapshot is live. Transforms end with their last call. */
  retire(): void
}

export type Built =
  | { readonly outcome: 'ready'; readonly candidate: Candidate; readonly digest: string }
  | { readonly outcome: 'unchanged'; readonly digest: string; readonly warnings: readonly Diagnostic[] }
  | { readonly outcome: 'rejected'; readonly diagnostics: readonly Diagnostic[]; readonly digest?: string }
  | { readonly outcome: 'superseded' }
  /** It may be half saved, so it is built again once it has stayed unchanged for a while. */
  | { readonly outcome: 'resting'; readonly digest: string }

export interface BuildContext {
  /** The live snapshot. Absent: this is the first load. */
  readonly live?: CandidateSource & { readonly snapshot: Snapshot }
  /** The settings that the process was started with, if nothing is live yet. */
  readonly boot?: Settings
  /** Stored content to build again, instead of the files. */
  readonly kept?: GenerationContent
  /** Texts in place of some of the files, by path. Of a dry run alone. */
  readonly changed?: ReadonlyMap<string, string>
  /** True if it is a dry run. */
  readonly isDryRun?: boolean
  /** True if the host starts nothing but transforms, because only requests are tried. */
  readonly isForRequests?: boolean
  /** True if content with this digest is skipped, because another generation is live in its place. */
  isPassed?(digest: string): boolean
  /** True if content with this digest has to stay unchanged for longer before it is believed. */
  mustRest?(source: CandidateSource, digest: string): Promise<boolean>
  /** True if a later change makes this candidate not worth finishing. */
  isSuperseded(): boolean
  /** Returns why the tests are cut short. A candidate whose tests are not finished is refused for that reason. */
  overruled?(): Diagnostic | undefined
  /** Called once for a reload that is not given up, also if it failed. */
  onWatched(paths: readonly string[]): void
}

/** Never rejects, because every failure is a rejected candidate. */
export function buildCandidate(parts: CandidateParts, context: BuildContext): Promise<Built> {
  return new CandidateBuild(parts, context).run()
}

class CandidateBuild {
  readonly #parts: CandidateParts
  readonly #context: BuildContext
  #digest: string | undefined
  /** Set once tests were cut short. */
  #overruled: Diagnostic | undefined
  /** What was begun, and is released in reverse order. */
  readonly #begun = new AsyncDisposableStack()

  constructor(parts: CandidateParts, context: BuildContext) {
    this.#parts = parts
    this.#context = context
  }

  async run(): Promise<Built> {
    try {
      const built = await this.#build()
      if (built.outcome !== 'ready') await this.#begun.disposeAsync()
      return built
    } catch (error) {
      await this.#begun.disposeAsync()
      return this.#rejected(diagnosticsOf(error))
    }
  }

  async #build(): Promise<Built> {
    const { live, kept, changed } = this.#context
    const loaded = await this.#parts.load(kept?.sources, changed)
    const watched = loaded.ok ? loaded.configuration.watched : loaded.watched
    this.#digest = loaded.ok ? loaded.configuration.digest : loaded.digest
    if (this.#context.isSuperseded()) return { outcome: 'superseded' }
    if (!loaded.ok) {
      this.#reportWatched(watched)
      return this.#rejected(await this.#withFaultsOfRest(loaded))
    }
    const held = holdBootSettings(loaded.configuration, live?.snapshot.settings ?? this.#context.boot)
    const modules = wantedModules(held.configuration)
    const bundled = await this.#bundle(modules, held.configuration)
    this.#reportWatched([...watched, ...bundled.watched])
    if (this.#context.isSuperseded()) return { outcome: 'superseded' }
    if (!bundled.ok) {
      // The diagnostics stand for a transform without a digest.
      this.#digest = keyOf(held.configuration.digest, bundled.diagnostics)
      return this.#rejected(bundled.diagnostics)
    }
    const { bundles } = bundled
    const digest = digestOf(held.configuration.digest, bundles)
    this.#digest = digest
    const warnings = [...held.configuration.warnings, ...(bundled.warnings ?? [])]
    const sharedDigest = digestOf(held.configuration.sharedDigest, bundles)
    const configuration = Object.freeze({ ...held.configuration, digest, sharedDigest, warnings })
    if (digest === live?.snapshot.digest || this.#context.isPassed?.(digest)) {
      return { outcome: 'unchanged', digest, warnings: configuration.warnings }
    }
    const source = { configuration, bundles }
    if (await this.#context.mustRest?.(source, digest)) return { outcome: 'resting', digest }
    return this.#compile(source, modules, held.heldKeys)
  }

  async #compile(
    source: CandidateSource,
    modules: readonly WantedModule[],
    heldKeys: Candidate['heldKeys'],
  ): Promise<Built> {
    const { configuration, bundles } = source
    const transforms = this.#open(modules, bundles, configuration.secrets)
    // Starting runs beside compiling, because other threads do the work.
    const starting = transforms?.start()
    starting?.catch(() => {})
    const compiled = await this.#parts.compile(configuration, transforms)
    if (this.#context.isSuperseded()) return { outcome: 'superseded' }
    if (!compiled.ok) return this.#rejected(compiled.diagnostics)
    const { snapshot } = compiled
    const failures = (await starting) ?? []
    if (failures.length > 0) return this.#rejected(failures.map(describeFailure))
    const found = (await this.#parts.test?.(source, snapshot, () => this.#isGivenUp())) ?? []
    const failed = found.filter(({ severity }) => severity === 'error')
    if (this.#context.isSuperseded()) return { outcome: 'superseded' }
    if (this.#overruled !== undefined) return this.#rejected([this.#overruled])
    if (failed.length > 0 && this.#mustPass(configuration))
      return this.#rejected([...found, ...compiled.warnings])
    const isDryRun = this.#context.isDryRun ?? false
    const prepared = this.#context.isForRequests
      ? undefined
      : await this.#parts.prepare?.(snapshot, { isDryRun })
    if (prepared) this.#begun.defer(() => prepared.discard())

    const candidate: Candidate = {
      source,
      snapshot,
      transforms,
      changes: findChanges(this.#context.live, source, heldKeys),
      warnings: [...found.map(asWarning), ...compiled.warnings, ...(prepared?.warnings ?? [])],
      heldKeys,
      commit: async () => prepared?.commit(),
      discard: () => this.#begun.disposeAsync(),
      retire: () => transforms?.release(),
    }
    return { outcome: 'ready', candidate, digest: snapshot.digest }
  }

  #isGivenUp(): boolean {
    this.#overruled ??= this.#context.overruled?.()
    return this.#overruled !== undefined || this.#context.isSuperseded()
  }

  /** A kept generation has its own bundles. */
  async #bundle(modules: readonly WantedModule[], configuration: Configuration): Promise<Bundled> {
    if (this.#context.kept) return { ok: true, bundles: this.#context.kept.bundles, watched: [] }
    const bundled = modules.length === 0 ? undefined : await this.#parts.bundle?.(modules, configuration)
    return bundled ?? { ok: true, bundles: new Map(), watched: [] }
  }

  #open(
    modules: readonly WantedModule[],
    bundles: ReadonlyMap<string, Bundle>,
    secrets: readonly string[],
  ): OpenTransforms | undefined {
    const opened = modules.flatMap((wanted): OpenedModule[] => {
      const bundle = bundles.get(wanted.module)
      return bundle === undefined ? [] : [{ ...wanted, bundle }]
    })
    const transforms = opened.length === 0 ? undefined : this.#parts.openTransforms?.(opened, secrets)
    if (transforms) this.#begun.defer(() => transforms.release())
    return transforms
  }

  /** At the first load there is no earlier snapshot, so failing tests are only reported. */
  #mustPass({ settings }: Configuration): boolean {
    return (
      this.#context.live !== undefined &&
      this.#context.kept === undefined &&
      settings.hooks.reload.requireTests
    )
  }

  /** Files that are not on the disk cannot be watched. */
  #reportWatched(paths: readonly string[]): void {
    if (!this.#context.kept && !this.#context.changed) this.#context.onWatched(paths)
  }

  /** Reports errors of compiling together with those of loading, so that an author fixes them at once. */
  async #withFaultsOfRest({
    diagnostics,
    rest,
  }: Extract<Loaded, { ok: false }>): Promise<readonly Diagnostic[]> {
    if (rest === undefined) return diagnostics
    // Mistakes that plugins find are reported once the others are fixed.
    const compiling = Promise.resolve().then(() => this.#parts.compile(rest, undefined))
    const compiled = await compiling.catch(() => undefined)
    const more = compiled === undefined || compiled.ok ? [] : compiled.diagnostics
    const errors = [...diagnostics, ...more].filter(({ severity }) => severity === 'error')
    return [...inFileOrder(errors), ...diagnostics.filter(({ severity }) => severity !== 'error')]
  }

  #rejected(diagnostics: readonly Diagnostic[]): Built {
    return { outcome: 'rejected', diagnostics, ...(this.#digest && { digest: this.#digest }) }
  }
}
/** Returns the configuration's own digest if there are no transforms. */
function digestOf(configuration: string, bundles: ReadonlyMap<string, Bundle>): string {
  if (bundles.size === 0) return configuration
  const entries = [...bundles].map(([module, { digest }]) => [module, digest])
  return keyOf(configuration, entries.sort())
}

function asWarning(diagnostic: Diagnostic): Diagnostic {
  return { ...diagnostic, severity: 'warning' }
}

function diagnosticsOf(error: unknown): readonly Diagnostic[] {
  if (error instanceof CandidateError && error.diagnostics.length > 0) return error.diagnostics
  const message = error instanceof Error ? error.message : 'The candidate could not be built'
  return [{ severity: 'error', code: 'CANDIDATE_REFUSED', message }]
}
