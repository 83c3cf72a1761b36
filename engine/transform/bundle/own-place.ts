/**
 * Owns that code finds its own place though it runs elsewhere: `__dirname`, `import.meta.url` and their like mean the
 * author's file, and a package that looks for files beside itself stays where it is.
 */

import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Esbuild from 'esbuild'
import { isPackaged, type PackageFile } from './governing-files.ts'
import type { Tsconfig } from './tsconfig.ts'

const loaders: Readonly<Record<string, Esbuild.Loader>> = {
  '.js': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
  '.jsx': 'jsx',
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
}

export function isScript(file: string): boolean {
  return Object.hasOwn(loaders, path.extname(file))
}

const words = ['import.meta', '__dirname', '__filename'].map((word) => Buffer.from(word))
const packagedWords = [...words, ...['require.resolve', 'bindings'].map((word) => Buffer.from(word))]

/** Whether a file may ask where it is; a quick look at all of them, so that most need no second one. */
export function mayAskItsPlace(file: string, content: Buffer): boolean {
  if (!isScript(file)) return false
  return (isPackaged(file) ? packagedWords : words).some((word) => content.includes(word))
}

/**
 * Whether a package's file must stay where it is. What it finds beside itself (a native addon, a worker, a template)
 * would not be found from a bundle, and may not survive being one.
 */
export function staysOutside(file: string, text: string, owner: PackageFile | undefined): boolean {
  if (!isPackaged(file) || isModule(file, text, owner)) return false
  return /\b__(?:dir|file)name\b|\brequire\.resolve\b|\brequire\s*\(\s*['"]bindings['"]\s*\)/.test(text)
}

function isModule(file: string, text: string, owner: PackageFile | undefined): boolean {
  const extension = path.extname(file)
  if (extension !== '.js') return !/^\.c[jt]s$/.test(extension)
  return owner?.type === 'module' || /^[ \t]*(?:import\s*[\w"'{*]|export\s*[\w{*])/m.test(text)
}

/** Stands in for a file that stays outside; `address` is resolved to the file itself, as external. */
export function standIn(address: string): string {
  return `module.exports = require(${JSON.stringify(address)})`
}

/** What makes the code of a file name the file wherever it runs; its source map comes along. */
export function placeOptions(
  file: string,
  text: string,
  tsconfig: Tsconfig | undefined,
): Esbuild.TransformOptions {
  const facts = { url: pathToFileURL(file).href, dirname: path.dirname(file), filename: file }
  // Taken whole it becomes an object, which has no `resolve`; only files that take it whole pay for that.
  const isTakenWhole = /\bimport\.meta\b(?!\s*\.)/.test(text)
  return {
    loader: loaders[path.extname(file)] ?? 'js',
    sourcefile: path.basename(file),
    sourcemap: 'inline',
    target: 'node24',
    logLevel: 'silent',
    ...(tsconfig && { tsconfigRaw: { compilerOptions: tsconfig.compilerOptions } }),
    define: {
      'import.meta.url': JSON.stringify(facts.url),
      'import.meta.dirname': JSON.stringify(facts.dirname),
      'import.meta.filename': JSON.stringify(facts.filename),
      __dirname: JSON.stringify(facts.dirname),
      __filename: JSON.stringify(facts.filename),
      ...(isTakenWhole && { 'import.meta': JSON.stringify(facts) }),
    },
  }
}
