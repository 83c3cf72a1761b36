/** Imports the code of a plugin, and words the problems of importing it and setting it up. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type LoadHookSync, type ResolveHookSync, registerHooks, setSourceMapsSupport } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { oneLine, type Plugin, type Redact } from '@reveille/kit'
import type { BuildOptions, buildSync, Message } from 'esbuild'
import { keyOf } from '../configuration/configuration.ts'
import { contentParameter, type PluginPackage } from '../configuration/package.ts'
import { type PluginProblem, PluginSetupError } from '../configuration/setup-error.ts'
import type { Specification } from '../configuration/specify.ts'
import { redactError } from './redaction.ts'

async function loadPlugin(from: PluginPackage): Promise<Plugin> {
  provideKit()
  if (from.entry.searchParams.has(contentParameter)) await provideSyntax()
  const module: { readonly default?: Plugin } = await import(from.entry.href)
  if (typeof module.default?.setup === 'function') return module.default
  throw new Error(`${withoutContent(from.entry.href)} has no default export made by definePlugin`)
}

/** Milliseconds. */
export const defaultSetupTimeoutMs = 30_000

export interface ImportOptions {
  /** How long the import may take, whose modules may await at their top level. Milliseconds; default 30,000. */
  readonly setupTimeoutMs?: number
  /** Ends the wait. */
  readonly closing?: AbortSignal
}

/** Imports the code of a plugin and runs none of its functions. @throws PluginSetupError */
export async function importPlugin(
  wanted: Specification,
  redact: Redact,
  { setupTimeoutMs = defaultSetupTimeoutMs, closing }: ImportOptions = {},
): Promise<Plugin> {
  const { name } = wanted.package
  try {
    return await inTime(loadPlugin(wanted.package), setupTimeoutMs, `import of the plugin ${name}`, closing)
  } catch (error) {
    throw setupRefusal(wanted, await importProblem(error, wanted, redact), redact, error)
  }
}

/** Waits for a promise, for a limited time and until the signal is aborted. `what` names it in the error. */
export async function inTime<Value>(
  promise: Promise<Value>,
  ms: number,
  what: string,
  signal?: AbortSignal,
): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const abort = () => late.reject(signal?.reason)
  const timer = setTimeout(() => late.reject(new Error(`${what} did not end within ${ms / 1000} s`)), ms)
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}

export function setupRefusal(
  { package: { name } }: Specification,
  problem: PluginProblem,
  redact: Redact,
  error?: unknown,
): PluginSetupError {
  const options = error === undefined ? undefined : { cause: redactError(error, redact) }
  return new PluginSetupError('PLUGIN_SETUP', name, [problem], options)
}

/** Characters. */
const longestMessage = 300
const checkTimeoutMs = 5000

/** Says why the import failed, and in which line where that is known. */
async function importProblem(
  error: unknown,
  { key, package: from }: Specification,
  redact: Redact,
): Promise<PluginProblem> {
  const message = 'needs a plugin that cannot be imported'
  if (!(error instanceof Error)) return { key, message }
  const why =
    compileText(error) ?? placedText(error, error instanceof SyntaxError && (await placeInEntry(from)))
  return { key, message: `${message}: ${redact(why)}` }
}

/** What esbuild says of a module that does not compile. */
function compileText({ errors }: Error & { readonly errors?: unknown }): string | undefined {
  if (!Array.isArray(errors)) return undefined
  const [{ text, location } = {}]: Partial<Message>[] = errors
  return location ? `${location.file}:${location.line}:${location.column + 1}: ${text}` : text
}

/** An import does not say where a module fails to parse, and `node --check` does. Returns undefined if the entry is good. */
async function placeInEntry({ entry }: PluginPackage): Promise<string | undefined> {
  const file = fileURLToPath(entry)
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, ['--check', file], { timeout: checkTimeoutMs }, (_error, _out, err) =>
      resolve(err),
    )
  })
  const [, found, line] = /^(\S.*):(\d+)$/m.exec(output) ?? []
  return found === undefined ? undefined : `${asPaths(found)}:${line}`
}

/** The place is the first line of the stack where an import names something that is missing, and else in its first frame. */
function placedText(error: Error, known: string | false | undefined): string {
  const { name } = error
  const [message, stack] = [withoutContent(error.message), withoutContent(error.stack ?? '')]
  const what = asPaths(oneLine(name === 'Error' ? message : `${name}: ${message}`, longestMessage)).replace(
    /\.$/,
    '',
  )
  const [, parsed] = /^(\S.*:\d+)\n/.exec(stack) ?? []
  const [, thrown] = /^ +at (?:.*? \()?((?:file:|\/|[A-Z]:\\).*?:\d+:\d+)\)?$/m.exec(stack) ?? []
  const place = known || parsed || thrown
  const hasNoPlace = place === undefined || place.startsWith(import.meta.url)
  return hasNoPlace ? what : `${asPaths(place)}: ${what}`
}

