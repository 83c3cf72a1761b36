/**
 * Serves a last good version in the place of mapping files and transforms that are broken at the start: each as the last live generation
 * had it. The policies of endpoints, and so tokens and verification, are always those that the files have now.
 */

import { join, relative, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  type CandidateParts,
  type Diagnostic,
  type GenerationContent,
  type Loaded,
  type Loader,
  type LoadOptions,
  loadConfiguration,
  type Reloader,
  type ReloadResult,
  realFiles,
} from '@reveille/engine'
import { isMap } from 'yaml'
import { createChangedFiles, createKeptFiles } from '../generations/index.ts'
import { contentOf, documentOf } from '../written-document.ts'
import { loadGatewayBlock } from './gateway-block.ts'
import { lastLive, readKeptGeneration } from './kept-generation.ts'

/** Replacements of the files that were broken at the start. */
export interface ServedLastGood {
  /** The generation that has the last good versions. */
  readonly generation: number
  /** The replaced mapping files and transforms, relative to the configuration's folder; the configuration itself means all files. */
  readonly files: readonly string[]
}

type TransformParts = Required<Pick<CandidateParts, 'bundle' | 'openTransforms'>>

export type LastGood = ReturnType<typeof createLastGood>

export interface LastGoodOptions extends LoadOptions {
  readonly loader: Loader
  /** True if the last generation may replace everything, the configuration included. */
  readonly whole: boolean
}

export function createLastGood({ whole, loader, ...options }: LastGoodOptions) {
  const file = resolve(options.file)
  const folder = resolve(file, '..')
  const replaced = createReplacements(file, options.presets)
  let isWhole = false
  /** True if something was replaced that the reloader has not tried yet. */
  let isFresh = false
  let isFinished = false
  /** The last live generation, which is read when the first file is broken. */
  let last: Kept | undefined

  /**
   * Replaces what these errors are about by its last good version. Resolves with false if one of them is about something else, or there
   * is no good version.
   */
  async function substitute(diagnostics: readonly Diagnostic[]): Promise<boolean> {
    last ??= await readStored({ ...options, file }, whole)
    if (isWhole || last === undefined) return false
    const isDone = await replaced.replaceBroken(diagnostics, last.content)
    if (!isDone) isWhole = whole
    isFresh ||= isDone || whole
    return isDone || whole
  }

  const isReplaced = () => replaced.texts.size > 0 || replaced.modules.size > 0 || isWhole

  return {
    substitute,
    /** Starts the reloader again for as long as there is something to replace. Resolves with the last result, or the first refusal. */
    async start(reloader: Pick<Reloader, 'start'>): Promise<ReloadResult> {
      const first = await reloader.start()
      let result = first
      // Files missing in the first load may be replaced already, because settings were needed to start.
      while (!result.ok && (isFresh || (await substitute(result.diagnostics)))) {
        isFresh = false
        result = await reloader.start()
      }
      isFinished = true
      return result.ok ? result : first
    },
    /** Loads the files; during the start with the replaced versions. */
    async load(): Promise<Loaded> {
      if (isFinished || !isReplaced()) return loader.load()
      const { sources } = last?.content ?? {}
      return loader.load(isWhole && sources ? createKeptFiles(sources) : createChangedFiles(replaced.texts))
    },
    /** Bundles and starts transforms, with the kept bundles of those that were replaced. */
    transformParts: (parts: TransformParts): TransformParts =>
      withKeptModules(parts, {
        isFinished: () => isFinished,
        bundles: () =>
          [...(last?.content.bundles ?? [])].filter(([module]) => isWhole || replaced.modules.has(module)),
        onBroken: replaced.noteBroken,
      }),
    /** The last live generation, if it could serve whole and only the option `whole` was missing. */
    generation: () => (whole || !last?.loads ? undefined : last.generation),
    /** The replaced files, or undefined. */
    served(): ServedLastGood | undefined {
      if (last === undefined || !isReplaced()) return undefined
      const shown = isWhole ? [file] : [...replaced.texts.keys()]
      return {
        generation: last.generation,
        files: [...shown.map((path) => relative(folder, path)), ...replaced.modules].sort(),
      }
    },
  }
}

