/** Owns the import graph of one bundling: every file is read here, once, so that what is remembered is what was bundled. */

import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import path from 'node:path'
import type * as Esbuild from 'esbuild'
import { authorsTypesName, findAuthorsTypes } from './authors-types.ts'
import { hashFile, hashText } from './file-hash.ts'
import { type GoverningFiles, isPackaged } from './governing-files.ts'
import type { Places } from './outcome.ts'
import { mayAskItsPlace, placeOptions, standIn, staysOutside } from './own-place.ts'
import { candidatesOf, notePlaces } from './places.ts'

export interface Settled {
  /** SHA-256 by path. */
  readonly files: Readonly<Record<string, string>>
  readonly places: Places
  /** What the bundle needs of the world beside it, in a fixed order. */
  readonly outside: readonly unknown[]
}

export interface Graph {
  readonly plugin: Esbuild.Plugin
  /** Whether what was bundled is not what is written there. */
  isRewritten(file: string | undefined): boolean
  settle(metafile: Esbuild.Metafile): Promise<Settled>
  /** After a failure: what was read, and where what is missing would be. */
  watched(errors: readonly Esbuild.Message[]): Promise<readonly string[]>
}

const outsidePrefix = 'reveille-outside:'

/** `asWritten`: nothing is rewritten; for messages whose places must hold, since such a bundle would not find its place. */
export function createGraph(
  governing: GoverningFiles,
  { asWritten }: { readonly asWritten: boolean },
): Graph {
  const files = new Map<string, string>()
  const outside = new Set<string>()
  const rewritten = new Set<string>()

  async function loadScript(
    file: string,
    content: Buffer,
    transform: typeof Esbuild.transform,
  ): Promise<Esbuild.OnLoadResult> {
    const text = content.toString()
    if (staysOutside(file, text, await governing.packageFor(file))) return standOutside(file)
    if (asWritten) return { contents: content, loader: 'default' }
    rewritten.add(file)
    try {
      const { code } = await transform(text, placeOptions(file, text, await governing.tsconfigFor(file)))
      return { contents: code, loader: 'js' }
    } catch {
      // What is wrong with it is said where it is bundled, with its true place.
      rewritten.delete(file)
      return { contents: content, loader: 'default' }
    }
  }

  function standOutside(file: string): Esbuild.OnLoadResult {
    outside.add(file)
    return { contents: standIn(outsidePrefix + file), loader: 'js' }
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
        build.onLoad({ filter: /\.node$/ }, async ({ path: file }) => {
          files.set(file, (await hashFile(file)) ?? '')
          return standOutside(file)
        })
        build.onLoad({ filter: /.*/, namespace: 'file' }, async ({ path: file }) => {
          const content = await readFile(file)
          files.set(file, hashText(content))
          if (mayAskItsPlace(file, content)) return loadScript(file, content, build.esbuild.transform)
          return { contents: content, loader: 'default' }
        })
      },
    },
    isRewritten: (file) => file !== undefined && rewritten.has(file),

    async settle(metafile) {
      const places = new Map<string, string | null>()
      for (const [importer, { imports }] of Object.entries(metafile.inputs)) {
        if (!files.has(importer)) continue
        for (const { path: resolved, original, external } of imports) {
          const specifier = original ?? resolved
          if (isBuiltin(specifier) || specifier.startsWith(outsidePrefix) || specifier === authorsTypesName)
            continue
          // Within an installed package files stay as they are; what changes them, changes its package.json too.
          if (isPackaged(importer) && specifier.startsWith('.')) continue
          const folder = path.dirname(importer)
          await notePlaces(places, { specifier, folder, ...(external !== true && { resolved }) })
        }
      }
      await governAll()
      for (const [file, hash] of governing.seen()) {
        if (hash === null) places.set(file, null)
        else files.set(file, hash)
      }
      return {
        files: Object.fromEntries([...files].sort()),
        places: Object.fromEntries(places),
        outside: await Promise.all([...outside].sort().map(outsideFacts)),
      }
    },

    async watched(errors) {
      await governAll()
      const missing = errors.flatMap(({ text, location }) => {
        const [, specifier] = /^Could not resolve "(.*)"$/s.exec(text) ?? []
        if (specifier === undefined || location === null || !path.isAbsolute(location.file)) return []
        return [...candidatesOf(specifier, path.dirname(location.file))]
      })
      return [...new Set([...files.keys(), ...governing.seen().keys(), ...missing])]
    },
  }

  /** Asks for the files that govern each of the graph's, so that they are seen. */
  async function governAll(): Promise<void> {
    await Promise.all(
      [...files.keys()].flatMap((file) => [governing.packageFor(file), governing.tsconfigFor(file)]),
    )
  }

  async function outsideFacts(file: string): Promise<unknown> {
    return [file, files.get(file), (await governing.packageFor(file))?.version]
  }
}
