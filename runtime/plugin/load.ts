/** Owns the import of a plugin's code, and the words for what that code refuses. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { oneLine, type Plugin, type Redact } from '@reveille/kit'
import { keyOf } from './configuration.ts'
import { giveKit } from './kit-resolution.ts'
import type { PluginPackage } from './package.ts'
import type { PluginProblem } from './setup-error.ts'
import type { Specification } from './specify.ts'

/** Runs none of its functions. @throws whatever the import throws */
export async function loadPlugin(from: PluginPackage): Promise<Plugin> {
  giveKit()
  const module: { readonly default?: Plugin } = await import(from.entry.href)
  if (typeof module.default?.setup === 'function') return module.default
  throw new Error(`${from.entry.href} has no default export made by definePlugin`)
}

/** Characters. */
const longestMessage = 300
const checkTimeoutMs = 5000

/** Says why, and where that is known in which line: nobody can mend a module by hearing that there is something. */
export async function importProblem(
  error: unknown,
  { key, package: from }: Specification,
  redact: Redact,
): Promise<PluginProblem> {
  const message = 'needs a plugin that cannot be imported'
  if (!(error instanceof Error)) return { key, message }
  const why = placedText(error, error instanceof SyntaxError ? await placeInEntry(from) : undefined)
  return { key, message: `${message}: ${redact(why)}` }
}

/** An import does not say where a module does not parse; the check of Node.js does. Undefined where the entry is good. */
async function placeInEntry({ entry }: PluginPackage): Promise<string | undefined> {
  const file = fileURLToPath(entry)
  const complaint = await new Promise<string>((resolve) => {
    execFile(process.execPath, ['--check', file], { timeout: checkTimeoutMs }, (_error, _out, err) =>
      resolve(err),
    )
  })
  const [, found, line] = /^(\S.*):(\d+)$/m.exec(complaint) ?? []
  return found === undefined ? undefined : `${asPaths(found)}:${line}`
}

/** The stack of an import that finds no such name begins with its place; that of what was thrown has it in its first frame. */
function placedText({ name, message, stack = '' }: Error, known?: string): string {
  const what = asPaths(oneLine(name === 'Error' ? message : `${name}: ${message}`, longestMessage)).replace(
    /\.$/,
    '',
  )
  const [, parsed] = /^(\S.*:\d+)\n/.exec(stack) ?? []
  const [, thrown] = /^ +at .*?\(?(file:\S+:\d+:\d+)\)?$/m.exec(stack) ?? []
  const place = known ?? parsed ?? thrown
  const isOurs = place === undefined || place.startsWith(import.meta.url)
  return isOurs ? what : `${asPaths(place)}: ${what}`
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

/** An error that begins with a key in backticks is about what stands under that key. */
export function setupProblem(error: unknown, wanted: Specification, redact: Redact): PluginProblem {
  if (!(error instanceof Error)) return { key: wanted.key, message: 'cannot be set up' }
  const path = /^`([\w.-]+)`/.exec(error.message)?.[1]?.split('.') ?? []
  const isGiven = path[0] !== undefined && Object.hasOwn(wanted.given, path[0])
  const words = redact(error.message).replace(/\.$/, '')
  if (!isGiven) return { key: wanted.key, message: `cannot be set up: ${words}` }
  return { key: keyOf(path, wanted), message: words.replace(/^`[\w.-]+`,? ?/, '') }
}
