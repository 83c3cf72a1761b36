/** Owns which configuration a command means, and loading it. */

import { existsSync } from 'node:fs'
import path from 'node:path'
import {
  type Configuration,
  type Diagnostic,
  formatDiagnostic,
  type Loaded,
  loadConfiguration,
} from '@reveille/engine'
import { presetsFolder } from '../presets-folder.ts'
import { CommandFailure } from './command-failure.ts'
import type { Io } from './io.ts'
import { programName } from './pasted.ts'

export const usualFile = 'reveille.yaml'

/**
 * `--config`, else ./reveille.yaml.
 *
 * @returns an absolute path
 * @throws CommandFailure (bad usage) when there is no such file
 */
export function findConfiguration(options: { readonly config?: string }, io: Io): string {
  const file = path.resolve(io.cwd, options.config ?? usualFile)
  if (existsSync(file)) return file
  const missing = options.config ?? `${usualFile} in this folder`
  throw new CommandFailure(2, `There is no ${missing}.\n${advice(io)}`)
}

/** @throws CommandFailure (bad usage) when there is no such file */
export function load(options: { readonly config?: string }, io: Io): Promise<Loaded> {
  return loadConfiguration({ file: findConfiguration(options, io), env: io.env, presets: presetsFolder() })
}

/** @throws CommandFailure with the diagnostics */
export async function loadOrFail(options: { readonly config?: string }, io: Io): Promise<Configuration> {
  const loaded = await load(options, io)
  if (loaded.ok) return loaded.configuration
  throw new CommandFailure(1, formatDiagnostics(loaded.diagnostics, io))
}

export function formatDiagnostics(diagnostics: readonly Diagnostic[], io: Io): string {
  return diagnostics.map((diagnostic) => formatDiagnostic(diagnostic, io.cwd)).join('\n\n')
}

/** Relative where it lies below the user's folder: that is how the user would write it. */
export function shownPath(file: string, io: Pick<Io, 'cwd'>): string {
  const relative = path.relative(io.cwd, file)
  return relative.startsWith('..') || path.isAbsolute(relative) ? file : relative
}

/** A place that starts at the configuration's folder, as the user would write it; a preset's stays as it is. */
export function placeFrom(place: string, folder: string, io: Io): string {
  const file = /^(?!preset )(.*):\d+:\d+$/.exec(place)?.[1]
  if (file === undefined) return place
  return `${shownPath(path.resolve(folder, file), io)}${place.slice(file.length)}`
}

function advice(io: Io): string {
  const local = path.join('local', usualFile)
  if (existsSync(path.join(io.cwd, local))) return `Name one: --config ${local}`
  return `Name one with --config FILE, or write a first one: ${programName(io)} init`
}
