/**
 * Reads the sources of one build for esbuild: gives files that read their own path that path, and leaves packages that
 * cannot be bundled outside, where the bundle loads them by their absolute paths.
 */

import { readFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import type * as Esbuild from 'esbuild'
import { authorsTypesName, findAuthorsTypes } from './authors-types.ts'
import {
  externalModule,
  isModule,
  isScript,
  mayAskItsPlace,
  needsItsPlace,
  placeOptions,
} from './own-place.ts'
import { isPackaged, nearestPackage, packageFolderOf } from './resolution.ts'

export interface SourceOptions {
  /** Whether nothing is rewritten. Such a bundle does not know its path, but the places in its messages are right. */
  readonly asWritten: boolean
  /** The folders of the packages that stay outside, or `all`. */
  readonly outside: ReadonlySet<string> | 'all'
}

export interface SourcePlugin {
  readonly plugin: Esbuild.Plugin
  /** Every file that was read. */
  readonly files: ReadonlySet<string>
  /** The files of these that stay outside of the bundle. */
  readonly outside: ReadonlySet<string>
  /** The folders of packages that cannot be bundled. */
  readonly unsafe: ReadonlySet<string>
  /** Whether esbuild got another text than that of the file. */
  isRewritten(file: string | undefined): boolean
}

const outsidePrefix = 'reveille-outside:'
/** Marks a resolution that this plugin asks for itself. */
const own = Symbol('own')

export function createSourcePlugin({ asWritten, outside: chosen }: SourceOptions): SourcePlugin {
  const files = new Set<string>()
  const outside = new Set<string>()
  const unsafe = new Set<string>()
  const rewritten = new Set<string>()

  function isChosen(file: string): boolean {
    return isPackaged(file) && (chosen === 'all' || chosen.has(packageFolderOf(file)))
  }

  async function giveItsPlace(
    file: string,
    content: Buffer,
    esbuild: Esbuild.PluginBuild['esbuild'],
  ): Promise<Esbuild.OnLoadResult | undefined> {
    if (asWritten) return undefined
    try {
      const { outputFiles } = await esbuild.build(placeOptions(file, content.toString()))
      rewritten.add(file)
      return { contents: outputFiles[0]?.contents ?? content, loader: 'js' }
    } catch {
      // The build that bundles the file reports its mistakes, at the right place.
      return undefined
    }
  }

  /** CommonJS is required, so that every name can be imported of it, as from a bundled file. */
  function leaveOutside(file: string): Esbuild.OnLoadResult {
    outside.add(file)
    return { contents: externalModule(outsidePrefix + file), loader: 'js' }
  }

  /** An ES module of a package that stays outside is imported by its URL. */
  async function leaveModuleOutside(
    file: string,
    kind: Esbuild.ImportKind,
  ): Promise<Esbuild.OnResolveResult | undefined> {
    const isImported = kind === 'import-statement' || kind === 'dynamic-import'
    if (!isScript(file) || !(await isModuleFile(file))) return undefined
    files.add(file)
    outside.add(file)
    return { path: isImported ? pathToFileURL(file).href : file, external: true }
  }

  return {
    plugin: {
      name: 'reveille',
      setup(build) {
        build.onResolve({ filter: new RegExp(`^${authorsTypesName}$`) }, () => ({ path: findAuthorsTypes() }))
        build.onResolve({ filter: new RegExp(`^${outsidePrefix}`) }, ({ path: address }) => ({
          path: address.slice(outsidePrefix.length),
          external: true,
        }))
        if (chosen === 'all' || chosen.size > 0) {
          build.onResolve({ filter: /.*/ }, async ({ path: asked, pluginData, ...rest }) => {
            if (pluginData === own || rest.kind === 'entry-point') return undefined
            const found = await build.resolve(asked, { ...rest, pluginData: own })
            if (found.errors.length > 0 || found.external || !isChosen(found.path)) return undefined
            return leaveModuleOutside(found.path, rest.kind)
          })
        }
        build.onLoad({ filter: /.*/, namespace: 'file' }, async ({ path: file }) => {
          files.add(file)
          if (file.endsWith('.node')) return leaveOutside(file)
          if (isScript(file) && isChosen(file)) return leaveOutside(file)
          const content = await readFile(file)
          if (isScript(file) && isPackaged(file) && (await needsItsPlace(file, content.toString())))
            unsafe.add(packageFolderOf(file))
          return mayAskItsPlace(file, content) ? giveItsPlace(file, content, build.esbuild) : undefined
        })
      },
    },
    files,
    outside,
    unsafe,
    isRewritten: (file) => file !== undefined && rewritten.has(file),
  }
}

async function isModuleFile(file: string): Promise<boolean> {
  return isModule(file, await readFile(file, 'utf8'), (await nearestPackage(file)).type)
}
