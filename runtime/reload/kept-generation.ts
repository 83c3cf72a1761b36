/** Reads a generation that is kept, and loads it with the current variables. */

import { join, resolve } from 'node:path'
import { type GenerationContent, type Loaded, type LoadOptions, loadConfiguration } from '@reveille/engine'
import { createKeptFiles, type DiskArchive, openGenerationArchive } from '../generations/index.ts'

interface KeptGeneration {
  readonly generation: number
  readonly content: GenerationContent
  readonly loaded: Loaded
  /** True if it names another data folder, whose archive knows nothing of the generations of this one. */
  readonly isElsewhere: boolean
}

/** Resolves with undefined if `choose` finds no generation in the archive of the data folder, or its content is damaged. */
export async function readKeptGeneration(
  options: LoadOptions,
  dataDir: string,
  choose: (archive: DiskArchive) => number | undefined,
): Promise<KeptGeneration | undefined> {
  const archive = await openArchive(options, dataDir)
  const generation = choose(archive)
  const content = generation === undefined ? undefined : await archive.read(generation)
  if (generation === undefined || content === undefined) return undefined
  const loaded = await loadConfiguration({ ...options, files: createKeptFiles(content.sources) })
  const isElsewhere = loaded.ok && loaded.configuration.settings.gateway.dataDir !== dataDir
  return { generation, content, loaded, isElsewhere }
}

/** Returns the files of the generation that was live last, by path. */
export async function readLastSources(
  options: Pick<LoadOptions, 'file'>,
  dataDir: string,
): Promise<GenerationContent['sources'] | undefined> {
  const archive = await openArchive(options, dataDir)
  const generation = lastLive(archive)
  return generation === undefined ? undefined : (await archive.read(generation))?.sources
}

export function lastLive(archive: Pick<DiskArchive, 'list'>): number | undefined {
  return archive.list().find(({ generation }) => generation !== undefined)?.generation
}

function openArchive({ file }: Pick<LoadOptions, 'file'>, dataDir: string): Promise<DiskArchive> {
  return openGenerationArchive({
    folder: join(dataDir, 'generations'),
    configFile: resolve(file),
    onDamaged() {},
    onFailed() {},
  })
}
