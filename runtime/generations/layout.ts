/** Owns what the folder of generations looks like, and how files in it are named. */

import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

export interface Layout {
  /** Absolute. */
  readonly folder: string
  readonly indexFile: string
  readonly refusedFolder: string
  refusedFile(number: number): string
  generationFolder(generation: number): string
  recordFile(generation: number): string
  /** Where the copy of a source file lies, from the folder of its generation. */
  copyName(path: string): string
  /** How a path is written down, so that everything may be moved: below its base relative to that, with `/`. */
  toWritten(path: string, base: Base): string
  fromWritten(written: string, base: Base): string
}

/** The folder of the configuration file, or the data folder. */
type Base = 'configuration' | 'data'

/** `folder` is the one in the data folder that generations are kept in; both paths are absolute. */
export function createLayout(folder: string, configFile: string): Layout {
  const bases = { configuration: dirname(configFile), data: dirname(folder) }
  const refusedFolder = join(folder, 'rejected')
  const generationFolder = (generation: number) => join(folder, String(generation))
  return {
    folder,
    indexFile: join(folder, 'index.json'),
    refusedFolder,
    refusedFile: (number) => join(refusedFolder, `${number}.json`),
    generationFolder,
    recordFile: (generation) => join(generationFolder(generation), recordName),
    copyName: (path) => copyName(path, bases.configuration),
    toWritten: (path, base) => nameBelow(bases[base], path)?.split(sep).join('/') ?? path,
    fromWritten: (written, base) => resolve(bases[base], written),
  }
}

export const recordName = 'record.json'

/** Begins the name of what is not finished or is being removed: whoever finds one after a crash removes it. */
export const unfinished = '.'

/** Files of the operator stand under their own names, all others (those of presets) under their whole paths. */
function copyName(path: string, configurationFolder: string): string {
  const inside = nameBelow(configurationFolder, path)
  // The drive of a Windows path becomes a folder; the separator in front of other paths vanishes in the join.
  return inside === undefined ? join('elsewhere', path.replaceAll(':', '')) : join('configuration', inside)
}

function nameBelow(folder: string, path: string): string | undefined {
  const name = relative(folder, path)
  return name === '..' || name.startsWith(`..${sep}`) || isAbsolute(name) ? undefined : name
}
