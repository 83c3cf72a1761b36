/** Imports the code of a plugin, and words the problems of importing it and setting it up. */

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findPackageJSON, type ModuleHooks, type ResolveHookSync, registerHooks } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { oneLine, type Plugin, type Redact } from '@reveille/kit'
import type { NamespacedUnregister } from 'tsx/esm/api'
import { keyOf } from '../configuration/configuration.ts'
import { contentParameter, type PluginPackage } from '../configuration/package.ts'
import { type PluginProblem, PluginSetupError } from '../configuration/setup-error.ts'
import type { Specification } from '../configuration/specify.ts'
import { redactError } from './redaction.ts'

async function loadPlugin({ entry }: PluginPackage): Promise<Plugin> {
  const content = entry.searchParams.get(contentParameter)
  const module: { readonly default?: Plugin } = await (content === null
    ? importPackage(entry)
    : importFolder(entry, content))
  if (typeof module.default?.setup === 'function') return module.default
  throw new Error(`${withoutQuery(entry.href)} has no default export made by definePlugin`)
}

/** Milliseconds. */
export const defaultSetupTimeoutMs = 30_000

export interface ImportOptions {
  /** Milliseconds that the import may take, whose modules may await at their top level; default 30,000. */
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
const maxMessageLength = 300
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

/** esbuild's first message about a module that does not compile, which tsx passes on as text. Its columns count from 0. */
function compileText({ message }: Error): string | undefined {
  const [, file, line, column, text] = /^(\S.*):(\d+):(\d+): ERROR: (.*)$/m.exec(message) ?? []
  return file === undefined ? undefined : withoutQuery(`${file}:${line}:${Number(column) + 1}: ${text}`)
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
  const [message, stack] = [withoutQuery(error.message), withoutQuery(error.stack ?? '')]
  const what = asPaths(oneLine(name === 'Error' ? message : `${name}: ${message}`, maxMessageLength)).replace(
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
  const isGiven = path[0] !== undefined && Object.hasOwn(wanted.rawConfig, path[0])
  const words = redact(error.message).replace(/\.$/, '')
  if (!isGiven) return { key: wanted.key, message: `cannot be set up: ${words}` }
  return { key: keyOf(path, wanted), message: words.replace(/^`[\w.-]+`,? ?/, '') }
}

/** Removes the queries of tsx and of the entry from the places of an error. */
function withoutQuery(text: string): string {
  return text.replaceAll(new RegExp(`\\?(?:tsx-namespace|${contentParameter})=\\w+`, 'g'), '')
}

function importPackage(entry: URL) {
  kitHooks ??= registerHooks({ resolve: resolveKit })
  return import(entry.href)
}

let kitHooks: ModuleHooks | undefined
/** By the content of the folders. */
const folders = new Map<string, NamespacedUnregister>()

/** A namespace of tsx is a set of modules of its own, so an edited folder is loaded afresh. */
async function importFolder(entry: URL, content: string) {
  const file = fileURLToPath(entry)
  // Without the variable, tsx runs code that it finds in a folder of `tmpdir()`, which may be another user's.
  process.env['TSX_DISABLE_CACHE'] = '1'
  const { register } = await import('tsx/esm/api')
  let folder = folders.get(content)
  if (folder === undefined) {
    const tsconfig = join(dirname(findPackageJSON(entry) ?? file), 'tsconfig.json')
    folder = register({ namespace: content, tsconfig: existsSync(tsconfig) && tsconfig })
    folders.set(content, folder)
    // The hooks that were registered last run first, and tsx would give each folder a kit of its own.
    kitHooks?.deregister()
    kitHooks = registerHooks({ resolve: resolveKit })
  }
  return folder.import(file, import.meta.url)
}

/** Lets a plugin import the kit wherever its folder is: a plugin without a kit of its own gets the host's. */
const resolveKit: ResolveHookSync = (specifier, context, next) => {
  if (!/^@reveille\/kit(?:\/|$)/.test(specifier)) return next(specifier, context)
  const { parentURL = import.meta.url } = context
  try {
    return next(specifier, { ...context, parentURL: withoutQuery(parentURL) })
  } catch {
    return next(specifier, { ...context, parentURL: import.meta.url })
  }
}
