/** Names the files in the folder of generations. */

import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

export type Layout = ReturnType<typeof createLayout>

/** The folder of the configuration file, or the data folder. */
type Base = 'configuration' | 'data'

/** `folder`: the folder of generations in the data folder. Both paths are absolute. */
export function createLayout(folder: string, configFile: string) {
  const bases = { configuration: dirname(configFile), data: dirname(folder) }
  const refusedFolder = join(folder, 'rejected')
  const generationFolder = (generation: number) => join(folder, String(generation))
  return {
    /** Absolute. */
    folder,
    indexFile: join(folder, 'index.json'),
    refusedFolder,
    refusedFile: (number: number): string => join(refusedFolder, `${number}.json`),
    generationFolder,
    recordFile: (generation: number): string => join(generationFolder(generation), recordName),
    /** The path of a source file's copy, relative to the folder of its generation. */
    copyName: (path: string): string => copyName(path, bases.configuration),
    /** A path for a record: relative to its base and with `/` where it is below that, so that the folder may be moved. */
    toWritten: (path: string, base: Base): string =>
      nameBelow(bases[base], path)?.split(sep).join('/') ?? path,
    fromWritten: (written: string, base: Base): string => resolve(bases[base], written),
  }
}

export const recordName = 'record.json'

/** Begins the names of files and folders that are unfinished or being removed; after a crash they are removed. */
export const unfinished = '.'

/** Files of the operator keep their names; all others (those of presets) are named by their whole paths. */
function copyName(path: string, configurationFolder: string): string {
  const inside = nameBelow(configurationFolder, path)
  // The drive of a Windows path becomes a folder; the separator in front of other paths vanishes in the join.
  return inside === undefined ? join('elsewhere', path.replaceAll(':', '')) : join('configuration', inside)
}

function nameBelow(folder: string, path: string): string | undefined {
  const name = relative(folder, path)
  return name === '..' || name.startsWith(`..${sep}`) || isAbsolute(name) ? undefined : name
}
