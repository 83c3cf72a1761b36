/**
 * Decides for esbuild what becomes part of a bundle: the author's own files do, and know their own paths; packages are imported from where
 * they are installed, so that they find their own parts as in any program.
 */

import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'

/** Every transform may import this module, wherever its folder is. */
export const authorsTypesName = '@reveille/engine/transform'

/** Node.js loads these files of a package. It refuses TypeScript there, and JSON without an attribute. */
const loadedByNode = /\.(?:[cm]?js|node)$/
const placeWords = /\bimport\.meta\b|\b__(?:dir|file)name\b/
const placeNames = ['reveilleMeta', 'reveilleDirname', 'reveilleFilename'].join(', ')
/** Marks a resolution that this plugin asks for itself. */
const own = Symbol('own')

/** Replacements of the names of a file's own path; {@link withPlace} defines them. */
export const placeDefines = {
  'import.meta': 'reveilleMeta',
  __dirname: 'reveilleDirname',
  __filename: 'reveilleFilename',
}

/** `read` is called with each of the author's scripts that is read. */
export function createSourcesPlugin(read: (file: string) => void): Plugin {
  return {
    name: 'reveille',
    setup(build) {
      build.onResolve({ filter: new RegExp(`^${authorsTypesName}$`) }, () => ({
        path: fileURLToPath(import.meta.resolve(authorsTypesName)),
      }))
      build.onResolve({ filter: /^[^./]/ }, async ({ path: specifier, pluginData, ...rest }) => {
        if (pluginData === own || rest.kind === 'entry-point') return undefined
        const found = await build.resolve(specifier, { ...rest, pluginData: own })
        if (found.external || !isPackaged(found.path) || !loadedByNode.test(found.path)) return undefined
        const isImported = rest.kind === 'import-statement' || rest.kind === 'dynamic-import'
        return { path: isImported ? pathToFileURL(found.path).href : found.path, external: true }
      })
      build.onResolve({ filter: /^\..*\.node$/ }, ({ path: specifier, resolveDir }) => ({
        path: path.join(resolveDir, specifier),
        external: true,
      }))
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, async ({ path: file }) => {
        read(file)
        const text = await readFile(file, 'utf8')
        return { contents: placeWords.test(text) ? withPlace(text, file) : text, loader: 'default' }
      })
      build.onResolve({ filter: /^reveille-place:/ }, ({ importer }) => ({
        path: importer,
        namespace: 'place',
      }))
      build.onLoad({ filter: /.*/, namespace: 'place' }, ({ path: file }) => ({
        contents: placeModule(file),
      }))
    },
  }
}

export function isPackaged(file: string): boolean {
  return file.includes(`${path.sep}node_modules${path.sep}`)
}

/** ES modules get an import at their end, which leaves all lines where they are; in CommonJS, the first one is moved to the right. */
function withPlace(text: string, file: string): string {
  const isModule =
    !/\.c[jt]s$/.test(file) &&
    (/\.m[jt]s$/.test(file) || /^[ \t]*(?:import\s*[\w"'{*]|export\s*[\w{*])/m.test(text))
  return isModule
    ? `${text}\nimport { ${placeNames} } from 'reveille-place:'`
    : `const { ${placeNames} } = require('reveille-place:'); ${text.replace(/^#!.*/, '')}`
}

function placeModule(file: string): string {
  const place = { url: pathToFileURL(file).href, filename: file, dirname: path.dirname(file) }
  return `import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
const { resolve } = createRequire(${JSON.stringify(file)})
export const reveilleMeta = { ...${JSON.stringify(place)}, resolve: (name) => pathToFileURL(resolve(name)).href }
export const { dirname: reveilleDirname, filename: reveilleFilename } = reveilleMeta`
}
