/** Owns which package.json and tsconfig.json files govern a file: those above it that had a say, and those that could. */

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { askedOnce } from './asked-once.ts'
import { hashText, isAbsent } from './file-hash.ts'
import { foldersFrom } from './places.ts'
import { readTsconfig, type Tsconfig } from './tsconfig.ts'

export interface PackageFile {
  readonly file: string
  readonly hash: string
  readonly version?: string
  readonly type?: string
}

export interface GoverningFiles {
  /** The nearest package.json above a file. */
  packageFor(file: string): Promise<PackageFile | undefined>
  /** The nearest tsconfig.json above a file that is no package's. */
  tsconfigFor(file: string): Promise<Tsconfig | undefined>
  /** SHA-256 by path of all that were found so far; null where one could be and is not. */
  seen(): ReadonlyMap<string, string | null>
}

export function isPackaged(file: string): boolean {
  return file.includes(`${path.sep}node_modules${path.sep}`)
}

/** Reads each file once. */
export function createGoverningFiles(): GoverningFiles {
  const seen = new Map<string, string | null>()
  const packages = new Map<string, Promise<PackageFile | undefined>>()
  const tsconfigs = new Map<string, Promise<Tsconfig | undefined>>()

  const packageIn = askedOnce(packages, async (folder) => {
    const file = path.join(folder, 'package.json')
    const text = await read(file)
    seen.set(file, text === undefined ? null : hashText(text))
    return text === undefined ? undefined : { file, hash: hashText(text), ...facts(text) }
  })

  const tsconfigIn = askedOnce(tsconfigs, async (folder) => {
    for (const name of ['tsconfig.json', 'jsconfig.json']) {
      const tsconfig = await readTsconfig(path.join(folder, name))
      for (const [file, hash] of tsconfig.files) seen.set(file, hash)
      if ([...tsconfig.files.values()][0] !== null) return tsconfig
    }
    return undefined
  })

  return {
    packageFor: (file) => first(file, packageIn),
    tsconfigFor: async (file) => (isPackaged(file) ? undefined : first(file, tsconfigIn)),
    seen: () => seen,
  }
}

async function first<Found>(
  file: string,
  find: (folder: string) => Promise<Found | undefined>,
): Promise<Found | undefined> {
  for (const folder of foldersFrom(path.dirname(file))) {
    const found = await find(folder)
    if (found !== undefined) return found
    // No package's file is governed from outside of its package.
    if (path.basename(path.dirname(folder)) === 'node_modules') return undefined
  }
  return undefined
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

function facts(text: string): Pick<PackageFile, 'version' | 'type'> {
  try {
    const { version, type } = JSON.parse(text)
    return {
      ...(typeof version === 'string' && { version }),
      ...(typeof type === 'string' && { type }),
    }
  } catch {
    return {}
  }
}
