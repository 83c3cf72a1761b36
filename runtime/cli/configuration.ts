/** Finds the configuration that a command means, and loads it. */

import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import {
  type Configuration,
  type Diagnostic,
  type Files,
  type Loaded,
  loadConfiguration,
  realFiles,
} from '@reveille/engine'
import { formatDiagnostic } from '@reveille/engine/text'
import { presetsFolder } from '../presets-folder.ts'
import { badUsage, failure } from './command-failure.ts'
import type { Io } from './io.ts'
import { counted, print, shellWord } from './print.ts'

export const usualFile = 'reveille.yaml'

/** Where a command looks that was given no configuration: here, and where `init` and `npm start` write one. */
const usualFiles = [usualFile, path.join('local', usualFile)]

/**
 * `--config`, else REVEILLE_CONFIG, else ./reveille.yaml, else ./local/reveille.yaml. A folder stands for the
 * `reveille.yaml` in it.
 *
 * @returns an absolute path
 * @throws CommandFailure (bad usage) when there is no such file
 */
export function findConfiguration(io: Io, given = io.config): string {
  const named = given ?? (io.env['REVEILLE_CONFIG'] || undefined)
  if (named !== undefined) return findNamed(named, given === undefined, io)
  const found = findUsual(io)
  if (found !== undefined) return found
  throw badUsage(
    `There is no ${usualFile} in this folder, nor in local.\nName one with --config FILE or REVEILLE_CONFIG, or write a first one: reveille init`,
  )
}

/** Absolute; undefined where neither file exists. */
export function findUsual({ cwd }: Pick<Io, 'cwd'>): string | undefined {
  return usualFiles.map((file) => path.join(cwd, file)).find((file) => existsSync(file))
}

function findNamed(named: string, isVariable: boolean, io: Io): string {
  const file = path.resolve(io.cwd, named)
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats?.isDirectory() === false) return file
  const inside = path.join(file, usualFile)
  if (stats !== undefined && existsSync(inside)) return inside
  const why = isVariable ? ', which REVEILLE_CONFIG names' : ''
  if (stats === undefined && /\.(ya?ml|json)$/.test(named)) {
    throw badUsage(`There is no ${named}${why}.`)
  }
  throw badUsage(
    `There is no ${usualFile} in ${named}${why}. Write a first one: reveille init ${shellWord(named)}`,
  )
}

/** The option for a command to be pasted: ` --config FILE`, or nothing where a command finds the file without it. */
export function configWords(file: string, io: Io): string {
  const usual = io.env['REVEILLE_CONFIG'] ? path.resolve(io.cwd, io.env['REVEILLE_CONFIG']) : findUsual(io)
  return path.resolve(io.cwd, file) === usual ? '' : ` --config ${shellWord(shownPath(file, io))}`
}

export interface LoadRequest {
  /** Absolute. Default: the file that the command means. */
  readonly file?: string
  /** True if references without a value are only warnings: for commands that serve nothing. */
  readonly allowsUnset?: boolean
}

/** @throws CommandFailure (bad usage) when there is no such file */
export function load(
  io: Io,
  { file = findConfiguration(io), allowsUnset = false }: LoadRequest = {},
): Promise<Loaded> {
  return loadConfiguration({ file, env: io.env, presets: presetsFolder(), allowsUnset })
}

/** Loads the configuration as if the file, which need not exist, had this text. */
export function loadText(file: string, text: string, env: Io['env']): Promise<Loaded> {
  const content = Buffer.from(text)
  const stats = { isFile: () => true, isDirectory: () => false, size: content.length }
  const files: Files = {
    ...realFiles,
    readFile: async (asked) => (asked === file ? content : realFiles.readFile(asked)),
    stat: async (asked) => (asked === file ? stats : realFiles.stat(asked)),
  }
  return loadConfiguration({ file, env, presets: presetsFolder(), files })
}

/** Names on standard error what was not set, and so was not checked. */
export function reportUnset({ unset }: Pick<Configuration, 'unset'>, io: Io): void {
  if (unset.length > 0) io.err(`Not set, and so not checked: ${unset.join(', ')}.\n`)
}

/** @throws CommandFailure with the diagnostics of a configuration that does not load */
export async function loadOrFail(io: Io): Promise<Configuration> {
  const loaded = await load(io)
  if (loaded.ok) return loaded.configuration
  throw failure(formatDiagnostics(loaded.diagnostics, io))
}

export function formatDiagnostics(diagnostics: readonly Diagnostic[], io: Io): string {
  return diagnostics.map((diagnostic) => formatDiagnostic(diagnostic, io.cwd)).join('\n\n')
}

interface Diagnosed {
  readonly ok: boolean
  readonly file: string
  readonly diagnostics: readonly Diagnostic[]
  readonly mappings?: number | undefined
}

/** Reports what is wrong with a file. `good` follows its name where nothing is. @returns the exit code */
export function reportDiagnostics(
  { ok, file, diagnostics, ...facts }: Diagnosed,
  good: string,
  io: Io,
): number {
  if (io.json) return print(io, { ok, file, ...facts, diagnostics }, undefined, ok ? 0 : 1)
  if (diagnostics.length > 0) io.err(`${formatDiagnostics(diagnostics, io)}\n\n`)
  if (ok) io.out(`${shownPath(file, io)}${good}\n`)
  else io.err(`${shownPath(file, io)}: ${countOf(diagnostics)}.\n`)
  return ok ? 0 : 1
}

/** `2 errors, 1 warning`. */
function countOf(diagnostics: readonly Diagnostic[]): string {
  const { error = [], warning = [] } = Object.groupBy(diagnostics, ({ severity }) => severity)
  const counts = [
    error.length > 0 && counted(error.length, 'error'),
    warning.length > 0 && counted(warning.length, 'warning'),
  ]
  return counts.filter(Boolean).join(', ')
}

/** The path as the user would write it: relative where it lies below the user's folder. */
export function shownPath(file: string, io: Pick<Io, 'cwd'>): string {
  const relative = path.relative(io.cwd, file)
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative
}

/** A place that is relative to the configuration's folder, as the user would write it; one in a preset stays as it is. */
export function placeFrom(place: string, folder: string, io: Io): string {
  const file = /^(?!preset )(.*):\d+:\d+$/.exec(place)?.[1]
  if (file === undefined) return place
  return `${shownPath(path.resolve(folder, file), io)}${place.slice(file.length)}`
}

/** The absolute folders that the configuration names; the default ones where it does not load. */
export async function contentFolders(
  file: string,
  io: Io,
): Promise<{ readonly mappingsDir: string; readonly transformsDir: string }> {
  const loaded = await load(io, { file })
  if (loaded.ok) return loaded.configuration.settings.hooks
  const folder = path.dirname(file)
  return { mappingsDir: path.join(folder, 'mappings'), transformsDir: path.join(folder, 'transforms') }
}