function asPaths(text: string): string {
  return text.replaceAll(/file:\/\/[^\s'"]+/g, (url) => {
    try {
      return fileURLToPath(url)
    } catch {
      return url
    }
  })
}

/** An error that begins with a key in backticks is about that key. */
export function setupProblem(error: unknown, wanted: Specification, redact: Redact): PluginProblem {
  if (!(error instanceof Error)) {
    const reason = typeof error === 'string' ? `: ${redact(error)}` : ', and its setup threw no error'
    return { key: wanted.key, message: `cannot be set up${reason}` }
  }
  const path = /^`([\w.-]+)`/.exec(error.message)?.[1]?.split('.') ?? []
  const isGiven = path[0] !== undefined && Object.hasOwn(wanted.given, path[0])
  const words = redact(error.message).replace(/\.$/, '')
  if (!isGiven) return { key: wanted.key, message: `cannot be set up: ${words}` }
  return { key: keyOf(path, wanted), message: words.replace(/^`[\w.-]+`,? ?/, '') }
}

/** The modules of a plugin's folder import each other with its content as their query, as its entry was imported. */
function sameContent<Resolved extends { url: string }>(
  resolved: Resolved,
  parent: string | undefined,
): Resolved {
  const content = parent === undefined ? null : URL.parse(parent)?.searchParams.get(contentParameter)
  if (!content || !resolved.url.startsWith('file:') || resolved.url.includes('/node_modules/'))
    return resolved
  const url = new URL(resolved.url)
  url.searchParams.set(contentParameter, content)
  return { ...resolved, url: url.href }
}

/** Removes the query from the places of an error. */
function withoutContent(text: string): string {
  return text.replaceAll(new RegExp(`\\?${contentParameter}=\\w+`, 'g'), '')
}

let isKitProvided = false

/** Lets a plugin import the kit wherever its folder is: a plugin without a kit of its own gets the host's. */
function provideKit(): void {
  if (isKitProvided) return
  isKitProvided = true
  registerHooks({
    resolve(specifier, context, next) {
      if (!/^@reveille\/kit(?:\/|$)/.test(specifier))
        return sameContent(next(specifier, context), context.parentURL)
      try {
        return next(specifier, context)
      } catch {
        return next(specifier, { ...context, parentURL: import.meta.url })
      }
    },
  })
}

let build: typeof buildSync | undefined

/** Gives the plugins of folders the syntax of transforms, from the compiler of transforms. Node.js itself only removes types. */
async function provideSyntax(): Promise<void> {
  if (build !== undefined) return
  build = (await import('esbuild')).buildSync
  // A stack trace names the lines that the author wrote.
  setSourceMapsSupport(true)
  registerHooks({ resolve: resolveWithoutExtension, load: loadCompiled })
}

const extensions = ['.ts', '.mts', '.js', '.mjs', '.json', '/index.ts', '/index.js']

/** Finds `./word.ts` as `./word` and as `./word.js`, as transforms do. */
const resolveWithoutExtension: ResolveHookSync = (specifier, context, next) => {
  try {
    return next(specifier, context)
  } catch (error) {
    if (!/^\.\.?\//.test(specifier) || !isOfFolder(context.parentURL)) throw error
    const bare = specifier.replace(/\.js$/, '')
    const file = extensions.find((each) => existsSync(new URL(bare + each, context.parentURL)))
    if (file === undefined) throw error
    return next(bare + file, context)
  }
}

const compileOptions = {
  bundle: false,
  write: false,
  format: 'esm',
  target: 'node24',
  sourcemap: 'inline',
  logLevel: 'silent',
  absPaths: ['log'],
} as const satisfies BuildOptions

const loadCompiled: LoadHookSync = (url, context, next) => {
  const isJson = url.includes('.json?') && context.importAttributes['type'] !== 'json'
  const isTypeScript = /\.m?ts\?/.test(url) && !context.format?.startsWith('commonjs')
  if (build === undefined || !isOfFolder(url) || !(isJson || isTypeScript)) return next(url, context)
  const file = fileURLToPath(url)
  const built = build({ ...compileOptions, entryPoints: [file], outdir: dirname(file) })
  return { format: 'module', source: built.outputFiles[0]?.text ?? '', shortCircuit: true }
}

function isOfFolder(url: string | undefined): boolean {
  return url !== undefined && URL.parse(url)?.searchParams.has(contentParameter) === true
}
