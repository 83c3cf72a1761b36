/**
 * What a start serves in the place of mapping files and transforms that cannot serve: each as the generation had it that
 * was live last. Policies of endpoints, and so tokens and verification, are always those that the files have today.
 */

import { join, relative, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  type CandidateParts,
  type Diagnostic,
  type Files,
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
import { createKeptFiles, openGenerationArchive } from '../generations/index.ts'
import { contentOf, documentOf } from '../written-document.ts'
import { loadGatewayBlock } from './gateway-block.ts'

/** How a start got by without files that are broken. */
export interface ServedLastGood {
  /** The generation that they are taken from. */
  readonly generation: number
  /** Mapping files and transforms, relative to the configuration's folder; the configuration itself stands for all files. */
  readonly files: readonly string[]
}

type TransformParts = Required<Pick<CandidateParts, 'bundle' | 'openTransforms'>>

export interface LastGood {
  /**
   * Puts the last good version in the place of what these errors are about. False: one of them is about something else, or
   * there is no version that serves.
   */
  substitute(diagnostics: readonly Diagnostic[]): Promise<boolean>
  /** The files as they are; during the start without those that were replaced. */
  load(): Promise<Loaded>
  /** Starts the reloader, as often as there is something to replace. The answer is the last one, or the first refusal. */
  start(reloader: Pick<Reloader, 'start'>): Promise<ReloadResult>
  /** Bundles and starts transforms, with kept bundles for those that were replaced. */
  transformParts(parts: TransformParts): TransformParts
  /** The one that was live last and loads today, once something was to be replaced and the configuration itself was not. */
  generation(): number | undefined
  /** Undefined: nothing was replaced. */
  served(): ServedLastGood | undefined
}

export interface LastGoodOptions extends LoadOptions {
  readonly loader: Loader
  /** Whether the configuration itself may be that of the last generation, and with it everything else. */
  readonly whole: boolean
}

export function createLastGood({ whole, loader, ...options }: LastGoodOptions): LastGood {
  const file = resolve(options.file)
  const folder = resolve(file, '..')
  /** By path: what is read in the place of the file. */
  const texts = new Map<string, string>()
  const modules = new Set<string>()
  /** Those of the last attempt. */
  let brokenModules: readonly string[] = []
  let isWhole = false
  /** Something was replaced, and the reloader has not tried it. */
  let isFresh = false
  let isFinished = false
  /** What was live last. Read when the first file is broken. */
  let last: Kept | undefined

  async function substitute(diagnostics: readonly Diagnostic[]): Promise<boolean> {
    last ??= await readStored(file, options, whole)
    if (isWhole || last === undefined) return false
    const done = (await replaceBroken(diagnostics, last.content)) || replaceAll()
    isFresh ||= done
    return done
  }

  function replaceAll(): boolean {
    isWhole = whole
    return whole
  }

  async function replaceBroken(
    diagnostics: readonly Diagnostic[],
    content: GenerationContent,
  ): Promise<boolean> {
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
  }

  async function replacementOf(path: string, { sources }: GenerationContent): Promise<string | undefined> {
    const isPreset = options.presets !== undefined && path.startsWith(join(options.presets, '/'))
    if (path === file || isPreset || texts.has(path)) return undefined
    const today = await readText(path)
    if (today === undefined) return undefined
    const old = sources.get(path)
    // A file that came since serves nothing yet; another kind of file has no place to be left out of.
    if (old === undefined && !/^(["']?)(mappings|tests|endpoints)\1\s*:/m.test(today)) return undefined
    return withPoliciesOf(today, old ?? 'mappings: []\n')
  }

  const isReplaced = () => texts.size > 0 || modules.size > 0 || isWhole

  const files: Files = {
    async readFile(path) {
      const text = texts.get(path)
      return text === undefined ? realFiles.readFile(path) : Buffer.from(text)
    },
    readdir: (path) => realFiles.readdir(path),
    async stat(path) {
      const text = texts.get(path)
      if (text === undefined) return realFiles.stat(path)
      return { isFile: () => true, isDirectory: () => false, size: Buffer.byteLength(text) }
    },
  }

  return {
    substitute,
    async start(reloader) {
      const first = await reloader.start()
      let result = first
      // What the first load lacked was replaced before, so that there are settings to start with.
      while (!result.ok && (isFresh || (await substitute(result.diagnostics)))) {
        isFresh = false
        result = await reloader.start()
      }
      isFinished = true
      return result.ok ? result : first
    },
    async load() {
      if (isFinished || !isReplaced()) return loader.load()
      const kept = isWhole && last ? createKeptFiles(last.content.sources) : files
      return loader.load(kept)
    },
    transformParts: (parts) => ({
      async bundle(wanted, configuration) {
        const bundles = new Map(
          [...(last?.content.bundles ?? [])].filter(([module]) => isWhole || modules.has(module)),
        )
        const others = wanted.filter(({ module }) => isFinished || !bundles.has(module))
        const bundled = await parts.bundle(others, configuration)
        if (isFinished) return bundled
        if (bundled.ok) return { ...bundled, bundles: new Map([...bundled.bundles, ...bundles]) }
        const broken: string[] = []
        for (const each of others) {
          const { ok } = await parts.bundle([each], configuration)
          if (!ok) broken.push(each.module)
        }
        brokenModules = broken
        return bundled
      },
      openTransforms(opened, secrets) {
        const transforms = parts.openTransforms(opened, secrets)
        return {
          ...transforms,
          async start() {
            const failures = await transforms.start()
            if (!isFinished) brokenModules = [...new Set(failures.map(({ module }) => module))]
            return failures
          },
        }
      },
    }),
    generation: () => (whole || !last?.loads ? undefined : last.generation),
    served() {
      if (last === undefined || !isReplaced()) return undefined
      const shown = isWhole ? [file] : [...texts.keys()]
      return {
        generation: last.generation,
        files: [...shown.map((path) => relative(folder, path)), ...modules].sort(),
      }
    },
  }
}

interface Kept {
  readonly generation: number
  readonly content: GenerationContent
  /** Whether it could serve whole: with the variables of today, and on this data folder. */
  readonly loads: boolean
}

/** Undefined where nothing was ever live, or not all of it is there as it was written. `whole`: as for `--last-good`. */
async function readStored(
  configFile: string,
  { env, presets }: LoadOptions,
  whole: boolean,
): Promise<Kept | undefined> {
  const settings =
    (await loadGatewayBlock({ file: configFile, env }))?.settings ?? (await defaultSettings(configFile, env))
  if (settings === undefined) return undefined
  const { dataDir } = settings.gateway
  const archive = await openGenerationArchive({
    folder: join(dataDir, 'generations'),
    configFile,
    onDamaged() {},
    onFailed() {},
  })
  const generation = archive.list().find((record) => record.generation !== undefined)?.generation
  const content = generation === undefined ? undefined : await archive.read(generation)
  if (generation === undefined || content === undefined) return undefined
  // The archive of another data folder knows nothing of this one's numbers.
  const loaded = await loadConfiguration({
    file: configFile,
    env,
    ...(presets !== undefined && { presets }),
    files: createKeptFiles(content.sources),
  })
  const isElsewhere = loaded.ok && loaded.configuration.settings.gateway.dataDir !== dataDir
  return whole && isElsewhere ? undefined : { generation, content, loads: loaded.ok && !isElsewhere }
}

async function defaultSettings(file: string, env: LoadOptions['env']) {
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

/** `old` with the `endpoints:` of `today`. Undefined where those cannot be read: then nothing may stand in for the file. */
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

/** Undefined where the text does not say for certain; what is wrong may stand elsewhere in it. */
function policiesIn(text: string): { readonly endpoints: unknown } | undefined {
  if (!text.includes('endpoints')) return { endpoints: undefined }
  const whole = parsed(text)
  if (whole) return whole
  const lines = text.split(/\r?\n/)
  const first = lines.find((line) => /^\s*[^\s#]/.test(line) && !/^(---|%)/.test(line)) ?? ''
  const starts = lines.flatMap((line, index) => (/^(["']?)endpoints\1\s*:/.test(line) ? [index] : []))
  // Keys begin with the line in block style alone.
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