/** Texts that replace broken files, and modules that are replaced. */
function createReplacements(file: string, presets: string | undefined) {
  /** By path: the text that is read in the place of the file. */
  const texts = new Map<string, string>()
  const modules = new Set<string>()
  /** The modules that failed in the last attempt. */
  let brokenModules: readonly string[] = []

  async function replacementOf(path: string, { sources }: GenerationContent): Promise<string | undefined> {
    const isPreset = presets !== undefined && path.startsWith(join(presets, '/'))
    if (path === file || isPreset || texts.has(path)) return undefined
    const today = await readText(path)
    if (today === undefined) return undefined
    const old = sources.get(path)
    // An empty file says nothing, about policies neither.
    if (today.trim() === '') return old ?? 'mappings: []\n'
    // A file that the generation does not have is replaced by none, but only if it is a mapping file.
    if (old === undefined && !/^(["']?)(mappings|tests|endpoints)\1\s*:/m.test(today)) return undefined
    return withPoliciesOf(today, old ?? 'mappings: []\n')
  }

  return {
    texts,
    modules,
    noteBroken(broken: readonly string[]): void {
      brokenModules = broken
    },
    /** Resolves with false if one of the errors is about something else, or there is no good version. */
    async replaceBroken(diagnostics: readonly Diagnostic[], content: GenerationContent): Promise<boolean> {
      const broken = brokenModules
      brokenModules = []
      if (broken.length > 0) {
        if (!broken.every((module) => !modules.has(module) && content.bundles.has(module))) return false
        for (const module of broken) modules.add(module)
        return true
      }
      const places = diagnostics
        .filter(({ severity }) => severity === 'error')
        .map(({ place }) => place?.file ?? file)
      for (const path of new Set(places)) {
        const text = await replacementOf(path, content)
        if (text === undefined) return false
        texts.set(path, text)
      }
      return places.length > 0
    },
  }
}

interface KeptModules {
  readonly isFinished: () => boolean
  /** The kept bundles of the modules that are replaced. */
  readonly bundles: () => Iterable<readonly [module: string, bundle: BundleOf]>
  readonly onBroken: (modules: readonly string[]) => void
}

type BundleOf = GenerationContent['bundles'] extends ReadonlyMap<string, infer Bundle> ? Bundle : never

function withKeptModules(
  parts: TransformParts,
  { isFinished, bundles, onBroken }: KeptModules,
): TransformParts {
  return {
    async bundle(wanted, configuration) {
      const kept = new Map(bundles())
      const others = wanted.filter(({ module }) => isFinished() || !kept.has(module))
      const bundled = await parts.bundle(others, configuration)
      if (isFinished()) return bundled
      if (bundled.ok) return { ...bundled, bundles: new Map([...bundled.bundles, ...kept]) }
      const broken: string[] = []
      for (const each of others) {
        const { ok } = await parts.bundle([each], configuration)
        if (!ok) broken.push(each.module)
      }
      onBroken(broken)
      return bundled
    },
    openTransforms(opened, secrets) {
      const transforms = parts.openTransforms(opened, secrets)
      return {
        ...transforms,
        async start() {
          const failures = await transforms.start()
          if (!isFinished()) onBroken([...new Set(failures.map(({ module }) => module))])
          return failures
        },
      }
    },
  }
}

interface Kept {
  readonly generation: number
  readonly content: GenerationContent
  /** True if it could serve whole, with the current variables and on this data folder. */
  readonly loads: boolean
}

/** Returns undefined if nothing was ever live, or the archive is damaged. `whole` is as for `--last-good`. */
async function readStored(options: LoadOptions, whole: boolean): Promise<Kept | undefined> {
  const settings = (await loadGatewayBlock(options))?.settings ?? (await defaultSettings(options))
  if (settings === undefined) return undefined
  const kept = await readKeptGeneration(options, settings.gateway.dataDir, lastLive)
  if (kept === undefined || (whole && kept.isElsewhere)) return undefined
  return { ...kept, loads: kept.loaded.ok && !kept.isElsewhere }
}

async function defaultSettings({ file, env }: LoadOptions) {
  const loaded = await loadConfiguration({ file, env, files: createKeptFiles(new Map([[file, '{}\n']])) })
  return loaded.ok ? loaded.configuration.settings : undefined
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await realFiles.readFile(path))
  } catch {
    return undefined
  }
}

/** Returns `old` with the `endpoints:` of `today`, or undefined if those cannot be read and nothing may replace the file. */
export function withPoliciesOf(today: string, old: string): string | undefined {
  const policies = policiesIn(today)
  if (policies === undefined) return undefined
  const document = documentOf(old)
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined
  const { endpoints } = contentOf(document) as { endpoints?: unknown }
  if (isDeepStrictEqual(endpoints ?? undefined, policies.endpoints)) return old
  if (policies.endpoints === undefined) document.delete('endpoints')
  else document.set('endpoints', document.createNode(policies.endpoints))
  return document.toString()
}

/** Returns undefined if the text is ambiguous. Its mistake may be elsewhere in it. */
function policiesIn(text: string): { readonly endpoints: unknown } | undefined {
  if (!text.includes('endpoints')) return { endpoints: undefined }
  const whole = parsed(text)
  if (whole) return whole
  const lines = text.split(/\r?\n/)
  const first = lines.find((line) => /^\s*[^\s#]/.test(line) && !/^(---|%)/.test(line)) ?? ''
  const starts = lines.flatMap((line, index) => (/^(["']?)endpoints\1\s*:/.test(line) ? [index] : []))
  // Only in block style do keys begin a line.
  if (/^[\s[{]/.test(first) || starts.length > 1) return undefined
  const [start] = starts
  if (start === undefined) return { endpoints: undefined }
  const length = lines.slice(start + 1).findIndex((line) => /^[^\s#]/.test(line))
  return parsed(lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n'))
}

function parsed(text: string): { readonly endpoints: unknown } | undefined {
  try {
    const document = documentOf(text)
    if (document.errors.length > 0 || !isMap(document.contents)) return undefined
    const { endpoints } = contentOf(document) as { endpoints?: unknown }
    return { endpoints: endpoints ?? undefined }
  } catch {
    return undefined
  }
}
