/**
 * Reads the sources of one build for esbuild: gives files that read their own path that path, and leaves files that
 * cannot be bundled outside.
 */

import { readFile } from 'node:fs/promises'
import type * as Esbuild from 'esbuild'
import { authorsTypesName, findAuthorsTypes } from './authors-types.ts'
import { externalModule, mayAskItsPlace, placeOptions, staysOutside } from './own-place.ts'
import { nearestPackage } from './resolution.ts'

export interface SourcePlugin {
  readonly plugin: Esbuild.Plugin
  /** Every file that was read. */
  readonly files: ReadonlySet<string>
  /** The files of these that stay outside of the bundle. */
  readonly outside: ReadonlySet<string>
  /** Whether esbuild got another text than that of the file. */
  isRewritten(file: string | undefined): boolean
}

const outsidePrefix = 'reveille-outside:'

/**
 * With `asWritten`, nothing is rewritten. Such a bundle does not know its path, but the places in its messages are
 * right.
 */
export function createSourcePlugin({ asWritten }: { readonly asWritten: boolean }): SourcePlugin {
  const files = new Set<string>()
  const outside = new Set<string>()
  const rewritten = new Set<string>()

  async function loadScript(
    file: string,
    content: Buffer,
    esbuild: Esbuild.PluginBuild['esbuild'],
  ): Promise<Esbuild.OnLoadResult | undefined> {
    const text = content.toString()
    if (staysOutside(file, text, (await nearestPackage(file)).type)) return leaveOutside(file)
    if (asWritten) return undefined
    try {
      const { outputFiles } = await esbuild.build(placeOptions(file, text))
      rewritten.add(file)
      return { contents: outputFiles[0]?.contents ?? content, loader: 'js' }
    } catch {
      // The build that bundles the file reports its mistakes, at the right place.
      return undefined
    }
  }

  function leaveOutside(file: string): Esbuild.OnLoadResult {
    outside.add(file)
    return { contents: externalModule(outsidePrefix + file), loader: 'js' }
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
        build.onLoad({ filter: /.*/, namespace: 'file' }, async ({ path: file }) => {
          files.add(file)
          if (file.endsWith('.node')) return leaveOutside(file)
          const content = await readFile(file)
          if (mayAskItsPlace(file, content)) return loadScript(file, content, build.esbuild)
          return undefined
        })
      },
    },
    files,
    outside,
    isRewritten: (file) => file !== undefined && rewritten.has(file),
  }
}
