/**
 * Lets bundled code find its own path: `__dirname`, `import.meta.url` and the like name the author's file, and a
 * package that looks for files beside itself is not bundled.
 */

import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Esbuild from 'esbuild'
import { nearestPackage, scriptExtensions } from './resolution.ts'

export function isScript(file: string): boolean {
  return scriptExtensions.includes(path.extname(file))
}

const words = ['import.meta', '__dirname', '__filename'].map((word) => Buffer.from(word))

/** A quick test that most files fail, so that they are not decoded. */
export function mayAskItsPlace(file: string, content: Buffer): boolean {
  return isScript(file) && words.some((word) => content.includes(word))
}

/** An argument that is no literal: what is loaded is known only when the code runs. */
const computed = '\\(\\s*(?![\'"`][^\'"`$]*[\'"`]\\s*[,)])'
const unsafeCommonJs = new RegExp(
  `\\b__(?:dir|file)name\\b|\\brequire\\.resolve\\b|\\brequire\\s*\\(\\s*['"]bindings['"]|(?<![.\\w$]|function\\s+)require\\s*${computed}`,
)
const unsafeModule = new RegExp(`\\bimport\\.meta\\.resolve\\b|(?<![.\\w$])import\\s*${computed}`)

/**
 * Whether a package's file loads what lies beside it (a native addon, a worker, a template, a part of its own), so that the package cannot be
 * bundled: the files would be looked for beside the bundle.
 */
export async function needsItsPlace(file: string, text: string): Promise<boolean> {
  const [isUnsafeCommonJs, isUnsafeModule] = [unsafeCommonJs.test(text), unsafeModule.test(text)]
  if (!isUnsafeCommonJs && !isUnsafeModule) return false
  const { type } = await nearestPackage(file)
  return isModule(file, text, type) ? isUnsafeModule : isUnsafeCommonJs
}

/** @param packageType the `type` of its package.json */
export function isModule(file: string, text: string, packageType: unknown): boolean {
  const extension = path.extname(file)
  if (extension !== '.js') return !/^\.c[jt]s$/.test(extension)
  return packageType === 'module' || /^[ \t]*(?:import\s*[\w"'{*]|export\s*[\w{*])/m.test(text)
}

/**
 * Returns what a bundle contains in place of a file that stays outside. `address` must be resolved to the file itself,
 * as external.
 */
export function externalModule(address: string): string {
  return `module.exports = require(${JSON.stringify(address)})`
}

/**
 * Returns how esbuild rewrites a file so that its code has the file's path wherever it runs. The source map is part of
 * the result.
 */
export function placeOptions(file: string, text: string) {
  const place = { url: pathToFileURL(file).href, dirname: path.dirname(file), filename: file }
  // `import.meta` as a whole becomes an object without `resolve`, so only files that use it as a whole get one.
  const isTakenWhole = /\bimport\.meta\b(?!\s*\.)/.test(text)
  return {
    entryPoints: [file],
    outdir: path.dirname(file),
    bundle: false,
    write: false,
    sourcemap: 'inline',
    target: 'node24',
    logLevel: 'silent',
    define: {
      'import.meta.url': JSON.stringify(place.url),
      'import.meta.dirname': JSON.stringify(place.dirname),
      'import.meta.filename': JSON.stringify(place.filename),
      __dirname: JSON.stringify(place.dirname),
      __filename: JSON.stringify(place.filename),
      ...(isTakenWhole && { 'import.meta': JSON.stringify(place) }),
    },
  } as const satisfies Esbuild.BuildOptions
}
