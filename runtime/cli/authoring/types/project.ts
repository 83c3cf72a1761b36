/** Owns what the compiler is asked to check, and how strictly: as the folder's tsconfig.json says, else as ours does. */

import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../package-folder.ts'
import type { Compiler } from './compiler.ts'
import { isNamed, isTypeScript } from './sources.ts'

export interface ProjectParts {
  /** Links resolved. */
  readonly folder: string
  /** As `listSources` lists them. */
  readonly sources: readonly string[]
  /** Modules as mappings name them. */
  readonly named: ReadonlySet<string>
  readonly compiler: Compiler
}

/** The content of a tsconfig.json, which may lie anywhere. */
export async function projectFor(parts: ProjectParts): Promise<object> {
  const file = path.join(parts.folder, 'tsconfig.json')
  return existsSync(file) ? ownProject(file, parts) : usualProject(parts)
}

const always = { noEmit: true, composite: false, incremental: false }

/** All files that the author's names, and all modules that mappings name, whether or not it leaves them out. */
async function ownProject(file: string, { folder, sources, named, compiler }: ProjectParts): Promise<object> {
  const { compilerOptions = {}, files = [] } = await shownConfig(file, compiler)
  const { paths, typeRoots, allowJs, checkJs } = compilerOptions
  const wanted = sources.filter(
    (source) => isNamed(source, named) && (isTypeScript(source) || allowJs === true || checkJs === true),
  )
  const all = [...files, ...wanted].map((name) => path.resolve(folder, name))
  const absolute = (names: readonly string[]) => names.map((name) => path.resolve(folder, name))
  const ownPaths = Object.entries(paths ?? {}).map(([name, targets]) => [name, absolute(targets)])
  return {
    extends: file,
    compilerOptions: {
      ...always,
      ...pathOptions(folder, Object.fromEntries(ownPaths)),
      typeRoots: typeRoots === undefined ? typeFolders(folder) : absolute(typeRoots),
    },
    // None at all would be an error, and is none of the author's.
    files: all.length > 0 ? [...new Set(all)] : sources.map((name) => path.join(folder, name)),
    include: [],
  }
}

/** Those with which `reveille init transform` begins. */
async function usualProject({ folder, sources }: ProjectParts): Promise<object> {
  const typeRoots = typeFolders(folder)
  return {
    extends: packageFile('scaffold', 'transform', 'tsconfig.json'),
    compilerOptions: { ...always, ...pathOptions(folder), typeRoots, types: await namesIn(typeRoots) },
    files: sources.map((name) => path.join(folder, name)),
    include: [],
  }
}

interface ShownConfig {
  readonly compilerOptions?: {
    readonly paths?: Readonly<Record<string, readonly string[]>>
    readonly typeRoots?: readonly string[]
    readonly allowJs?: boolean
    readonly checkJs?: boolean
  }
  /** Relative to the file. */
  readonly files?: readonly string[]
}

/** What comes of a tsconfig.json and all that it extends. What is wrong with it is said when it is used. */
async function shownConfig(file: string, compiler: Compiler): Promise<ShownConfig> {
  try {
    return JSON.parse(await compiler.run(['-p', file, '--showConfig'], path.dirname(file)))
  } catch {
    return {}
  }
}

/** The authors' types are found in any folder, as they are when it is bundled. */
function pathOptions(folder: string, own: Readonly<Record<string, unknown>> = {}): object {
  const name = '@reveille/engine/transform'
  const isInstalled = foldersFrom(folder).some((each) =>
    existsSync(path.join(each, 'node_modules', '@reveille', 'engine', 'package.json')),
  )
  const paths = isInstalled ? own : { [name]: [fileURLToPath(import.meta.resolve(name))], ...own }
  return Object.keys(paths).length > 0 ? { paths } : {}
}

/** Every `node_modules/@types` above the folder, and that of this program. */
function typeFolders(folder: string): readonly string[] {
  const found = foldersFrom(folder).map((each) => path.join(each, 'node_modules', '@types'))
  try {
    found.push(path.dirname(path.dirname(createRequire(import.meta.url).resolve('@types/node/package.json'))))
  } catch {
    // Published, this program has none.
  }
  return [...new Set(found)].filter((each) => existsSync(each))
}

async function namesIn(folders: readonly string[]): Promise<readonly string[]> {
  const names = await Promise.all(folders.map((each) => readdir(each)))
  return [...new Set(names.flat())].filter((name) => !name.startsWith('.'))
}

function foldersFrom(folder: string): readonly string[] {
  const above = path.dirname(folder)
  return above === folder ? [folder] : [folder, ...foldersFrom(above)]
}
